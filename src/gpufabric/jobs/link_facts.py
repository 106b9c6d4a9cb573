"""A wired cluster → what pricing asks of every directed link, whichever algorithm loads it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gpufabric.graphs.link_resources import link_resources
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
    """

    resource: NDArray[np.int8]
    names: tuple[str, ...]
    measures: NDArray[np.float64]


def find_link_facts(wiring: Wiring) -> LinkFacts:
    """Return what is asked of the links of *wiring*."""
    resource, names = link_resources(wiring.cluster, wiring.graph)
    return LinkFacts(
        resource, names, np.stack([wiring.graph.latency_s, _message_parts(wiring.graph)], axis=1)
    )


def _message_parts(graph: Graph) -> NDArray[np.float64]:
    """Return a half for each end of a cable that is not a switch: 0 inside nodes and between switches."""
    part = np.zeros(graph.links)
    cables = graph.cable_link.ravel()
    for end in (graph.link_from, graph.link_to):
        part[cables] += np.where(graph.vertex_kind[end[cables]] == VertexKind.SWITCH, 0.0, 0.5)
    return part
