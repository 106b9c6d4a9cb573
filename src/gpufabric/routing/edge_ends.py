"""Edges between network ports → the cables and switches at their ends, whatever the fabric looks like."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gpufabric.errors import UnbuildableError, printable
from gpufabric.records.cluster import Cluster
from gpufabric.records.flows import PortEdges
from gpufabric.records.graph import Graph
from gpufabric.records.names import device_names


@dataclass(frozen=True, slots=True)
class EdgeEnds:
    """Where each edge enters and leaves the fabric. E rows.

    ``exit_link`` and ``entry_link`` are the links of its two ports and ``exit_side`` and ``entry_side`` the columns of
    ``Graph.cable_link`` that go the edge's way. ``source`` and ``target`` are the switches (or servers) at their far ends;
    ``direct`` says that one cable joins the two ports.
    """

    exit_link: NDArray[np.int64]
    entry_link: NDArray[np.int64]
    exit_side: NDArray[np.int64]
    entry_side: NDArray[np.int64]
    source: NDArray[np.int32]
    target: NDArray[np.int32]
    direct: NDArray[np.bool_]


def index_ports(cluster: Cluster) -> NDArray[np.int64]:
    """Return the link that each port is on, -1 for none."""
    port_link = np.full(len(cluster.ports), -1, np.int64)
    port_link[cluster.links.port_a] = np.arange(len(cluster.links))
    port_link[cluster.links.port_b] = np.arange(len(cluster.links))
    return port_link


def find_edge_ends(cluster: Cluster, port_link: NDArray[np.int64], edges: PortEdges) -> EdgeEnds:
    """Return the ends of each edge.

    Raises
    ------
    UnbuildableError
        If a port has no link.
    """
    exit_link, entry_link = port_link[edges.exit_port], port_link[edges.entry_port]
    if (exit_link < 0).any() or (entry_link < 0).any():
        raise UnbuildableError(
            "a network port that the collective uses has no link; cable it or leave its server out"
        )
    port_a, port_b = cluster.links.port_a, cluster.links.port_b
    leaves_b, enters_a = port_b[exit_link] == edges.exit_port, port_a[entry_link] == edges.entry_port
    exit_side, entry_side = leaves_b.astype(np.int64), enters_a.astype(np.int64)
    device = cluster.ports.device
    return EdgeEnds(
        exit_link,
        entry_link,
        exit_side,
        entry_side,
        source=device[np.where(leaves_b, port_a[exit_link], port_b[exit_link])],
        target=device[np.where(enters_a, port_b[entry_link], port_a[entry_link])],
        direct=(exit_link == entry_link) & (exit_side == entry_side),
    )


def refuse_lost(cluster: Cluster, edges: PortEdges, lost: NDArray[np.bool_]) -> None:
    """Say which edge has no way.

    Raises
    ------
    UnbuildableError
        If any is *lost*.
    """
    if not lost.any():
        return
    first = int(np.flatnonzero(lost)[0])
    one = np.array([first])
    none = np.zeros(1, np.int64)
    alone = PortEdges(edges.exit_port[one], edges.entry_port[one], none)
    ends = find_edge_ends(cluster, index_ports(cluster), alone)
    here, there = device_names(cluster, np.concatenate([ends.source, ends.target]))
    raise UnbuildableError(
        f"cluster {printable(cluster.name)}: {int(lost.sum()):,} messages of the collective have no way through the "
        f"fabric (the first from switch {printable(here)} to {printable(there)}, which are not connected)",
        "a fabric whose planes or rails are joined by spines, or ranks in an order that keeps each rail together",
    )


def end_cables(graph: Graph, ends: EdgeEnds) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Return the directed links of the cables at the ends of each edge, and the edge of each of them.

    A direct cable between two servers counts once.
    """
    first = graph.cable_link[ends.exit_link, ends.exit_side]
    last = graph.cable_link[ends.entry_link, ends.entry_side]
    other = np.flatnonzero(last != first)
    return np.concatenate([first, last[other]]), np.concatenate([np.arange(len(first)), other])
