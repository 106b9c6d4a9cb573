"""What is said of forwarding tables, on the captured tables of a small tree and on damaged ones."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from gpufabric.formats import opensm_tables
from gpufabric.graphs.fabric_level import build_fabric_graph
from gpufabric.jobs import table_balance as subject
from gpufabric.jobs.table_balance import LinkShare, ShiftLoads, table_balance
from gpufabric.records.flows import PortEdges
from gpufabric.records.forwarding_tables import NO_PORT
from gpufabric.routing import ROUTING
from gpufabric.routing.forwarding_tables import bind_tables
from gpufabric.routing.tier_links import index_tiers

SMALL = opensm_tables.read(Path(__file__).parents[2] / "captured" / "opensm" / "small-ftree.dump")


@pytest.fixture
def cluster(wire):
    return wire(
        "{gpus: 2, nics: 2, nic_rate: 100 Gb/s}", 8, "leaf-spine",
        "{ports: 8, rate: 100 Gb/s, network: infiniband}",
    )[0]  # fmt: skip


def balance_of(cluster, tables, compare=False):
    graph = build_fabric_graph(cluster, np.zeros((len(cluster.links), 2)))
    tiers = index_tiers(cluster, graph)

    def static(edges):
        return ROUTING["static"](cluster, graph, tiers, edges, 0)

    links = np.arange(len(cluster.links))
    return table_balance(cluster, bind_tables(cluster, [tables]), links, static if compare else None, graph)


def test_ftree_on_a_pure_tree_is_as_even_as_can_be(cluster):
    found = balance_of(cluster, SMALL, compare=True)
    assert (found.pairs, found.unreachable, found.longer) == (4 * 16, 0, 0)
    assert (found.most_hops, found.most_shortest_hops) == (2, 2)
    # One link from each of the three other leaves to a spine, and one from there down.
    assert found.links_per_destination == 4
    # 12 end ports are elsewhere, and a leaf has four up links.
    assert found.shares == (
        LinkShare("leaf → spine", 16, 3, 3.0, 3),
        LinkShare("spine → leaf", 16, 1, 1.0, 1),
    )
    assert found.shifts == found.static_shifts == ShiftLoads(15, 1.0, 1, 1.0)
    assert found.to_dict()["shares"][0]["way"] == "leaf → spine"


def test_blocks_of_end_ports_give_the_same(cluster, monkeypatch: pytest.MonkeyPatch):
    whole = balance_of(cluster, SMALL)
    monkeypatch.setattr(subject, "_BLOCK_CELLS", 1)
    assert balance_of(cluster, SMALL) == whole
    assert whole.static_shifts is None


@pytest.mark.parametrize("servers", [32, 64])
def test_d_mod_k_is_clean_on_three_tiers_with_and_without_parallel_links_to_the_cores(wire, servers: int):
    """With half the pods every core has two links to a pod, and the messages must use both."""
    cluster, _ = wire(
        "{gpus: 2, nics: 2, nic_rate: 100 Gb/s}", servers, "fat-tree", "{ports: 8, rate: 100 Gb/s}"
    )
    graph = build_fabric_graph(cluster, np.zeros((len(cluster.links), 2)))
    tiers = index_tiers(cluster, graph)
    ports = cluster.links.port_a[cluster.devices.role[cluster.link_device_a] == 0]
    leaf = cluster.link_device_b[cluster.devices.role[cluster.link_device_a] == 0]
    ports = ports[np.argsort(leaf, kind="stable")]
    switch = cluster.devices.kind == 1
    between = switch[graph.link_from] & switch[graph.link_to]
    for by in range(1, len(ports)):
        edges = PortEdges(ports, np.roll(ports, -by), np.arange(len(ports)))
        loads = ROUTING["static"](cluster, graph, tiers, edges, 0)
        assert np.bincount(loads.link, loads.weight, minlength=graph.links)[between].max() <= 1


def test_a_hole_and_a_longer_way_are_counted(cluster):
    out = SMALL.out_port.copy()
    switch, lid = SMALL.switch_names.index, SMALL.lid_names.index("srv08:cage2")
    out[switch("leaf-01"), lid] = NO_PORT
    # Leaf 2 sends to spine 1, which sends to leaf 3, which sends on to leaf 4 over a spine.
    out[switch("leaf-02"), lid] = 5
    out[switch("spine-01"), lid] = 5
    out[switch("leaf-03"), lid] = 7
    out[switch("spine-02"), lid] = 7
    found = balance_of(cluster, replace(SMALL, out_port=out))
    assert (found.unreachable, found.longer, found.most_hops) == (1, 1, 4)


def test_one_link_for_all(cluster):
    """Leaf 1 sends everything up over its first link: 12 end ports on it, and none on the three others."""
    out = SMALL.out_port.copy()
    leaf = SMALL.switch_names.index("leaf-01")
    out[leaf] = np.where((out[leaf] > 4) & (out[leaf] != NO_PORT), 5, out[leaf])
    found = balance_of(cluster, replace(SMALL, out_port=out))
    assert found.shares[0] == LinkShare("leaf → spine", 16, 0, 3.0, 12)
    assert found.shifts.worst_fullest == 4
    assert found.shifts.clean_share < 1


def test_the_links_that_shifts_share_and_the_pairs_without_a_way_are_named(cluster):
    out = SMALL.out_port.copy()
    rows = SMALL.switch_names.index
    out[rows("leaf-01"), SMALL.lid_names.index("srv08:cage2")] = NO_PORT
    # Everything that leaves leaf 1 now goes up on one port.
    away = [lid for lid in SMALL.end_port_lids if out[rows("leaf-01"), lid] in (5, 6, 7, 8)]
    out[rows("leaf-01"), away] = 5
    found = balance_of(cluster, replace(SMALL, out_port=out))
    assert found.lost_pairs == ("leaf-01 → srv08:cage2",)
    assert (found.hot_links[0].link, found.hot_links[0].worst) == ("leaf-01:5 → spine-01:1", 4)
    assert found.links_ever_shared >= 1
    healthy = balance_of(cluster, SMALL)
    assert (healthy.hot_links, healthy.links_ever_shared, healthy.lost_pairs) == ((), 0, ())
    assert healthy.least_links_per_destination == healthy.most_links_per_destination == 4
