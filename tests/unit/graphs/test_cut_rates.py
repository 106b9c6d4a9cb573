"""Rates around nodes and parts of a fabric."""

import numpy as np

from gpufabric.graphs.cut_rates import gpu_rates, node_rates, smallest_part_rate
from gpufabric.graphs.gpu_level import build_gpu_graph
from gpufabric.graphs.link_latency import link_latencies
from gpufabric.units import parse_rate

PORT = parse_rate("400 Gb/s")


def servers_as_nodes(cluster, servers):
    return np.where(np.arange(len(cluster.devices)) < servers, np.arange(len(cluster.devices)), -1)


def test_a_node_has_its_eight_ports(wire):
    cluster, _ = wire("dgx-h100", 4, "single-switch", "qm9790")
    assert node_rates(cluster, servers_as_nodes(cluster, 4), 0).tolist() == [8 * PORT] * 4


def test_one_leaf_is_one_part(wire):
    cluster, _ = wire("dgx-h100", 4, "single-switch", "qm9790")
    assert smallest_part_rate(cluster, servers_as_nodes(cluster, 4)) == np.inf


def test_an_oversubscribed_leaf_is_the_smallest_part(wire):
    cluster, _ = wire("dgx-h100", 12, "leaf-spine", "qm9790", ", oversubscription: '3:1'")
    leaf = cluster.devices.role == 1
    up = np.bincount(cluster.link_device_a, minlength=len(leaf))[leaf]
    assert smallest_part_rate(cluster, servers_as_nodes(cluster, 12)) == up.min() * PORT


def test_servers_of_one_node_are_not_cut_apart(wire):
    cluster, _ = wire("dgx-h100", 12, "leaf-spine", "qm9790", ", oversubscription: '3:1'")
    together = np.where(np.arange(len(cluster.devices)) < 12, 0, -1)
    assert smallest_part_rate(cluster, together) == np.inf


def test_gpus_reach_their_peers_at_the_rate_of_the_part(wire):
    for part, switch, rate in (("dgx-h100", "qm9790", "450 GB/s"), ("hgx-mi300x", "sn5600", "448 GB/s")):
        cluster, parts = wire(part, 2, "single-switch", switch)
        graph, _ = build_gpu_graph(cluster, parts.servers, link_latencies(cluster, parts))
        assert set(gpu_rates(graph, np.arange(16))) == {parse_rate(rate)}


def test_gpus_of_a_mesh_reach_only_the_peers_of_the_job(wire):
    cluster, parts = wire("hgx-mi300x", 1, "single-switch", "sn5600")
    graph, _ = build_gpu_graph(cluster, parts.servers, link_latencies(cluster, parts))
    # One link of 64 GB/s to each of the other GPUs of the job.
    for gpus in (2, 5, 8):
        assert set(gpu_rates(graph, np.arange(gpus))) == {(gpus - 1) * 64e9}
