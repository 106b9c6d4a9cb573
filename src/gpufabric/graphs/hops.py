"""Cluster → how many switches lie between two servers, and how long a bit takes: to the nearest and to the farthest."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gpufabric.graphs.link_latency import link_latencies
from gpufabric.records.cluster import Cluster, DeviceKind
from gpufabric.records.part_set import PartSet
from gpufabric.records.tiers import link_fabrics


@dataclass(frozen=True, slots=True)
class FabricReach:
    """Distances between servers with GPUs over one fabric.

    Attributes
    ----------
    near_hops, far_hops : int
        Switches on a shortest way to the nearest and to the farthest server.
    near_latency_s, far_latency_s : float
        The quickest of the near and the slowest of the far ones, one way, seconds: cables and switches, without NICs.
    near_gpus : int
        GPUs that are no farther than the nearest server, as the first server sees it, its own included.
    unreached : int
        Servers with GPUs that the first server can't reach over switches.
    """

    near_hops: int
    far_hops: int
    near_latency_s: float
    far_latency_s: float
    near_gpus: int
    unreached: int


def fabric_reach(cluster: Cluster, parts: PartSet, fabric: int) -> FabricReach | None:
    """Return how far apart the servers of one fabric are.

    A message may leave through any port of the server and enter through any: inside a server the scale-up network is free.
    Servers do not forward. Searched breadth first from the first server, the last, and the one that is farthest from the first;
    in a fabric of equal units and pods every server sees what one of them sees.

    Parameters
    ----------
    cluster
    parts
        For the latencies of switches and cables; see :func:`gpufabric.graphs.link_latency.link_latencies`.
    fabric : int
        Index into ``cluster.fabrics``.

    Returns
    -------
    FabricReach or None
        None when fewer than two servers with GPUs can reach each other.
    """
    edges = _Edges.of(cluster, parts, fabric)
    gpus = np.bincount(cluster.gpus.host, minlength=len(cluster.devices))
    servers = np.flatnonzero((gpus > 0) & (edges.degree > 0))
    if len(servers) < 2:
        return None
    first = edges.search(int(servers[0]))
    others = [edges.search(int(servers[-1])), edges.search(_farthest(first, servers))]
    found = [_nearest_and_farthest(levels, latency, servers) for levels, latency in (first, *others)]
    known = [pair for pair in found if pair is not None]
    if not known:
        return None
    near = min(pair[0] for pair in known)
    far = max(pair[1] for pair in known)
    at = first[0][servers]
    return FabricReach(
        near_hops=near[0],
        far_hops=far[0],
        near_latency_s=near[1],
        far_latency_s=far[1],
        near_gpus=int(gpus[servers[(at >= 0) & (at <= near[0] + 1)]].sum()),
        unreached=int((at < 0).sum()),
    )


@dataclass(frozen=True, slots=True)
class _Edges:
    """Directed links by start: ``first`` has one row more than devices."""

    first: NDArray[np.int64]
    end: NDArray[np.int32]
    latency_s: NDArray[np.float64]
    forwards: NDArray[np.bool_]

    @property
    def degree(self) -> NDArray[np.int64]:
        return np.diff(self.first)

    @classmethod
    def of(cls, cluster: Cluster, parts: PartSet, fabric: int) -> _Edges:
        inside = np.flatnonzero(link_fabrics(cluster) == fabric)
        latency = link_latencies(cluster, parts)[inside]
        a, b = cluster.link_device_a[inside], cluster.link_device_b[inside]
        start, end = np.concatenate([a, b]), np.concatenate([b, a])
        order = np.argsort(start, kind="stable")
        first = np.zeros(len(cluster.devices) + 1, np.int64)
        np.cumsum(np.bincount(start, minlength=len(cluster.devices)), out=first[1:])
        return cls(
            first,
            end[order],
            np.concatenate([latency[:, 0], latency[:, 1]])[order],
            cluster.devices.kind == DeviceKind.SWITCH,
        )

    def search(self, source: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Return links on a shortest way to each device (-1: none) and the least latency over such ways."""
        levels = np.full(len(self.forwards), -1, np.int64)
        latency = np.full(len(self.forwards), np.inf)
        levels[source], latency[source] = 0, 0.0
        frontier = np.array([source])
        level = 0
        while len(frontier):
            level += 1
            count = self.degree[frontier]
            before = np.cumsum(count) - count
            rows = np.arange(count.sum()) + np.repeat(self.first[frontier] - before, count)
            end = self.end[rows]
            new = levels[end] < 0
            reached = latency[np.repeat(frontier, count)[new]] + self.latency_s[rows[new]]
            np.minimum.at(latency, end[new], reached)
            fresh = np.unique(end[new])
            levels[fresh] = level
            frontier = fresh[self.forwards[fresh]]
        return levels, latency


def _farthest(found: tuple[NDArray[np.int64], NDArray[np.float64]], servers: NDArray[np.intp]) -> int:
    levels, latency = found
    reached = servers[levels[servers] >= 0]
    return int(reached[np.lexsort((latency[reached], levels[reached]))[-1]])


def _nearest_and_farthest(
    levels: NDArray[np.int64], latency: NDArray[np.float64], servers: NDArray[np.intp]
) -> tuple[tuple[int, float], tuple[int, float]] | None:
    others = servers[levels[servers] > 0]
    if not len(others):
        return None
    near, far = levels[others].min(), levels[others].max()
    return (
        (int(near) - 1, float(latency[others[levels[others] == near]].min())),
        (int(far) - 1, float(latency[others[levels[others] == far]].max())),
    )
