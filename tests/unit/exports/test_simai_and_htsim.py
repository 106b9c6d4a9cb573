"""SimAI and htsim: counts, rates and latencies read back as designed."""

import io
from collections import Counter

import numpy as np
import pytest

from gpufabric.errors import InputError
from gpufabric.exports import EXPORTS
from gpufabric.formats import htsim_connections, htsim_topology, simai_bus_bandwidth, simai_topology

FULL = """
name: full
servers: {model: dgx-h100, count: 8}
fabrics:
  - {name: compute, topology: rail-optimized, switch: qm9790, unit_servers: 4}
"""


def files_of(target, source) -> dict[str, io.BytesIO]:
    return {file.path: io.BytesIO(b"".join(file.pieces)) for file in EXPORTS[target].write(source)}


@pytest.fixture(scope="module")
def full(source_of):
    """Eight servers in two full units of eight rails."""
    return source_of(FULL, options=(("size", "64M"),))


def test_simai_has_every_gpu_switch_and_link(full):
    topology = simai_topology.read(files_of("simai", full)["topology.txt"], "topology.txt")
    assert (topology.gpus, topology.gpus_per_server, topology.gpu_type) == (64, 8, "H100")
    assert len(topology.nv_switches) == 8
    cluster = full.cluster
    assert len(topology.switches) == int((cluster.devices.kind == 1).sum())
    inside = topology.end < 72
    assert set(topology.bytes_per_s[inside & (topology.start < 64)].tolist()) == {450e9}
    outside = topology.bytes_per_s[~inside].sum()
    assert outside == pytest.approx(cluster.links.bytes_per_s.sum())
    assert (topology.delay_s[~inside] > 100e-9).all()


def test_every_gpu_of_simai_hangs_on_the_leaf_of_its_rail(full):
    topology = simai_topology.read(files_of("simai", full)["topology.txt"], "topology.txt")
    rows = (topology.start < 64) & (topology.end >= 72)
    leaf_of = dict(zip(topology.start[rows].tolist(), topology.end[rows].tolist(), strict=True))
    assert Counter(Counter(leaf_of.values()).values()) == {4: 16}
    assert leaf_of[0] == leaf_of[8] == leaf_of[24] != leaf_of[1]


def test_parallel_links_of_simai_are_one_of_their_sum(roce):
    links = roce.cluster.links
    topology = simai_topology.read(files_of("simai", roce)["topology.txt"], "topology.txt")
    fabric = topology.end >= 64 + 8
    assert int(fabric.sum()) <= len(links)
    assert topology.bytes_per_s[fabric].sum() == pytest.approx(links.bytes_per_s.sum())


def test_bus_bandwidths_are_line_rates_in_units_of_two_to_the_thirtieth(full):
    text = files_of("simai", full)["busbw.yaml"]
    assert b"allreduce,: 419.095" in text.getvalue()  # 450e9 / 2**30
    rates = simai_bus_bandwidth.read(text, "busbw.yaml")
    assert rates["TP", "allreduce"] == pytest.approx(450e9)
    assert rates["DP", "allgather"] == pytest.approx(400e9)
    assert rates["PP", "busbw"] == pytest.approx(50e9)


def test_given_bus_bandwidths_are_taken(source_of):
    source = source_of(FULL, options=(("dp-busbw", "360 GB/s"),))
    assert simai_bus_bandwidth.read(files_of("simai", source)["busbw.yaml"], "b")[
        "DP", "allreduce"
    ] == pytest.approx(360e9)


def test_simai_refuses_gpus_without_switches(source_of):
    fabric = "{name: compute, topology: leaf-spine, switch: sn5600}"
    text = f"name: x\nservers: {{model: hgx-mi300x, count: 4}}\nfabrics:\n  - {fabric}\n"
    with pytest.raises(InputError, match="no NVSwitches"):
        files_of("simai", source_of(text))


def test_htsim_builds_the_designed_tree(full):
    topology = htsim_topology.read(files_of("htsim", full)["fabric.topo"], "fabric.topo")
    assert (topology.nodes, len(topology.tiers)) == (64, 2)
    roles = Counter(full.cluster.devices.role.tolist())
    assert topology.switches == (roles[1], roles[2])
    assert [tier.bytes_per_s for tier in topology.tiers] == [50e9, 50e9]
    links = topology.nodes + topology.switches[0] * topology.tiers[0].radix_up
    assert links == len(full.cluster.links)


def test_htsim_nodes_are_numbered_leaf_by_leaf(full):
    rows = [
        line.split(",") for line in files_of("htsim", full)["nodes.csv"].getvalue().decode().splitlines()[1:]
    ]
    assert [int(row[0]) for row in rows] == list(range(64))
    assert len({tuple(row[1:]) for row in rows}) == 64
    ports = [{row[2] for row in rows[first : first + 4]} for first in range(0, 64, 4)]
    assert all(len(alike) == 1 for alike in ports)  # four servers of a unit, one rail


def test_a_leaf_with_fewer_servers_has_idle_nodes(source_of):
    files = files_of("htsim", source_of(FULL.replace("count: 8", "count: 7"), options=(("size", "64M"),)))
    assert htsim_topology.read(files["fabric.topo"], "fabric.topo").nodes == 64
    nodes = [int(line.split(b",")[0]) for line in files["nodes.csv"].getvalue().splitlines()[1:]]
    assert len(nodes) == 56
    flows = htsim_connections.read(files["collective.cm"], "collective.cm")
    assert set(flows.sender.tolist()) == set(flows.receiver.tolist()) == set(nodes)


def test_flows_of_a_ring_stay_on_their_rail(full):
    flows = htsim_connections.read(files_of("htsim", full)["collective.cm"], "collective.cm")
    assert flows.nodes == 64
    assert len(flows.sender) == 64
    # 2 (n - 1) / n of the message over eight channels.
    assert set(flows.size_bytes.tolist()) == {round(2 * 63 / 64 * 2**26 / 8)}
    assert (flows.start_s == 0).all()
    rail_of = np.arange(64) // 4 % 8
    assert (rail_of[flows.sender] == rail_of[flows.receiver]).all()


def test_htsim_refuses_what_it_would_read_wrongly(source_of):
    with pytest.raises(InputError, match="write a smaller size"):
        files_of("htsim", source_of(FULL, options=(("size", "64G"),)))
    large = FULL.replace("dgx-h100", "hgx-h100").replace(
        "rail-optimized, switch: qm9790, unit_servers: 4", "leaf-spine, switch: sn5600"
    )
    with pytest.raises(InputError, match="htsim allows 96\\); choose smaller switches"):
        files_of("htsim", source_of(large.replace("count: 8", "count: 32")))
    fabric = "{name: compute, topology: single-switch, switch: sn5600}"
    one_tier = f"name: x\nservers: {{model: hgx-h100, count: 4}}\nfabrics:\n  - {fabric}\n"
    with pytest.raises(InputError, match="two or three"):
        files_of("htsim", source_of(one_tier))


def test_three_tiers(source_of):
    text = FULL.replace("count: 8", "count: 256").replace("unit_servers: 4", "unit_servers: 32, tiers: 3")
    source = source_of(text, options=(("size", "1M"),))
    topology = htsim_topology.read(files_of("htsim", source)["fabric.topo"], "fabric.topo")
    roles = Counter(source.cluster.devices.role.tolist())
    assert topology.switches == (roles[1], roles[2], roles[3])
    assert topology.pod_nodes == 1024
