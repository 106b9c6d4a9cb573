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
        Port of the server: htsim's hosts have one port, so every port is a host.
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
    order, leaves = _host_order(cluster, seen, at_leaf, levels)
    nodes = len(order)
    pod = nodes if top == 2 else nodes // leaves.pods
    topology = HtsimTopology(nodes, pod, tiers)
    wrong = why_unbuildable(topology)
    if wrong or topology.switches != tuple(level.switches for level in levels):
        why = wrong or f"it would have {' / '.join(map(str, topology.switches))} switches"
        raise InputError(
            f"{PROGRAM}: htsim can't build this tree ({why}); describe full units and pods, with equal rates on all tiers"
        )
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


@dataclass(frozen=True, slots=True)
class _Leaves:
    pods: int


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
    if len(down) > 1 or (height > 1 and (len(up) > 1 or len(np.unique(bundle)) > 1)):
        counts = " and ".join(map(str, down.tolist()))
        raise InputError(
            f"{PROGRAM}: switches of tier {height} have {counts} links down, or unequal bundles; htsim takes equal ones; "
            "describe full units and pods"
        )
    return _Level(
        rate=float(rates[0]),
        latency_s=float(seen.latency_s[rows].mean()),
        up=int(up[0]),
        down=int(down[0]),
        bundle=int(bundle[0]) if height > 1 else 1,
        switches=len(np.unique(pairs[:, 1])),
    )


def _host_order(
    cluster: Cluster, seen: SimulatedGpus, rows: NDArray[np.bool_], levels: list[_Level]
) -> tuple[_Int, _Leaves]:
    """Return the ports of servers leaf by leaf, leaves pod by pod, and how many pods there are."""
    port, upper = _ends(cluster, seen)[0][rows], seen.links.upper[rows]
    pod = seen.links.pod[upper]
    if len(levels) < 3:
        return port[np.lexsort((port, upper))], _Leaves(1)
    return port[np.lexsort((port, upper, pod))], _Leaves(len(np.unique(pod)))


def _ends(cluster: Cluster, seen: SimulatedGpus) -> tuple[_Int, _Int]:
    """Return the ports at the lower and upper ends of the links."""
    rows = seen.links.row
    a, b = cluster.links.port_a[rows].astype(np.int64), cluster.links.port_b[rows].astype(np.int64)
    turned = cluster.link_device_a[rows] != seen.links.lower
    return np.where(turned, b, a), np.where(turned, a, b)
