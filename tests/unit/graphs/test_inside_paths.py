"""Ways inside a server: over the scale-up switch, the direct link, or PCIe."""

from collections import Counter

import numpy as np
import pytest

from gpufabric.errors import UnbuildableError
from gpufabric.graphs.directed_links import index_links
from gpufabric.graphs.gpu_level import build_gpu_graph
from gpufabric.graphs.inside_paths import gpu_to_gpu, gpu_to_port, port_to_gpu
from gpufabric.graphs.link_latency import link_latencies
from gpufabric.records.graph import VertexKind
from gpufabric.records.parts import ServerPart

PCIE_BOX = {
    "id": "pcie-box",
    "vendor": "test",
    "model": "four cards on two switches",
    "status": "generic",
    "gpu": "card",
    "gpus": [{"index": i, "pcie": f"sw{i // 2}"} for i in range(4)],
    "pcie": [{"id": "sw0", "bytes_per_s": "31 GB/s"}, {"id": "sw1", "bytes_per_s": "31 GB/s"}],
    "scale_up": {"kind": "pcie", "gpu_bytes_per_s": "31 GB/s"},
}


def laid(cluster, servers):
    graph, inside = build_gpu_graph(cluster, servers, np.zeros((len(cluster.links), 2)))
    return graph, inside, index_links(graph)


def kinds(graph, links):
    names = {v: k for k, v in vars(VertexKind).items() if k.isupper()}
    return sorted(
        (names[graph.vertex_kind[graph.link_from[i]]], names[graph.vertex_kind[graph.link_to[i]]])
        for i in links
    )


def one(value):
    return np.array([value])


def test_over_the_switch_there_are_two_links(wire):
    cluster, parts = wire("dgx-h100", 2, "single-switch", "qm9790")
    graph, inside, index = laid(cluster, parts.servers)
    assert kinds(graph, gpu_to_gpu(graph, inside, index, one(1), one(6))[0]) == [
        ("GPU", "SCALE_UP"),
        ("SCALE_UP", "GPU"),
    ]


def test_in_a_mesh_there_is_one(wire):
    cluster, parts = wire("hgx-mi300x", 2, "single-switch", "sn5600")
    graph, inside, index = laid(cluster, parts.servers)
    (link,), _ = gpu_to_gpu(graph, inside, index, one(1), one(6))
    assert (graph.link_from[link], graph.link_to[link]) == (graph.gpu_vertex[1], graph.gpu_vertex[6])


def test_over_pcie_the_switch_is_shared_and_the_cpu_lies_between_two(wire):
    cluster, _ = wire(
        "{gpus: 4, nics: 1, nic_rate: 100 Gb/s}", 2, "single-switch", "{ports: 8, rate: 100 Gb/s}"
    )
    servers = {cluster.parts[cluster.devices.part[0]]: ServerPart.model_validate(PCIE_BOX)}
    graph, inside, index = laid(cluster, servers)
    assert kinds(graph, gpu_to_gpu(graph, inside, index, one(0), one(1))[0]) == [
        ("GPU", "PCIE"),
        ("PCIE", "GPU"),
    ]
    assert kinds(graph, gpu_to_gpu(graph, inside, index, one(0), one(3))[0]) == [
        ("GPU", "PCIE"),
        ("PCIE", "GPU"),
        ("PCIE", "SERVER"),
        ("SERVER", "PCIE"),
    ]


def test_a_nic_is_reached_over_its_pcie_switch_and_back_again(wire):
    cluster, parts = wire("dgx-h100", 2, "single-switch", "qm9790")
    graph, inside, index = laid(cluster, parts.servers)
    port = one(int(cluster.links.port_a[0]))
    gpu = inside.port_gpu[port]
    out, _ = gpu_to_port(graph, inside, index, gpu, port)
    back, _ = port_to_gpu(graph, inside, index, port, gpu)
    assert kinds(graph, out) == [("GPU", "PCIE"), ("PCIE", "NIC")]
    assert kinds(graph, back) == [("NIC", "PCIE"), ("PCIE", "GPU")]


def test_gpus_of_different_servers_have_no_way_inside(wire):
    cluster, parts = wire("dgx-h100", 2, "single-switch", "qm9790")
    graph, inside, index = laid(cluster, parts.servers)
    with pytest.raises(UnbuildableError):
        gpu_to_gpu(graph, inside, index, one(0), one(8))
    assert link_latencies(cluster, parts).shape == (16, 2)


def test_each_link_names_its_pair(wire):
    cluster, parts = wire("dgx-h100", 2, "single-switch", "qm9790")
    graph, inside, index = laid(cluster, parts.servers)
    sender, receiver = np.array([1, 8, 3]), np.array([6, 15, 0])
    links, row = gpu_to_gpu(graph, inside, index, sender, receiver)
    leaves = np.isin(graph.link_from[links], graph.gpu_vertex)
    assert sorted(row) == [0, 0, 1, 1, 2, 2]
    assert (graph.link_from[links[leaves]] == graph.gpu_vertex[sender[row[leaves]]]).all()
    assert (graph.link_to[links[~leaves]] == graph.gpu_vertex[receiver[row[~leaves]]]).all()


def test_two_gpus_of_an_uneven_mesh_without_a_link_meet_over_a_third(wire):
    cluster, parts = wire("dgx-1-v100", 2, "single-switch", "qm8790")
    graph, inside, index = laid(cluster, parts.servers)
    links, row = gpu_to_gpu(graph, inside, index, np.array([0, 8, 0]), np.array([5, 13, 3]))
    assert Counter(row.tolist()) == {0: 2, 1: 2, 2: 1}
    assert kinds(graph, links[row == 0]) == [("GPU", "GPU")] * 2
    # Of the two GPUs between, the first has one link to each end and the second too: 1 by 0-1-5, 4 by 0-4-5.
    middle = {int(graph.link_to[i]) for i in links[row == 0]} & {
        int(graph.link_from[i]) for i in links[row == 0]
    }
    assert middle <= {int(graph.gpu_vertex[1]), int(graph.gpu_vertex[4])}
    assert len(middle) == 1


def test_two_gpus_that_no_third_joins_meet_over_pcie(wire):
    cluster, parts = wire("dgx-1-v100", 1, "single-switch", "qm8790")
    server = parts.servers["dgx-1-v100"]
    few = [[0] * 8 for _ in range(8)]
    few[0][1] = few[1][0] = 6
    up = server.scale_up.model_copy(update={"pair_links": tuple(map(tuple, few))})
    servers = {"dgx-1-v100": server.model_copy(update={"scale_up": up})}
    graph, inside, index = laid(cluster, servers)
    links, _ = gpu_to_gpu(graph, inside, index, one(0), one(2))
    assert ("GPU", "GPU") not in kinds(graph, links)
    assert len(links) == 4
