"""The graph shows each cable and each inside of a server, and finds every link that it says it has."""

import numpy as np
import pytest

from gpufabric.errors import PartError
from gpufabric.graphs.directed_links import find_links, index_links
from gpufabric.graphs.fabric_level import build_fabric_graph
from gpufabric.graphs.gpu_level import build_gpu_graph
from gpufabric.graphs.link_latency import link_latencies
from gpufabric.records.graph import VertexKind
from gpufabric.units import parse_rate

CASES = [
    ("dgx-h100", 5, "single-switch", "qm9790"),
    ("hgx-mi300x", 3, "single-switch", "sn5600"),
    ("gb200-nvl72-tray", 20, "leaf-spine", "qm9790"),
    ("dgx-b300-spectrum", 4, "multi-plane", "sn5600"),
    ("{gpus: 3, nics: 2, nic_rate: 100 Gb/s}", 7, "leaf-spine", "{ports: 8, rate: 100 Gb/s}"),
]


@pytest.mark.parametrize("case", CASES)
def test_every_cable_is_two_links_between_the_right_vertices(wire, case):
    cluster, parts = wire(*case)
    latency = link_latencies(cluster, parts)
    graph, inside = build_gpu_graph(cluster, parts.servers, latency)
    for side, (start, end) in enumerate([("port_a", "port_b"), ("port_b", "port_a")]):
        links = graph.cable_link[:, side]
        assert (graph.link_from[links] == inside.port_vertex[getattr(cluster.links, start)]).all()
        assert (graph.link_to[links] == inside.port_vertex[getattr(cluster.links, end)]).all()
        assert (graph.bytes_per_s[links] == cluster.links.bytes_per_s).all()
        assert (graph.latency_s[links] == latency[:, side]).all()
    assert len(np.unique(graph.cable_link)) == 2 * len(cluster.links)


@pytest.mark.parametrize("case", CASES)
def test_the_graph_is_sorted_and_full_duplex(wire, case):
    cluster, parts = wire(*case)
    graph, inside = build_gpu_graph(cluster, parts.servers, link_latencies(cluster, parts))
    assert (np.diff(graph.link_from) >= 0).all()
    assert graph.first_out[-1] == graph.links
    assert (np.repeat(np.arange(graph.vertices), np.diff(graph.first_out)) == graph.link_from).all()
    index = index_links(graph)
    back = find_links(index, graph.link_to, graph.link_from)
    assert (back >= 0).all()
    assert (graph.bytes_per_s[back] == graph.bytes_per_s).all()
    assert (graph.vertex_kind[graph.gpu_vertex] == VertexKind.GPU).all()
    assert (graph.vertex_device[graph.gpu_vertex] == cluster.gpus.host).all()
    assert (graph.vertex_device[inside.port_vertex] == cluster.ports.device).all()


def test_a_dgx_has_its_gpus_at_an_nvswitch_and_a_nic_beside_each(wire):
    cluster, parts = wire("dgx-h100", 2, "single-switch", "qm9790")
    graph, inside = build_gpu_graph(cluster, parts.servers, link_latencies(cluster, parts))
    assert (graph.link_from[inside.scale_up_out] == graph.gpu_vertex).all()
    assert (graph.link_to[inside.scale_up_in] == graph.gpu_vertex).all()
    assert set(graph.bytes_per_s[inside.scale_up_out]) == {parse_rate("450 GB/s")}
    assert len(set(graph.link_to[inside.scale_up_out])) == 2
    server_ports = cluster.links.port_a
    # On the DGX the rail is the index of the GPU beside the NIC.
    assert (cluster.gpus.local[inside.port_gpu[server_ports]] == cluster.ports.rail[server_ports]).all()
    assert (cluster.gpus.host[inside.port_gpu[server_ports]] == cluster.ports.device[server_ports]).all()


def test_trays_of_one_rack_share_a_scale_up_switch(wire):
    cluster, parts = wire("gb200-nvl72-tray", 20, "leaf-spine", "qm9790")
    graph, inside = build_gpu_graph(cluster, parts.servers, link_latencies(cluster, parts))
    shared = graph.link_to[inside.scale_up_out]
    assert [len(set(shared[cluster.gpus.domain == d])) for d in (0, 1)] == [1, 1]
    assert np.bincount(shared)[np.unique(shared)].tolist() == [72, 8]


def test_a_mesh_links_every_pair_at_the_rate_of_a_pair(wire):
    cluster, parts = wire("hgx-mi300x", 2, "single-switch", "sn5600")
    graph, inside = build_gpu_graph(cluster, parts.servers, link_latencies(cluster, parts))
    assert (inside.scale_up_out == -1).all()
    kind = graph.vertex_kind
    direct = (kind[graph.link_from] == VertexKind.GPU) & (kind[graph.link_to] == VertexKind.GPU)
    assert direct.sum() == 2 * 8 * 7
    assert set(graph.bytes_per_s[direct]) == {parse_rate("64 GB/s")}


def test_a_server_of_unknown_part_is_refused_in_one_line(wire):
    cluster, _ = wire("dgx-h100", 2, "single-switch", "qm9790")
    with pytest.raises(PartError, match=r"^server part \"dgx-h100\" is not known; [^\n]+$"):
        build_gpu_graph(cluster, {}, np.zeros((len(cluster.links), 2)))


def test_the_fabric_level_has_devices_only(wire):
    cluster, parts = wire("dgx-h100", 40, "rail-optimized", "qm9790")
    latency = link_latencies(cluster, parts)
    graph = build_fabric_graph(cluster, latency)
    assert graph.vertices == len(cluster.devices)
    assert graph.links == 2 * len(cluster.links)
    assert (graph.link_from[graph.cable_link[:, 0]] == cluster.link_device_a).all()
    assert (graph.link_to[graph.cable_link[:, 0]] == cluster.link_device_b).all()
    # Into a switch: 10 m of fibre and a hop; back into a server: the fibre alone.
    to_leaf = cluster.devices.role[cluster.link_device_a] == 0
    np.testing.assert_allclose(latency[to_leaf, 0], 10 * 4.9e-9 + 0.45e-6)
    np.testing.assert_allclose(latency[to_leaf, 1], 10 * 4.9e-9)


def test_a_published_latency_is_taken(wire):
    cluster, parts = wire("dgx-a100", 2, "single-switch", "qm8790")
    assert parts.switches["qm8790"].latency_s is not None
    latency = link_latencies(cluster, parts)
    np.testing.assert_allclose(latency[:, 0] - latency[:, 1], parts.switches["qm8790"].latency_s)
