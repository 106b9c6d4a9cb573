"""Messages into switches that add, and out of them → the links of the tree that these switches form."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gpufabric.errors import UnbuildableError
from gpufabric.jobs.lay_wiring import Wiring
from gpufabric.records.flows import LinkLoads
from gpufabric.records.schedule import Edges
from gpufabric.routing.tier_links import TierLinks


def switch_tree_loads(
    wiring: Wiring, edges: Edges, share: NDArray[np.float64], whole: float
) -> list[LinkLoads]:
    """Return the loads of messages between GPUs and a tree of adding switches (SHARP) on the cables of the fabric.

    A leaf adds up what arrives from below, so that it passes on no more than one copy of the data, however many servers hang on
    it; a spine does the same for its pod. Downwards each switch multicasts. Trees are taken to be spread evenly over the spines
    and cores. What stays below one leaf goes no higher.

    Parameters
    ----------
    wiring : Wiring
    edges : Edges
        Each with one port: an exit port upwards, an entry port downwards.
    share : float64 array, E
        Bytes of each message.
    whole : float
        Bytes of all data of the channel.

    Raises
    ------
    UnbuildableError
        If there are no tiers, or a leaf of the tree has no way to the others.

    Notes
    -----
    Graham et al., Scalable hierarchical aggregation protocol (SHARP), COMHPC 2016.
    """
    cluster, graph, tiers = wiring.cluster, wiring.graph, wiring.tiers
    if tiers is None:
        raise UnbuildableError(
            "switches that add form trees, and the switches of this fabric stand in no tiers", "ring"
        )
    found = []
    for upwards in (True, False):
        mine = np.flatnonzero((edges.exit_port if upwards else edges.entry_port) >= 0)
        if not len(mine):
            continue
        port = (edges.exit_port if upwards else edges.entry_port)[mine]
        link = tiers.port_link[port]
        if (link < 0).any():
            raise UnbuildableError(
                "a network port that the collective uses has no link; cable it or leave its server out"
            )
        side = (cluster.links.port_b[link] == port).astype(np.int64)
        found.append(LinkLoads(graph.cable_link[link, side if upwards else 1 - side], share[mine]))
        far = np.stack([cluster.link_device_b, cluster.link_device_a], axis=1)
        found.append(_above(tiers, far[link, side], share[mine], whole, upwards))
    return found


def _above(
    tiers: TierLinks, leaf: NDArray[np.int32], share: NDArray[np.float64], whole: float, upwards: bool
) -> LinkLoads:
    """Return the loads above the leaves: what a switch passes on is at most the whole."""
    climb, count = tiers.climb, tiers.devices
    leaves = np.unique(leaf)
    if len(np.unique(tiers.plane[leaves])) > 1:
        raise UnbuildableError(
            "the servers of the collective hang on leaves that no switches join, so none can add what all of them send",
            "ring",
        )
    held = np.minimum(np.bincount(leaf, share, minlength=count), whole)
    links, loads = [np.empty(0, np.int32)], [np.empty(0)]

    def climb_from(switches: NDArray[np.integer]) -> NDArray[np.intp]:
        used = np.zeros(count, np.bool_)
        used[switches] = True
        rows = np.flatnonzero(used[climb.lower])
        links.append((climb.up_link if upwards else climb.down_link)[rows])
        loads.append(held[climb.lower[rows]] * climb.leaf_share[rows])
        return rows

    if len(leaves) > 1:
        rows = climb_from(leaves)
        above, arriving = climb.upper[rows], loads[-1]
        in_pod = np.bincount(tiers.pod[leaves], minlength=count)
        # The part of the trees that passes a spine, as the mean of its leaves has it.
        part = climb.leaf_share[rows] / in_pod[tiers.pod[climb.lower[rows]]]
        held = np.minimum(
            np.bincount(above, arriving, minlength=count), whole * np.bincount(above, part, minlength=count)
        )
        if len(np.unique(tiers.pod[leaves])) > 1:
            climb_from(np.unique(above))
    return LinkLoads(np.concatenate(links), np.concatenate(loads))
