"""A fabric's links and two halves of its servers → the least capacity between them, over all sides that switches can be on."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gpufabric.graphs.fabric_links import FabricLinks
from gpufabric.kernels.equal_vertices import equal_vertices, row_sums
from gpufabric.kernels.min_cut import min_cut

MOST_CLASSES = 2_000
MOST_EDGES = 50_000


def least_cut(links: FabricLinks, share: NDArray[np.float64]) -> float | None:
    """Return the least cut between the halves, one direction.

    Switches that are alike are taken together: averaged over a class of equal vertices (same rates to every other class) no cut
    gets larger, so the least cut of the classes is that of the switches, and 200,000 GPUs are a network of some dozen vertices.

    Parameters
    ----------
    links : FabricLinks
        A fabric in which every link joins two tiers.
    share : float64 array, D
        Part of each server that lies in the first half, 0 to 1.

    Returns
    -------
    float or None
        Bytes/s. None where the switches are so unlike that the search would take too long.

    Notes
    -----
    Maximum flow equals least cut (Ford and Fulkerson 1956). That classes suffice: the least cut is a linear program, and its
    optimum is the same for fractionally isomorphic graphs (Ramana, Scheinerman and Ullman 1994).
    """
    at_server = links.at_server
    down, up = links.take(at_server), links.take(~at_server)
    devices = len(links.tier)
    parts, part_of = np.unique(share, return_inverse=True)
    content = part_of[down.lower].astype(np.int64) << 32 | down.label
    colour = row_sums(devices, down.upper, content, 1) ^ links.tier.astype(np.int64)
    switch = equal_vertices(colour, *up.both_ways)
    classes = int(switch.max(initial=-1)) + 1
    at, of_share = switch[down.upper], parts[part_of[down.lower]]
    first = np.bincount(at, down.bytes_per_s * of_share, classes).astype(np.float64)
    second = np.bincount(at, down.bytes_per_s * (1 - of_share), classes).astype(np.float64)
    if classes > MOST_CLASSES:
        return None
    pairs = np.bincount(switch[up.lower] * classes + switch[up.upper], up.bytes_per_s, classes**2).astype(
        np.float64
    )
    pair = np.flatnonzero(pairs)
    if len(pair) > MOST_EDGES:
        return None
    return min_cut(first, second, pair // classes, pair % classes, pairs[pair])
