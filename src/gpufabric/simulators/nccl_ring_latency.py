"""A ring's nodes and ranks → the latency and the part of the line rate that NCCL itself expects of each of its protocols.

The constants are those of NCCL's own tuning model: repository NVIDIA/nccl, file src/graph/tuning.cc, tables ``baseLat``,
``hwLat`` and ``llMaxBws``, commit b6475625fbcaa2c3c0e50eed2fa1255d7514d4a2 (2024), read 2026-11. They are NVIDIA's averages over
its systems, fitted to none of ours, and contain the hop through a NIC and a first switch.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpufabric.units import from_gigabytes


@dataclass(frozen=True, slots=True)
class Protocol:
    """One of NCCL's protocols over a ring; latencies in seconds, ``efficiency`` is the part of the line rate that is data.

    ``base_s`` is paid once, ``nvlink_s``, ``pcie_s`` and ``net_s`` for each step over such an edge. ``most_bytes_per_s`` bounds
    the bus bandwidth on one node, two, and more.
    """

    name: str
    base_s: float
    nvlink_s: float
    pcie_s: float
    net_s: float
    efficiency: float
    most_bytes_per_s: tuple[float, float, float] = (np.inf, np.inf, np.inf)


# Of the rows of llMaxBws the fastest a column: they differ by CPU, which a description does not name.
_LL_MOST = (from_gigabytes(87.7), from_gigabytes(39.0), from_gigabytes(20.4))
PROTOCOLS = (
    Protocol("ll", 6.6e-6, 0.6e-6, 1.0e-6, 2.7e-6, 0.25, _LL_MOST),
    Protocol("ll128", 14.0e-6, 1.9e-6, 2.5e-6, 4.0e-6, 0.92),
    Protocol("simple", 8.4e-6, 3.4e-6, 5.7e-6, 14.0e-6, 1.0),
)
# NCCL's tree, protocol LL, same tables: the least latency that it knows for all-reduce.
_TREE_BASE_S, _TREE_NVLINK_S, _TREE_PCIE_S, _TREE_NET_S = 6.8e-6, 0.6e-6, 1.0e-6, 5.0e-6


def ring_latency_s(protocol: Protocol, ranks: int, nodes: int, pcie_inside: bool) -> float:
    """Return the latency of a ring all-reduce of nothing.

    A chunk goes round the ring twice but for two steps: 2 (n - 1) steps, two of them over each edge between nodes.

    Parameters
    ----------
    protocol : Protocol
    ranks, nodes : int
        Two ranks or more.
    pcie_inside : bool
        GPUs of a node reach each other over PCIe.
    """
    between = 2 * nodes if nodes > 1 else 0
    inside_s = protocol.pcie_s if pcie_inside else protocol.nvlink_s
    return protocol.base_s + max(2 * (ranks - 1) - between, 0) * inside_s + between * protocol.net_s


def tree_latency_s(ranks: int, nodes: int, pcie_inside: bool) -> float:
    """Return the latency of a tree all-reduce of nothing: a chain inside each node, a binary tree over the nodes."""
    inside_s = _TREE_PCIE_S if pcie_inside else _TREE_NVLINK_S
    depth = float(np.floor(np.log2(nodes)))
    return _TREE_BASE_S + 2 * ((ranks / nodes - 1) * inside_s + depth * _TREE_NET_S)


def protocol_bus_rate(protocol: Protocol, line_bytes_per_s: float, nodes: int) -> float:
    """Return the bus bandwidth, in bytes/s, that a protocol makes of a ring whose line rate is given."""
    return min(line_bytes_per_s * protocol.efficiency, protocol.most_bytes_per_s[min(nodes, 3) - 1])
