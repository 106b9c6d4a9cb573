"""A fabric's links → classes of devices that are wired alike."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gpufabric.graphs.fabric_links import FabricLinks
from gpufabric.kernels.equal_vertices import equal_vertices


def device_classes(links: FabricLinks, part: NDArray[np.int32]) -> NDArray[np.int64]:
    """Return the class of each device: same tier, part and GPUs, and equally many links of each rate to each other class.

    Parameters
    ----------
    links
    part : int32 array, D
        Part of each device.

    Returns
    -------
    int64 array, D; devices without a link in this fabric share classes of their own.
    """
    kind = np.stack([links.tier.astype(np.int64), part.astype(np.int64), links.gpus.astype(np.int64)])
    _, colour = np.unique(kind, axis=1, return_inverse=True)
    return equal_vertices(colour.ravel(), *links.both_ways)
