"""Queue pairs even ECMP out, polarised hashes do the opposite, and neither loses a byte."""

import numpy as np
import pytest

from gpufabric.graphs.fabric_level import build_fabric_graph
from gpufabric.records.flow_hashing import FlowHashing
from gpufabric.records.flows import LinkLoads, PortEdges
from gpufabric.routing import ecmp
from gpufabric.routing.queue_pairs import over_queue_pairs
from gpufabric.routing.tier_links import index_tiers

BOX = "{gpus: 2, nics: 2, nic_rate: 100 Gb/s}"


@pytest.fixture
def fat_tree(wire):
    cluster, _ = wire(BOX, 128, "fat-tree", "{ports: 16, rate: 100 Gb/s}", ", tiers: 3")
    graph = build_fabric_graph(cluster, np.zeros((len(cluster.links), 2)))
    ports = cluster.links.port_a[cluster.devices.role[cluster.link_device_a] == 0]
    edges = PortEdges(ports, np.roll(ports, len(ports) // 2), np.arange(len(ports), dtype=np.int64))
    return cluster, graph, index_tiers(cluster, graph), edges


def loads(fat_tree, **hashing):
    return ecmp.route_hashed(*fat_tree, 0, FlowHashing(**hashing))


def fullest(fat_tree, **hashing):
    found = loads(fat_tree, **hashing)
    return np.bincount(found.link, found.weight).max()


def test_one_queue_pair_and_hashes_that_differ_are_plain_ecmp(fat_tree):
    plain, found = ecmp.route(*fat_tree, 0), loads(fat_tree)
    np.testing.assert_array_equal(plain.link, found.link)
    np.testing.assert_array_equal(plain.weight, found.weight)


@pytest.mark.parametrize("hashing", [{"queue_pairs": 4}, {"polarised": True}])
def test_every_message_arrives_whole(fat_tree, hashing):
    _, graph, _, edges = fat_tree
    found = loads(fat_tree, **hashing)
    into = np.bincount(graph.link_to[found.link], found.weight, minlength=graph.vertices)
    out = np.bincount(graph.link_from[found.link], found.weight, minlength=graph.vertices)
    expected = np.bincount(fat_tree[0].ports.device[edges.entry_port], minlength=graph.vertices)
    np.testing.assert_allclose(into - out, expected - np.bincount(
        fat_tree[0].ports.device[edges.exit_port], minlength=graph.vertices
    ), atol=1e-9)  # fmt: skip
    assert set(found.edge) == set(range(len(edges.key)))


def test_queue_pairs_even_out_and_polarisation_piles_up(fat_tree):
    assert fullest(fat_tree, queue_pairs=16) < fullest(fat_tree)
    assert fullest(fat_tree, polarised=True) > 1.5 * fullest(fat_tree)


def test_the_first_queue_pair_keeps_the_key_of_its_message():
    seen = []

    def route(edges):
        seen.append(edges.key)
        return LinkLoads(np.arange(len(edges.key), dtype=np.int32), edges.sizes_of(np.arange(len(edges.key))))

    edges = PortEdges(np.zeros(3, np.int32), np.ones(3, np.int32), np.array([5, 6, 7]))
    found = over_queue_pairs(route, edges, 4)
    assert list(seen[0][:3]) == [5, 6, 7]
    assert len(set(seen[0])) == 12
    assert found.weight.sum() == pytest.approx(3)
    assert found.edge is None
