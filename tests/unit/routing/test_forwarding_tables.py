"""Routing by forwarding tables: the tables of OpenSM for a small tree, and damaged ones."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from gpufabric.errors import InputError, UnbuildableError
from gpufabric.formats import opensm_tables
from gpufabric.graphs.fabric_level import build_fabric_graph
from gpufabric.records.flows import PortEdges
from gpufabric.records.forwarding_tables import NO_PORT
from gpufabric.routing.forwarding_tables import MAX_HOPS, bind_tables, follow_tables, route_by_tables

SMALL = opensm_tables.read(Path(__file__).parents[2] / "captured" / "opensm" / "small-ftree.dump")


@pytest.fixture
def cluster(wire):
    """The cluster that the captured tables are of: 4 leaves with 4 ports each, 2 spines, every pair twice linked."""
    return wire(
        "{gpus: 2, nics: 2, nic_rate: 100 Gb/s}", 8, "leaf-spine",
        "{ports: 8, rate: 100 Gb/s, network: infiniband}",
    )[0]  # fmt: skip


@pytest.fixture
def graph(cluster):
    return build_fabric_graph(cluster, np.zeros((len(cluster.links), 2)))


def all_pairs(cluster):
    ports = cluster.links.port_a[cluster.devices.role[cluster.link_device_a] == 0]
    exits, entries = (grid.ravel() for grid in np.meshgrid(ports, ports))
    apart = cluster.ports.device[exits] != cluster.ports.device[entries]
    return PortEdges(exits[apart], entries[apart], np.arange(int(apart.sum())))


def test_every_message_takes_the_links_that_the_tables_name(cluster, graph):
    bound = bind_tables(cluster, [SMALL])
    edges = all_pairs(cluster)
    loads = route_by_tables(bound)(cluster, graph, None, edges)
    out = np.bincount(graph.link_from[loads.link], loads.weight, minlength=graph.vertices)
    into = np.bincount(graph.link_to[loads.link], loads.weight, minlength=graph.vertices)
    switch = cluster.devices.kind == 1
    assert (out - into)[switch].tolist() == [0] * 6
    assert set(loads.weight.tolist()) == {1.0}
    # ftree gives each of the 16 down links to one port: the 12 others' leaves send to it over that link alone.
    down = (cluster.devices.role[graph.link_from] == 2) & (cluster.devices.role[graph.link_to] == 1)
    per_link = np.bincount(loads.link, minlength=graph.links)[down]
    assert per_link.tolist() == [12] * 16


def test_the_first_hop_is_the_port_in_the_table(cluster):
    bound = bind_tables(cluster, [SMALL])
    lid = SMALL.lid_names.index("srv08:cage2")
    leaf = SMALL.switch_names.index("leaf-01")
    device = int(np.flatnonzero((cluster.devices.role == 1) & (cluster.devices.index == 0))[0])
    link = bound.next_link[bound.switch_row[device], lid]
    port = cluster.links.port_a[link]
    assert cluster.ports.device[port] == device
    assert cluster.ports.cage[port] == SMALL.out_port[leaf, lid]


def test_tables_of_another_cluster_are_refused(wire, cluster):
    named = replace(SMALL, switch_names=("leaf-99", *SMALL.switch_names[1:]))
    with pytest.raises(InputError, match=r'switch "leaf-99" is not in the cluster \(1 of 6 are not\)'):
        bind_tables(cluster, [named])
    smaller, _ = wire("{gpus: 2, nics: 2, nic_rate: 100 Gb/s}", 7, "leaf-spine", "{ports: 8, rate: 100 Gb/s}")
    with pytest.raises(InputError, match=r'end port "srv08:cage[12]" is not in the cluster'):
        bind_tables(smaller, [SMALL])


def test_a_hole_in_a_table_is_a_lost_message(cluster, graph):
    out = SMALL.out_port.copy()
    out[SMALL.switch_names.index("leaf-01"), SMALL.lid_names.index("srv08:cage2")] = NO_PORT
    bound = bind_tables(cluster, [replace(SMALL, out_port=out)])
    with pytest.raises(UnbuildableError, match="4 of 224 messages have no way through the forwarding tables"):
        route_by_tables(bound)(cluster, graph, None, all_pairs(cluster))


def test_a_loop_ends(cluster):
    """Leaf 1 sends to spine 1 and spine 1 back to leaf 1."""
    out = SMALL.out_port.copy()
    lid = SMALL.lid_names.index("srv08:cage2")
    out[SMALL.switch_names.index("leaf-01"), lid] = 5
    out[SMALL.switch_names.index("spine-01"), lid] = 1
    bound = bind_tables(cluster, [replace(SMALL, out_port=out)])
    leaves = np.flatnonzero(cluster.devices.role == 1)
    ways = follow_tables(cluster, bound, leaves[:1], leaves[-1:], np.array([lid]))
    assert ways.hops.tolist() == [-1]
    assert len(ways.link) == MAX_HOPS


def test_a_port_without_lid_and_a_switch_without_table_have_no_way(cluster):
    bound = bind_tables(cluster, [])
    leaves = np.flatnonzero(cluster.devices.role == 1)
    ways = follow_tables(cluster, bound, leaves[[0, 1]], leaves[[1, 1]], np.array([-1, 3]))
    assert (ways.hops.tolist(), len(ways.link)) == ([-1, -1], 0)


@pytest.mark.parametrize("wrong", [NO_PORT, 5])
def test_the_last_switch_must_send_to_a_server(cluster, wrong: int):
    out = SMALL.out_port.copy()
    lid = SMALL.lid_names.index("srv08:cage2")
    leaves = np.flatnonzero(cluster.devices.role == 1)
    good = follow_tables(cluster, bind_tables(cluster, [SMALL]), leaves, leaves[[3] * 4], np.full(4, lid))
    assert good.hops.tolist() == [2, 2, 2, 0]
    out[SMALL.switch_names.index("leaf-04"), lid] = wrong
    bound = bind_tables(cluster, [replace(SMALL, out_port=out)])
    assert follow_tables(cluster, bound, leaves, leaves[[3] * 4], np.full(4, lid)).hops.tolist() == [-1] * 4
