"""Strict readers of simulator inputs: what their programs would silently take wrongly is refused in one line."""

import io
import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpufabric.errors import InputError
from gpufabric.formats import (
    astra_network_yaml,
    chakra_trace,
    goal_schedule,
    htsim_connections,
    htsim_topology,
    infragraph_json,
    simai_bus_bandwidth,
    simai_topology,
)
from gpufabric.records.simulator_inputs import AnalyticalDimension, HtsimConnections

ASTRA = "topology: [ Switch, Ring ]\nnpus_count: [ 8, 4 ]\nbandwidth: [ 400.0, 25 ]  # GB/s\nlatency: [ 936.25, 500 ]\n"
SIMAI = (
    "5 2 1 2 5 H100\n2 3 4\n0 2 2400Gbps 0.000025ms 0\n1 2 2400Gbps 0.000025ms 0\n0 3 400Gbps 0.0005ms 0\n"
)
SIMAI += "1 3 400Gbps 0.0005ms 0\n3 4 1600Gbps 0.0005ms 0\n"
BUS = "test\nTP:\nallreduce,: 300\nalltoall,: null\nPP:\nbusbw: 47.5\n"
TOPO = "# own\nNodes 16\nTiers 2\nPodsize 16\n\nTier 0\nDownlink_speed_Gbps 200\nRadix_Down 4\nRadix_Up 2\n"
TOPO += "Downlink_Latency_ns 700\nOversubscribed 2\n\nTier 1\nDownlink_speed_Gbps 200\n"
TOPO += "Radix_Down 4\nDownlink_Latency_ns 900\nBundle 1\n"
MATRIX = "Nodes 4\nConnections 2\n0->1 id 1 start 0 size 4096\n2->3 id 2 start 1000000 size 8192\n"
GOAL = "num_ranks 2\n\nrank 0 {\nl1: send 8b to 1 tag 3\nl2: recv 8b from 1 tag 4\nl2 requires l1\n}\n"
GOAL += "rank 1 {\nl1: recv 8b from 0 tag 3\nl2: send 8b to 0 tag 4\n}\n"
READERS = {
    "astra": (astra_network_yaml.read, ASTRA),
    "simai": (simai_topology.read, SIMAI),
    "bus": (simai_bus_bandwidth.read, BUS),
    "topo": (htsim_topology.read, TOPO),
    "matrix": (htsim_connections.read, MATRIX),
    "goal": (goal_schedule.read, GOAL),
}


def read(kind: str, text: str):
    reader, _ = READERS[kind]
    return reader(io.BytesIO(text.encode()), f"{kind}.txt")


def test_astra_network():
    first, second = read("astra", ASTRA)
    assert first == AnalyticalDimension("Switch", 8, 400 * 2**30, pytest.approx(936.25e-9))
    assert (second.topology, second.npus) == ("Ring", 4)
    again = astra_network_yaml.read(io.BytesIO(astra_network_yaml.write((first, second)).encode()), "again")
    assert again == (first, second)


def test_simai_topology():
    topology = read("simai", SIMAI)
    assert (topology.gpus, topology.gpu_type) == (2, "H100")
    assert topology.bytes_per_s.tolist() == [300e9, 300e9, 50e9, 50e9, 200e9]
    assert topology.delay_s[2] == pytest.approx(500e-9)
    assert "\n".join(simai_topology.write(topology)) + "\n" == SIMAI


def test_bus_bandwidths():
    rates = read("bus", BUS)
    assert rates == {("TP", "allreduce"): 300 * 2**30, ("PP", "busbw"): 47.5 * 2**30}
    assert read("bus", simai_bus_bandwidth.write(rates, "a comment")) == rates


def test_htsim_topology():
    topology = read("topo", TOPO)
    assert topology.switches == (4, 2)
    assert topology.tiers[0].bytes_per_s == 25e9
    assert read("topo", htsim_topology.write(topology, "again")) == topology


def test_htsim_connections():
    flows = read("matrix", MATRIX)
    assert flows.start_s.tolist() == [0.0, pytest.approx(1e-6)]
    assert "\n".join(htsim_connections.write(flows)) + "\n" == MATRIX


def test_goal():
    schedule = read("goal", GOAL)
    assert schedule.ranks[0][1].after == (0,)
    assert read("goal", "\n".join(goal_schedule.write(schedule)) + "\n") == schedule


@pytest.mark.parametrize(
    ("kind", "old", "new", "said"),
    [
        ("astra", "Ring", "Mesh", "allowed are Ring, FullyConnected, Switch"),
        ("astra", "[ 8, 4 ]", "[ 8 ]", "not equally long"),
        ("astra", "[ 8, 4 ]", "[ 8, 1 ]", "whole number of 2 or more"),
        ("astra", "400.0", "0", "bandwidth is 0"),
        ("astra", "latency", "delay", "one of the four lists"),
        ("simai", "5 2 1 2 5", "5 2 1 2 6", "5 links follow"),
        ("simai", "2 3 4\n", "2 3\n", "does not list every switch once"),
        ("simai", "3 4 1600", "0 1 1600", "two GPUs are linked"),
        ("simai", "3 4 1600", "1 3 1600", "two nodes are linked twice"),
        ("simai", "400Gbps", "400GBps", "write such as 400Gbps"),
        ("simai", "5 2 1 2 5", "99999 2 1 2 5", "at most 65,536 nodes"),
        ("bus", "PP:", "QP:", "is no group"),
        ("bus", "alltoall,", "gather,", "is not understood"),
        ("topo", "Radix_Up 2", "Radix_Up 1", "do not fit oversubscription"),
        ("topo", "Podsize 16", "Podsize 8", "can't build it"),
        ("topo", "Bundle 1", "Bundles 1", "is no key of this place"),
        ("topo", "Downlink_Latency_ns 900\n", "", "downlink_latency_ns is missing"),
        ("topo", "Tier 1", "Tier 2", "tier 1 comes next"),
        ("matrix", "Connections 2", "Connections 3", "2 flows follow"),
        ("matrix", "size 8192", "size 2147483648", "S below 2\\^31"),
        ("matrix", "2->3", "2->4", "nodes below 4"),
        ("goal", "from 0 tag 3", "from 0 tag 5", "no receive that fits"),
        ("goal", "l2 requires l1", "l2 requires l9", "no operation or dependency"),
        ("goal", "rank 1 {", "rank 2 {", "write rank 1"),
        ("goal", "num_ranks 2", "num_ranks 999999999", "up to 100,000"),
    ],
)
def test_refusals_say_what_is_allowed(kind, old, new, said):
    text = READERS[kind][1]
    assert old in text
    with pytest.raises(InputError, match=said) as caught:
        read(kind, text.replace(old, new))
    assert "\n" not in str(caught.value)


@settings(max_examples=25)
@given(
    kind=st.sampled_from(sorted(READERS)),
    place=st.floats(0, 1),
    junk=st.text(max_size=8),
    cut=st.integers(0, 6),
)
def test_damaged_files_raise_nothing_else(kind, place, junk, cut):
    text = READERS[kind][1]
    at = int(place * len(text))
    try:
        assert read(kind, text[:at] + junk + text[at + cut :]) is not None
    except InputError as error:
        assert "\n" not in str(error)  # noqa: PT017 - either outcome is right


@settings(max_examples=25)
@given(data=st.binary(max_size=40), at=st.integers(0, 60))
def test_damaged_traces_raise_nothing_else(data, at):
    good = b"\x07\x0a\x050.0.4" + b"\x06\x08\x01\x12\x00\x18\x07"
    try:
        trace = chakra_trace.read(good[:at] + data + good[at:], "t.et")
        assert len(trace.nodes) >= 0
    except InputError as error:
        assert "\n" not in str(error)  # noqa: PT017 - either outcome is right


def test_traces_that_announce_too_much_are_refused():
    with pytest.raises(InputError, match="too large a message"):
        chakra_trace.read(b"\xff\xff\xff\xff\x0f", "t.et")
    with pytest.raises(InputError, match="begins no message"):
        chakra_trace.read(b"\xff" * 8, "t.et")
    with pytest.raises(InputError, match="is empty"):
        chakra_trace.read(b"", "t.et")


def test_no_flow_is_a_matrix_too():
    none = np.zeros(0, np.int64)
    flows = HtsimConnections(2, none, none, none, np.zeros(0))
    assert len(read("matrix", "\n".join(htsim_connections.write(flows))).sender) == 0


GRAPH = {
    "name": "own",
    "devices": [
        {
            "name": "box",
            "components": [{"name": "port", "count": 2, "choice": "port", "port": {}}],
            "links": [{"name": "in"}],
            "edges": [
                {
                    "ep1": {"component": "port[0]"},
                    "ep2": {"component": "port[1]"},
                    "scheme": "one2one",
                    "link": "in",
                }
            ],
        }
    ],
    "links": [
        {
            "name": "wire",
            "physical": {"bandwidth": {"choice": "gigabits_per_second", "gigabits_per_second": 400}},
        },
        {
            "name": "bus",
            "physical": {"bandwidth": {"choice": "gigabytes_per_second", "gigabytes_per_second": 50}},
        },
    ],
    "instances": [{"name": "node", "device": "box", "count": 2}],
    "edges": [
        {
            "ep1": {"instance": "node[0]", "component": "port[1]"},
            "ep2": {"instance": "node[1]", "component": "port[0]"},
            "scheme": "one2one",
            "link": name,
        }
        for name in ("wire", "bus")
    ],
}


def test_gigabits_and_gigabytes_are_told_apart(tmp_path):
    path = tmp_path / "graph.json"
    path.write_text(json.dumps(GRAPH))
    graph = infragraph_json.read(path)
    assert [edge.bytes_per_s for edge in graph.edges] == [50e9, 50e9]
    assert graph.inner_edges == {"box": 1}


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('"node[1]"', '"node[2]"', "beyond its count"),
        ('"port[1]"}, "scheme"', '"port[2]"}, "scheme"', "beyond its count"),
        ('"link": "bus"', '"link": "train"', "known link"),
        ('"choice": "gigabytes_per_second"', '"choice": "terabytes_per_second"', "does not say its unit"),
        ('"count": 2, "choice"', '"count": 0, "choice"', "no whole number above 0"),
        ('"name": "node"', '"name": "no de"', "other characters"),
        ('"device": "box"', '"device": "fox"', "unknown device"),
        ("{", "[", "is no JSON"),
    ],
)
def test_what_infragraph_would_refuse(tmp_path, old, new, said):
    path = tmp_path / "graph.json"
    text = json.dumps(GRAPH)
    assert old in text
    path.write_text(text.replace(old, new))
    with pytest.raises(InputError, match=said):
        infragraph_json.read(path)
