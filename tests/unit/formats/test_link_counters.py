"""Counters of ports from five tools."""

import io
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gpufabric.formats.ethernet_counters import read_ethtool_statistics, read_mlxlink, read_sonic_counters
from gpufabric.formats.infiniband_counters import read_ibqueryerrors, read_perfquery
from gpufabric.records.link_counters import COUNTERS

CAPTURED = Path(__file__).parents[2] / "captured" / "link-counters"
READERS = {
    "perfquery.txt": read_perfquery,
    "ibqueryerrors.txt": read_ibqueryerrors,
    "basalt-n01-ethtool.txt": read_ethtool_statistics,
    "basalt-leaf1-counters.txt": read_sonic_counters,
    "basalt-n01-mlxlink.txt": read_mlxlink,
}


def read(file):
    found = READERS[file](CAPTURED / file)
    assert found.lines_not_understood == 0
    assert found.findings == ()
    return {(port.device, port.port): (port.line, dict(port.values)) for port in found.ports}


def test_perfquery():
    assert read("perfquery.txt") == {
        ("lid 4", "17"): (
            1,
            {
                "symbol_errors": 12,
                "link_recoveries": 0,
                "link_downs": 3,
                "receive_errors": 1,
                "transmit_drops": 0,
                "transmit_waits": 998877,
            },
        )
    }


def test_ibqueryerrors_leaves_sums_out():
    assert read("ibqueryerrors.txt") == {
        ("amber-leaf1", "3"): (3, {"symbol_errors": 40, "link_downs": 5, "transmit_waits": 4096}),
        ("amber-n02 mlx5_5", "1"): (6, {"receive_errors": 7}),
    }


def test_ethtool():
    assert read("basalt-n01-ethtool.txt") == {
        ("basalt-n01", "enp24s0"): (
            2,
            {
                "link_downs": 2,
                "receive_errors": 3,
                "receive_pauses": 45,
                "no_buffer_drops": 6,
                "received_bytes": 1234567890123,
            },
        )
    }


def test_sonic_names_the_switch_by_its_prompt():
    found = read("basalt-leaf1-counters.txt")
    assert set(found) == {("basalt-leaf1", "Ethernet0"), ("basalt-leaf1", "Ethernet8")}
    line, values = found["basalt-leaf1", "Ethernet0"]
    assert line == 5
    assert values == {
        "receive_errors": 9,
        "receive_drops": 2,
        "transmit_errors": 0,
        "transmit_drops": 5,
        "buffer_overruns": 0,
    }


def test_mlxlink_tells_since_when():
    ((_, values),) = read("basalt-n01-mlxlink.txt").values()
    assert values == {
        "symbol_errors": 4,
        "link_downs": 1,
        "raw_ber": 2e-10,
        "effective_ber": 15e-255,
        "since_clear_s": 5400,
    }


@pytest.mark.parametrize("file", READERS)
@given(data=st.data())
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_mutated_files_never_raise(file, data):
    text = bytearray((CAPTURED / file).read_bytes())
    for _ in range(data.draw(st.integers(1, 5))):
        at = data.draw(st.integers(0, max(len(text) - 1, 0)))
        to = data.draw(st.integers(at, min(at + 40, len(text))))
        text[at:to] = data.draw(st.binary(max_size=10)) * data.draw(st.integers(0, 30))
    found = READERS[file](io.BytesIO(bytes(text)), "x")
    assert all(set(port.values) <= set(COUNTERS) for port in found.ports)


@pytest.mark.parametrize("file", READERS)
@pytest.mark.parametrize("text", [b"", b"hello\n" * 30, b"x" * 70_000, b" " * 70_000, b"a:" * 30_000])
def test_foreign_text_has_no_counters(file, text):
    found = READERS[file](io.BytesIO(text), "x")
    assert found.ports == ()
    assert [finding.rule for finding in found.findings if finding.severity == "error"] == [
        "found-no-counters"
    ]
