"""The netlist of ibsim: what is written is read again, and nothing else is."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gpufabric.errors import InputError
from gpufabric.formats import ibsim_netlist
from gpufabric.records.subnet import Subnet

PAIR = """caguid=0x10
Hca 1 "box:1"
[1] "leaf"[2]

switchguid=0x20
Switch 4 "leaf"
[2] "box:1"[1]

"""


def subnet_of(switches: int, ends: int, pairs: list[tuple[int, int]]) -> Subnet:
    """Return a subnet whose end ports hang on switches in turn, with more links between the given switches."""
    nodes = [(end, ends + end % switches) for end in range(ends)]
    nodes += [(ends + a % switches, ends + b % switches) for a, b in pairs if a % switches != b % switches]
    used = np.zeros(ends + switches, np.int16)
    ports = []
    for a, b in nodes:
        used[[a, b]] += 1
        ports.append((used[a], used[b]))
    return Subnet(
        names=(*(f"box {n}:osfp1/{n}" for n in range(ends)), *(f"leaf-{n}" for n in range(switches))),
        is_switch=np.arange(ends + switches) >= ends,
        ports=np.maximum(used, 1),
        guid=np.arange(ends + switches, dtype=np.int64) * 2 + 0x100,
        link_node=np.array(nodes, np.int32).reshape(-1, 2),
        link_port=np.array(ports, np.int16).reshape(-1, 2),
    )


def cables(subnet: Subnet) -> set[frozenset[tuple[int, int]]]:
    ends = np.stack([subnet.link_node, subnet.link_port], axis=2).tolist()
    return {frozenset({tuple(a), tuple(b)}) for a, b in ends}


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.integers(1, 5),
    st.integers(1, 9),
    st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), max_size=12),
)
def test_what_is_written_is_read_again(
    tmp_path: Path, switches: int, ends: int, pairs: list[tuple[int, int]]
):
    subnet = subnet_of(switches, ends, pairs)
    path = tmp_path / "net"
    path.write_text(ibsim_netlist.write(subnet))
    found = ibsim_netlist.read(path)
    assert found.names == subnet.names
    for column in ("is_switch", "ports", "guid"):
        np.testing.assert_array_equal(getattr(found, column), getattr(subnet, column))
    assert cables(found) == cables(subnet)
    assert ibsim_netlist.write(found) == ibsim_netlist.write(subnet)


def test_the_first_node_is_written_first():
    assert ibsim_netlist.write(subnet_of(1, 2, [])).startswith(
        'caguid=0x100\nHca 1 "box 0:osfp1/0"\n[1] "leaf-0"[1]\n'
    )


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (('[2] "box:1"[1]\n', ""), "net:3: is not what stands at the other end of the cable"),
        (('[2] "box:1"[1]', '[2] "box:1"[2]'), "other end of the cable"),
        (('[2] "box:1"[1]', '[5] "box:1"[1]'), "net:7: needs a port of 1 to 4 that has no cable yet"),
        (('[2] "box:1"[1]\n', '[2] "box:1"[1]\n[2] "box:1"[1]\n'), "has no cable yet"),
        (("Switch 4", "Switch 255"), "1 to 254 ports"),
        (('Switch 4 "leaf"', 'Switch 4 "box:1"'), "needs a new plain name"),
        (("Hca", "do unlink"), "net:2: is no line of a network file"),
        (("caguid=0x10", "include /etc/passwd"), "net:1: is no line of a network file"),
        (("leaf", "x" * 300), "is longer than 255 characters"),
        (('"leaf"', '"\x1b[2J"'), r"needs a new plain name .*x1b\[2J"),
    ],
)
def test_what_is_wrong_is_refused_with_its_place(tmp_path: Path, damage: tuple[str, str], message: str):
    path = tmp_path / "net"
    path.write_text(PAIR.replace(*damage))
    with pytest.raises(InputError, match=message):
        ibsim_netlist.read(path)


def test_comments_and_both_words_for_adapters_are_read(tmp_path: Path):
    path = tmp_path / "net"
    path.write_text("# found\n" + PAIR.replace("Hca", "Ca"))
    assert ibsim_netlist.read(path).names == ("box:1", "leaf")


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers(0, len(PAIR) - 1), st.binary(max_size=4))
def test_damaged_files_end_in_one_line_or_in_a_subnet(tmp_path: Path, at: int, bytes_: bytes):
    path = tmp_path / "net"
    raw = PAIR.encode()
    path.write_bytes(raw[:at] + bytes_ + raw[at + len(bytes_) :])
    said, nodes = "", 0
    try:
        nodes = len(ibsim_netlist.read(path))
    except InputError as error:
        said = str(error)
    assert "\n" not in said
    assert bool(said) != (0 < nodes <= 2) or path.read_bytes().isspace()


def test_names_that_ibsim_would_cut_or_misread_are_refused():
    subnet = subnet_of(1, 1, [])
    for name in ("x" * 64, "a@b", 'a"b', "a\nb", "leaf-0"):
        with pytest.raises(InputError, match="a node can't be named like this"):
            ibsim_netlist.write(replace(subnet, names=(name, "leaf-0")))
    with pytest.raises(InputError, match="has 300 ports; at most 254"):
        ibsim_netlist.write(replace(subnet, ports=np.array([1, 300], np.int16)))


def test_a_missing_file_is_said_in_one_line(tmp_path: Path):
    with pytest.raises(InputError, match="can't be read"):
        ibsim_netlist.read(tmp_path / "none")
