"""ASTRA-sim: what is written is what the design has, and what ASTRA-sim's own parser would take."""

import io
import json
import math

import pytest

from gpufabric.errors import InputError
from gpufabric.exports import EXPORTS
from gpufabric.exports.astra_dimensions import astra_dimensions
from gpufabric.formats import astra_network_yaml, chakra_trace

TAPERED = """
name: tapered
servers: {model: hgx-h100, count: 16}
fabrics:
  - {name: compute, topology: leaf-spine, switch: sn5600, link_rate: 400 Gb/s, oversubscription: "2:1"}
"""
MESHED = """
name: meshed
servers: {model: hgx-mi300x, count: 8}
fabrics:
  - {name: compute, topology: leaf-spine, switch: sn5600, link_rate: 400 Gb/s}
"""
RACKS = """
name: racks
servers: {model: gb200-nvl72-tray, count: 72}
fabrics:
  - {name: compute, topology: rail-optimized, switch: qm9790}
"""


def files_of(source) -> dict[str, bytes]:
    return {file.path: b"".join(file.pieces) for file in EXPORTS["astra-sim"].write(source)}


def network_of(source):
    return astra_network_yaml.read(io.BytesIO(files_of(source)["network.yml"]), "network.yml")


def test_network_reads_back_as_designed(small):
    dimensions = network_of(small)
    assert [(one.topology, one.npus) for one in dimensions] == [("Switch", 8), ("Switch", 2), ("Switch", 3)]
    assert [one.bytes_per_s for one in dimensions] == pytest.approx([450e9, 50e9, 50e9], rel=1e-9)
    for read, made in zip(dimensions, astra_dimensions(small), strict=True):
        assert read.latency_s == pytest.approx(made.latency_s, rel=1e-9)


def test_rates_are_in_units_of_two_to_the_thirtieth(small):
    text = files_of(small)["network.yml"].decode()
    rates = text.split("bandwidth: [ ")[1].split(" ]")[0].split(", ")
    assert float(rates[1]) * 2**30 == pytest.approx(50e9, rel=1e-9)


def test_an_oversubscribed_tier_is_slower(source_of):
    assert [(one.npus, one.bytes_per_s) for one in network_of(source_of(TAPERED))] == [
        (8, pytest.approx(450e9)),
        (8, pytest.approx(50e9)),
        (2, pytest.approx(25e9)),
    ]


def test_a_mesh_is_fully_connected_at_the_rate_of_a_pair(source_of):
    first = network_of(source_of(MESHED))[0]
    assert (first.topology, first.npus) == ("FullyConnected", 8)
    assert first.bytes_per_s == pytest.approx(64e9, rel=0.01)


def test_a_rack_is_one_scale_up_domain(source_of):
    assert [one.npus for one in network_of(source_of(RACKS))] == [72, 4]


def test_dimensions_make_up_all_gpus(small, roce, source_of):
    for source in (small, roce, source_of(TAPERED), source_of(RACKS)):
        assert math.prod(one.npus for one in astra_dimensions(source)) == len(source.cluster.gpus)


def test_a_way_over_a_switch_takes_two_hops(small):
    leaf, spine = astra_dimensions(small)[1:]
    # InfiniBand switches of the catalogue or the measured 0.45 µs: one on the way over a leaf, three over a spine.
    assert 0 < 2 * leaf.latency_s < 2 * spine.latency_s < 10e-6


def test_every_rank_has_the_same_trace(small):
    files = files_of(small)
    traces = {path: data for path, data in files.items() if path.endswith(".et")}
    assert list(traces) == [f"workload/all_reduce.{rank}.et" for rank in range(48)]
    trace = chakra_trace.read(traces["workload/all_reduce.7.et"], "7")
    assert trace.version == "0.0.4"
    (node,) = trace.nodes
    assert (node.id, node.name, node.type) == (0, "all_reduce", 7)
    assert node.attributes == (("is_cpu_op", False), ("comm_type", 0), ("comm_size", 2**30))


def test_the_trace_has_the_bytes_of_the_schema(source_of):
    source = source_of(TAPERED, options=(("workload", "reduce_scatter"), ("size", "4K")))
    # Varint lengths, then fields as tag (number << 3 | wire type) and value, by hand from et_def.proto.
    metadata = b"\x07" + b"\x0a\x05" + b"0.0.4"
    cpu = b"\x0a\x09is_cpu_op" + b"\xd8\x01\x00"
    kind = b"\x0a\x09comm_type" + b"\x48\x07"
    size = b"\x0a\x09comm_size" + b"\x48\x80\x20"
    attributes = b"".join(b"\x52" + bytes([len(one)]) + one for one in (cpu, kind, size))
    node = b"\x12\x0ereduce_scatter" + b"\x18\x07" + attributes
    assert files_of(source)["workload/reduce_scatter.0.et"] == metadata + bytes([len(node)]) + node


def test_an_all_gather_counts_what_a_rank_begins_with(source_of):
    source = source_of(TAPERED, options=(("workload", "all_gather"), ("size", "128M")))
    trace = chakra_trace.read(files_of(source)["workload/all_gather.0.et"], "0")
    assert trace.nodes[0].attribute("comm_size") == 2**20


def test_the_system_names_an_algorithm_a_dimension(source_of):
    system = json.loads(
        files_of(source_of(TAPERED, options=(("algorithm", "halvingDoubling"),)))["system.json"]
    )
    assert system["all-reduce-implementation"] == ["halvingDoubling"] * 3
    assert system["all-to-all-implementation"] == ["direct"] * 3


def test_no_traces_on_request(source_of):
    assert list(files_of(source_of(TAPERED, options=(("workload", "none"),)))) == [
        "network.yml",
        "system.json",
        "memory.json",
    ]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "name: x\nservers: [{name: a, model: hgx-h100, count: 2}, {name: b, model: hgx-b200, count: 2}]",
            "several kinds",
        ),
        ("name: x\nservers: {model: dgx-1-v100, count: 2}", "unequal numbers of links"),
    ],
)
def test_what_it_cannot_say_is_refused(source_of, text, said):
    fabric = "\nfabrics:\n  - {name: compute, topology: leaf-spine, switch: sn5600}\n"
    source = source_of(text + fabric)
    with pytest.raises(InputError, match=said):
        files_of(source)
