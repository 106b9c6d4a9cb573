"""Kinds of links, and the cuts around parts of a fabric."""

import numpy as np

from gpufabric.collectives.job_nodes import group_nodes
from gpufabric.graphs.cut_rates import part_cuts, smallest_part_rate
from gpufabric.graphs.gpu_level import build_gpu_graph
from gpufabric.graphs.link_latency import link_latencies
from gpufabric.graphs.link_resources import link_resources
from gpufabric.records.graph import VertexKind
from gpufabric.units import parse_rate


def test_every_link_is_of_one_kind(wire):
    cluster, parts = wire("dgx-h100", 12, "leaf-spine", "{ports: 32, rate: 400 Gb/s}")
    graph, _ = build_gpu_graph(cluster, parts.servers, link_latencies(cluster, parts))
    codes, names = link_resources(cluster, graph)
    assert names == ("scale-up", "pcie", "nic", "leaf-spine")
    count = dict(zip(names, np.bincount(codes), strict=True))
    # Eight GPUs and eight NICs a server; NICs and GPUs have PCIe switches of their own.
    assert count["scale-up"] == 12 * 8 * 2
    assert count["nic"] == 12 * 8 * 2
    assert count["leaf-spine"] == 2 * int((cluster.links.bytes_per_s > 0).sum()) - count["nic"]
    switch = graph.vertex_kind == VertexKind.SWITCH
    assert (switch[graph.link_from] | switch[graph.link_to])[codes >= 2].all()
    assert not (switch[graph.link_from] | switch[graph.link_to])[codes < 2].any()


def test_a_mesh_of_gpus_is_scale_up(wire):
    cluster, parts = wire("hgx-mi300x", 2, "single-switch", "sn5600")
    graph, _ = build_gpu_graph(cluster, parts.servers, link_latencies(cluster, parts))
    codes, _ = link_resources(cluster, graph)
    assert (codes == 0).sum() == 2 * 8 * 7


def test_parts_say_what_leaves_them_and_who_is_in_them(wire):
    cluster, _ = wire("dgx-h100", 8, "leaf-spine", "{ports: 32, rate: 400 Gb/s}", ", oversubscription: '3:1'")
    gpus = np.arange(50, dtype=np.int32)
    nodes = group_nodes(cluster, gpus)
    rates, ranks = part_cuts(cluster, nodes.node_of_device, nodes.size)
    # Three servers a leaf of 32 ports: 24 down, 8 up.
    assert ranks.tolist() == [24, 24, 2]
    assert (rates == 8 * parse_rate("400 Gb/s")).all()
    assert smallest_part_rate(cluster, nodes.node_of_device) == rates.min()
    one = group_nodes(cluster, gpus[:8])
    assert smallest_part_rate(cluster, one.node_of_device) == np.inf
