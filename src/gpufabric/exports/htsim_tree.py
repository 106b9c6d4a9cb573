"""A fabric → the fat tree that htsim builds: two or three tiers of equal switches, linked to all above them in their pod."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gpufabric.errors import InputError
from gpufabric.exports.simulated_gpus import SimulatedGpus
from gpufabric.formats.htsim_topology import why_unbuildable
from gpufabric.records.cluster import Cluster
from gpufabric.records.export_target import ExportSource
from gpufabric.records.simulator_inputs import HtsimTier, HtsimTopology
from gpufabric.units import counted, format_gbps, gbps

PROGRAM = "htsim"
_Int = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class HtsimTree:
    """A tree, and where its nodes are in the design.

    Attributes
    ----------
    topology : HtsimTopology
    port : int64 array, one a node
        Port of the server: htsim's hosts have one port, so every port is a host; -1 for a free port of a leaf.
    planes : int
        Equal networks side by side, of which this is the first.
    """

    topology: HtsimTopology
    port: _Int
    planes: int


def htsim_tree(source: ExportSource, seen: SimulatedGpus) -> HtsimTree:
    """Return the tree of the first plane; its nodes are numbered leaf by leaf, as htsim does.

    Raises
    ------
    InputError
        If switches of a tier are not equal, tiers are not 2 or 3, or htsim could not build the tree.
    """
    cluster, links = source.cluster, seen.links
    if not links.is_tiered:
        raise InputError(
            f"{PROGRAM}: the fabric is no tree of switches; htsim builds fat trees of two or three tiers; choose another fabric"
        )
    plane = cluster.ports.plane[_ends(cluster, seen)[1]]
    planes = np.unique(plane[plane >= 0])
    first = plane == planes[0] if len(planes) > 1 else np.ones(len(plane), bool)
    top = int(links.tier[links.upper].max())
    if not 2 <= top <= 3:
        raise InputError(
            f"{PROGRAM}: the fabric has {counted(top, 'tier')}; htsim builds two or three; choose another fabric"
        )
    levels = [
        _level(seen, first & (links.tier[links.upper] == height), height) for height in range(1, top + 1)
    ]
    tiers = tuple(
        HtsimTier(
            bytes_per_s=level.rate,
            radix_down=level.down,
            radix_up=levels[number + 1].up if number + 1 < top else 0,
            oversubscribed=max(level.down // levels[number + 1].up, 1) if number + 1 < top else 1,
            bundle=level.bundle,
            latency_s=level.latency_s,
            switch_latency_s=0.0,
        )
        for number, level in enumerate(levels)
    )
    at_leaf = first & links.at_server
    order, pods = _node_ports(cluster, seen, at_leaf, levels[0].down, top > 2)
    topology = HtsimTopology(len(order), len(order) // pods, tiers)
    wrong = why_unbuildable(topology)
    if wrong or topology.switches != tuple(level.switches for level in levels):
        why = wrong or f"it would have {' / '.join(map(str, topology.switches))} switches"
        fix = (
            "choose smaller switches"
            if "htsim allows" in why
            else "describe full pods, with equal rates on all tiers"
        )
        raise InputError(f"{PROGRAM}: htsim can't build this tree ({why}); {fix}")
    return HtsimTree(topology, order, max(len(planes), 1))


@dataclass(frozen=True, slots=True)
class _Level:
    """Links of one tier to the one below: all alike. ``up`` and ``down`` are links of a lower and an upper device."""

    rate: float
    latency_s: float
    up: int
    down: int
    bundle: int
    switches: int


def _level(seen: SimulatedGpus, rows: NDArray[np.bool_], height: int) -> _Level:
    links = seen.links
    rates = np.unique(links.bytes_per_s[rows])
    pairs, bundle = np.unique(
        np.stack([links.lower[rows], links.upper[rows]], axis=1), axis=0, return_counts=True
    )
    up, down = (
        np.unique(np.unique(end, return_counts=True)[1]) for end in (links.lower[rows], links.upper[rows])
    )
    if len(rates) > 1 or gbps(float(rates[0])) % 1:
        said = " and ".join(map(format_gbps, rates.tolist()))
        raise InputError(
            f"{PROGRAM}: links of tier {height} run at {said}; htsim takes one rate a tier, in whole Gb/s; choose equal links"
        )
    # A leaf with fewer servers than others has nodes that send nothing; above, htsim has no such room.
    if height > 1 and (len(down) > 1 or len(up) > 1 or len(np.unique(bundle)) > 1):
        counts = " and ".join(map(str, down.tolist()))
        raise InputError(
            f"{PROGRAM}: switches of tier {height} have {counts} links down, or unequal bundles; htsim takes equal ones; "
            "describe full pods"
        )
    return _Level(
        rate=float(rates[0]),
        latency_s=float(seen.latency_s[rows].mean()),
        up=int(up[0]),
        down=int(down.max()),
        bundle=int(bundle[0]) if height > 1 else 1,
        switches=len(np.unique(pairs[:, 1])),
    )


def _node_ports(
    cluster: Cluster, seen: SimulatedGpus, rows: NDArray[np.bool_], radix: int, by_pod: bool
) -> tuple[_Int, int]:
    """Return the port of each node, leaf by leaf and pod by pod, -1 where a leaf has a free port; and how many pods there are."""
    port, upper = _ends(cluster, seen)[0][rows], seen.links.upper[rows]
    pod = seen.links.pod[upper] if by_pod else np.zeros(len(upper), np.int64)
    order = np.lexsort((port, upper, pod))
    leaf = np.cumsum(np.append(False, np.diff(upper[order]) != 0))
    place = np.arange(len(order)) - np.searchsorted(leaf, leaf)
    nodes = np.full((int(leaf[-1]) + 1) * radix, -1, np.int64)
    nodes[leaf * radix + place] = port[order]
    return nodes, len(np.unique(pod))


def _ends(cluster: Cluster, seen: SimulatedGpus) -> tuple[_Int, _Int]:
    """Return the ports at the lower and upper ends of the links."""
    rows = seen.links.row
    a, b = cluster.links.port_a[rows].astype(np.int64), cluster.links.port_b[rows].astype(np.int64)
    turned = cluster.link_device_a[rows] != seen.links.lower
    return np.where(turned, b, a), np.where(turned, a, b)
