"""Flows to time: messages over hashed single paths through real wirings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from gpufabric.records.flows import Flows
    from gpufabric.records.graph import Graph

HOST = "{gpus: 1, nics: 1, nic_rate: 400 Gb/s}"


@dataclass(frozen=True)
class Messages:
    """Flows and the graph that they cross."""

    graph: Graph
    flows: Flows


def three_tier_text(gpus: int, server: str = "dgx-h100", gpus_per_server: int = 8) -> str:
    """Return the description of a three-tier fat tree of so many GPUs."""
    return f"preset: three-tier-200k\nservers: {{model: {server}, count: {gpus // gpus_per_server}}}\n"


def random_permutation(description: str, seed: int = 0) -> Messages:
    """Return one message from every network port to another, drawn as a permutation; those to the own server are left out."""
    import numpy as np

    def pairs(ports: NDArray[np.int32]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        return ports, np.random.default_rng(seed).permutation(ports)

    return _route(description, pairs, seed)


def all_to_all(description: str, seed: int = 0) -> Messages:
    """Return one message from every network port to every other one, all at once."""
    import numpy as np

    def pairs(ports: NDArray[np.int32]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        return np.repeat(ports, len(ports)), np.tile(ports, len(ports))

    return _route(description, pairs, seed)


def _route(description, pairs, seed: int) -> Messages:
    import numpy as np

    from gpufabric.catalog.load import load_catalog
    from gpufabric.formats.cluster_yaml import parse_cluster_spec
    from gpufabric.graphs.fabric_level import build_fabric_graph
    from gpufabric.records.flows import PortEdges
    from gpufabric.routing import ROUTING
    from gpufabric.routing.tier_links import index_tiers
    from gpufabric.routing.unicast_flows import unicast_flows
    from gpufabric.topologies import build_cluster

    cluster = build_cluster(parse_cluster_spec(description, "benchmark"), load_catalog())
    graph = build_fabric_graph(cluster, np.zeros((len(cluster.links), 2)))
    exits, entries = pairs(cluster.links.port_a[cluster.devices.role[cluster.link_device_a] == 0])
    apart = cluster.ports.device[exits] != cluster.ports.device[entries]
    keys = np.random.default_rng(seed).integers(0, 2**60, int(apart.sum()))
    edges = PortEdges(exits[apart], entries[apart], keys)
    loads = ROUTING["ecmp"](cluster, graph, index_tiers(cluster, graph), edges, seed)
    return Messages(graph, unicast_flows(graph, edges, loads))
