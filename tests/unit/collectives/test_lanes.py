"""Lanes lie on the rails as NCCL lays its channels."""

import numpy as np
import pytest

from gpufabric.collectives.channel_ports import MAX_CHANNELS
from gpufabric.collectives.inside_order import mesh_cycles, zigzag
from gpufabric.collectives.job_nodes import JobNodes, group_nodes
from gpufabric.collectives.job_wiring import lay_job
from gpufabric.collectives.lanes import lay_lanes
from gpufabric.collectives.rank_order import rank_gpus
from gpufabric.errors import InputError, UnbuildableError
from gpufabric.formats.cluster_yaml import parse_cluster_spec
from gpufabric.graphs.gpu_level import build_gpu_graph
from gpufabric.graphs.link_latency import link_latencies
from gpufabric.topologies import build_cluster


def planned(wired, gpus):
    cluster, parts = wired
    _, inside = build_gpu_graph(cluster, parts.servers, link_latencies(cluster, parts))
    gpus = np.array(gpus, np.int32)
    server = parts.servers[cluster.parts[cluster.devices.part[cluster.gpus.host[gpus[0]]]]]
    return lay_lanes(lay_job(cluster, inside, gpus, server.scale_up)), inside


def test_each_channel_keeps_to_its_rail_and_starts_beside_its_nic(wire):
    wired = wire("dgx-h100", 4, "rail-optimized", "qm9790")
    cluster = wired[0]
    lanes, inside = planned(wired, range(32))
    assert [c.rail for c in lanes] == list(range(8))
    for lane in lanes:
        assert (lane.exit_port == lane.entry_port).all()
        assert set(cluster.ports.rail[lane.exit_port]) == {lane.rail}
        assert (lane.order[lane.node_first] == inside.port_gpu[lane.entry_port]).all()
        assert (cluster.gpus.local[lane.order[:8]] == (np.arange(8) + lane.rail) % 8).all()


def test_both_ports_of_a_nic_have_a_channel(wire):
    wired = wire("dgx-b300-spectrum", 3, "multi-plane", "sn5600")
    lanes, _ = planned(wired, range(24))
    planes = [set(wired[0].ports.plane[c.exit_port]) for c in lanes]
    assert len(lanes) == 16
    assert all(len(p) == 1 for p in planes)
    assert sum(p == {0} for p in planes) == 8


def test_nodes_follow_the_ranks_and_stay_whole(wire):
    wired = wire("dgx-h100", 3, "single-switch", "qm9790")
    # Ranks go round the servers one GPU at a time, as with a round-robin hostfile; NCCL groups them by host again.
    ranks = np.arange(24).reshape(3, 8)[[2, 0, 1]].T.ravel()
    lanes, _ = planned(wired, ranks)
    hosts = wired[0].gpus.host[lanes[0].order]
    assert hosts.tolist() == [2] * 8 + [0] * 8 + [1] * 8


def test_one_node_stays_inside(wire):
    lanes, _ = planned(wire("dgx-h100", 2, "single-switch", "qm9790"), range(8))
    assert len(lanes) == 8
    assert all(len(c.exit_port) == 0 and c.rail == -1 for c in lanes)


def test_a_rack_of_trays_is_one_node(wire):
    wired = wire("gb200-nvl72-tray", 36, "leaf-spine", "qm9790")
    lanes, _ = planned(wired, range(144))
    assert len(lanes) == MAX_CHANNELS
    assert all(c.node_first.tolist() == [0, 72] for c in lanes)
    exits = np.concatenate([c.exit_port for c in lanes])
    assert len(np.unique(exits)) == len(exits)


def test_only_nics_beside_gpus_of_the_job_take_part(wire):
    wired = wire("dgx-h100", 4, "single-switch", "qm9790")
    lanes, _ = planned(wired, [0, 1, 8, 9, 16, 17, 24, 25])
    assert [c.rail for c in lanes] == [0, 1]
    lanes, _ = planned(wired, [0, 1, 8, 9, 10, 11, 12])
    assert [c.rail for c in lanes] == [0, 1]
    assert {len(c.order) for c in lanes} == {7}


def test_nodes_without_a_common_rail_use_their_own(wire):
    wired = wire("dgx-h100", 2, "single-switch", "qm9790")
    lanes, inside = planned(wired, [0, 1, 2, 14, 15])
    assert len(lanes) == 2
    for lane in lanes:
        assert set(inside.port_gpu[lane.exit_port]) <= {0, 1, 2, 14, 15}


def test_a_full_mesh_uses_the_cable_to_the_next_server(wire):
    wired = wire("dgx-h100", 3, "full-mesh", "qm9790")
    cluster = wired[0]
    lanes, _ = planned(wired, range(24))
    assert len(lanes) == 4
    cables = {(int(a), int(b)) for a, b in zip(cluster.links.port_a, cluster.links.port_b, strict=True)}
    cables |= {(b, a) for a, b in cables}
    for lane in lanes:
        pairs = zip(lane.exit_port, np.roll(lane.entry_port, -1), strict=True)
        assert all((int(a), int(b)) in cables for a, b in pairs)


def test_neighbours_without_a_cable_are_refused(wire):
    from dataclasses import replace

    cluster, parts = wire(
        "{gpus: 1, nics: 3, nic_rate: 100 Gb/s}", 4, "full-mesh", "{ports: 8, rate: 100 Gb/s}"
    )
    devices = cluster.ports.device
    gone = (devices[cluster.links.port_a] == 0) & (devices[cluster.links.port_b] == 1)
    links = replace(
        cluster.links,
        port_a=cluster.links.port_a[~gone],
        port_b=cluster.links.port_b[~gone],
        bytes_per_s=cluster.links.bytes_per_s[~gone],
        assembly=cluster.links.assembly[~gone],
    )
    with pytest.raises(
        UnbuildableError, match="nodes 0 and 1 follow each other in the ring and have no direct link"
    ):
        planned((replace(cluster, links=links), parts), range(4))


def test_a_meshed_node_is_left_beside_its_last_gpu(wire):
    wired = wire("hgx-mi300x", 3, "single-switch", "sn5600")
    lanes, inside = planned(wired, range(24))
    used = np.zeros((24, 24), int)
    for lane in lanes:
        last = lane.order[np.append(lane.node_first[1:], 24) - 1]
        assert (inside.port_gpu[lane.exit_port] == last).all()
        same = wired[0].gpus.host[lane.order[:-1]] == wired[0].gpus.host[lane.order[1:]]
        np.add.at(used, (lane.order[:-1][same], lane.order[1:][same]), 1)
    off_diagonal = ~np.eye(8, dtype=bool)
    assert all((used[i : i + 8, i : i + 8][off_diagonal] == 1).all() for i in (0, 8, 16))


@pytest.mark.parametrize("count", range(3, 14))
def test_cycles_of_a_mesh_use_every_link_equally_often(count):
    cycles = mesh_cycles(count)
    times = 1 if count % 2 else 2
    assert len(cycles) == times * (count - 1)
    used = np.zeros((count, count), int)
    for cycle in cycles:
        np.add.at(used, (cycle, np.roll(cycle, -1)), 1)
    assert (used[~np.eye(count, dtype=bool)] == times).all()
    assert all(sorted(c) == list(range(count)) for c in cycles)


@pytest.mark.parametrize("count", range(2, 13))
def test_zigzag_visits_every_gpu(count):
    one = JobNodes(
        np.arange(count, dtype=np.int32), np.zeros(1, np.int64), np.array([count]), np.zeros(1, np.int64)
    )
    for start in range(count):
        way = zigzag(one, np.array([start]))
        assert way[0] == start
        assert sorted(way) == list(range(count))


def test_shuffling_moves_whole_nodes(wire):
    cluster, _ = wire("dgx-h100", 7, "single-switch", "qm9790")
    gpus = rank_gpus(cluster, 53, "shuffled", 4)
    assert sorted(gpus) == list(range(53))
    nodes = group_nodes(cluster, gpus)
    assert (nodes.gpu == gpus).all()
    assert sorted(nodes.size) == [5] + [8] * 6
    assert rank_gpus(cluster, 53, "shuffled", 4).tolist() == gpus.tolist()
    assert rank_gpus(cluster, 53, "shuffled", 5).tolist() != gpus.tolist()


@pytest.mark.parametrize(
    ("ranks", "order", "message"),
    [
        (57, "fabric", "ranks: 57 is out of range; allowed is 1 to 56"),
        (0, "fabric", "allowed is 1 to 56"),
        (8, "sideways", 'order "sideways"'),
    ],
)
def test_impossible_rank_orders_are_refused(wire, ranks, order, message):
    cluster, _ = wire("dgx-h100", 7, "single-switch", "qm9790")
    with pytest.raises(InputError, match=message):
        rank_gpus(cluster, ranks, order)


def test_servers_that_the_fabric_does_not_link_have_no_ranks(catalog):
    text = (
        "servers: [{name: a, model: dgx-h100, count: 3, purpose: storage, fabrics: {}}, {name: b, model: dgx-b200, count: 2}]\n"
        "fabrics: [{name: compute, topology: single-switch, switch: qm9790}]\n"
    )
    cluster = build_cluster(parse_cluster_spec(text, "test.yaml"), catalog)
    assert set(cluster.gpus.host[rank_gpus(cluster)]) == {3, 4}
    with pytest.raises(InputError, match="allowed is 1 to 16"):
        rank_gpus(cluster, 17)
    with pytest.raises(InputError, match="links no server with GPUs"):
        rank_gpus(cluster, fabric=1)


def test_two_ranks_on_a_gpu_are_refused(wire):
    with pytest.raises(InputError, match="two ranks share a GPU"):
        planned(wire("dgx-h100", 2, "single-switch", "qm9790"), [0, 1, 1])
