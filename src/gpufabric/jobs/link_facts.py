"""A wired cluster → what pricing asks of every directed link, whichever algorithm loads it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gpufabric.graphs.link_resources import NIC, link_resources
from gpufabric.jobs.lay_wiring import Wiring
from gpufabric.records.graph import Graph, VertexKind


@dataclass(frozen=True, slots=True)
class LinkFacts:
    """What is asked of the links of a graph. E links.

    Attributes
    ----------
    resource : int8 array, E
        Code of the kind of resource, into ``names``.
    names : tuple of str
    measures : float64 array, (E, 2)
        Latency in seconds, and the part of a message between nodes that a link stands for: a half for each of its ends where
        messages leave or enter a node. Side by side, because looking a link up in a large table costs more than adding what is
        found.
    nic_link : int64 array, N
        Links that are cables of servers.
    nic_group : int64 array, N
        For each of them a number that the ports of one NIC share in one direction.
    nic_bytes_per_s : float64 array
        For each such number the rate of the ports together.
    """

    resource: NDArray[np.int8]
    names: tuple[str, ...]
    measures: NDArray[np.float64]
    nic_link: NDArray[np.int64]
    nic_group: NDArray[np.int64]
    nic_bytes_per_s: NDArray[np.float64]

    def nic_seconds(self, link_bytes: NDArray[np.float64]) -> float:
        """Return how long the busiest NIC takes for the bytes on its ports, float64, one a link, however they share them."""
        moved = np.bincount(self.nic_group, link_bytes[self.nic_link], len(self.nic_bytes_per_s))
        used = moved > 0
        return float((moved[used] / self.nic_bytes_per_s[used]).max(initial=0.0))


def find_link_facts(wiring: Wiring) -> LinkFacts:
    """Return what is asked of the links of *wiring*."""
    graph = wiring.graph
    resource, names = link_resources(wiring.cluster, graph)
    measures = np.stack([graph.latency_s, _message_parts(graph)], axis=1)
    cable = np.flatnonzero(resource == NIC)
    leaving = graph.vertex_kind[graph.link_from[cable]] != VertexKind.SWITCH
    nic = np.where(
        leaving, 2 * graph.link_from[cable].astype(np.int64), 2 * graph.link_to[cable].astype(np.int64) + 1
    )
    _, group = np.unique(nic, return_inverse=True)
    rates = np.asarray(np.bincount(group, graph.bytes_per_s[cable]), np.float64)
    return LinkFacts(resource, names, measures, cable, group, rates)


def _message_parts(graph: Graph) -> NDArray[np.float64]:
    """Return a half for each end of a cable that is not a switch: 0 inside nodes and between switches."""
    part = np.zeros(graph.links)
    cables = graph.cable_link.ravel()
    for end in (graph.link_from, graph.link_to):
        part[cables] += np.where(graph.vertex_kind[end[cables]] == VertexKind.SWITCH, 0.0, 0.5)
    return part
