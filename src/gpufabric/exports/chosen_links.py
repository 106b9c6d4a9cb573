"""What of a cluster is exported: the links of the chosen fabrics, and the devices at their ends."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gpufabric.errors import InputError
from gpufabric.records.cluster import MANAGEMENT_CAGE
from gpufabric.records.export_target import ExportSource
from gpufabric.records.tiers import link_fabrics


def chosen_links(source: ExportSource, management: bool = False) -> NDArray[np.int64]:
    """Return the links of the fabrics that are exported, in their order in the cluster.

    Parameters
    ----------
    source
    management
        Whether links that end in a management port belong to them.

    Raises
    ------
    InputError
        If there are none.
    """
    cluster = source.cluster
    wanted = np.isin(link_fabrics(cluster), source.fabrics)
    if not management:
        cage = cluster.ports.cage
        wanted &= (cage[cluster.links.port_a] != MANAGEMENT_CAGE) & (
            cage[cluster.links.port_b] != MANAGEMENT_CAGE
        )
    rows = np.flatnonzero(wanted)
    if not len(rows):
        raise InputError("export: the chosen fabrics have no links; name others with --fabric")
    return rows


def linked_devices(source: ExportSource, links: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the devices at the ends of *links*, ascending."""
    cluster = source.cluster
    ends = np.concatenate([cluster.link_device_a[links], cluster.link_device_b[links]])
    return np.unique(ends).astype(np.int64)
