"""Forwarding tables as OpenSM and dump_fts write them."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gpufabric.errors import InputError
from gpufabric.formats import opensm_tables
from gpufabric.records.forwarding_tables import NO_PORT

CAPTURED = Path(__file__).parents[2] / "captured" / "opensm"
SMALL = CAPTURED / "small-ftree.dump"


def test_a_dump_of_opensm():
    tables = opensm_tables.read(SMALL)
    assert set(tables.switch_names) == {"leaf-01", "leaf-02", "leaf-03", "leaf-04", "spine-01", "spine-02"}
    assert tables.out_port.shape == (6, 23)
    assert len(tables.end_port_lids) == 16
    assert (tables.out_port[:, tables.end_port_lids] != NO_PORT).all()
    # Every switch reaches itself over its port 0.
    assert (tables.out_port[np.arange(6), tables.switch_lid] == 0).all()
    assert [tables.lid_names[lid] for lid in tables.switch_lid] == list(tables.switch_names)
    first = tables.lid_names.index("srv01:cage1")
    assert tables.lid_guid[first] == 0x100001
    assert tables.out_port[tables.switch_names.index("leaf-01"), first] == 1


def test_a_dump_of_dump_fts_with_holes():
    tables = opensm_tables.read(CAPTURED / "pair-dump-fts.txt")
    assert tables.switch_names == ("west leaf", "east leaf")
    assert tables.switch_lid.tolist() == [0, 2]  # by direct route dump_fts does not print the LID
    assert tables.lid_names == ("", "alpha mlx5_0", "east leaf", "west leaf", "beta mlx5_0")
    assert tables.out_port.tolist() == [[NO_PORT, 4, 7, 0, NO_PORT], [NO_PORT, 1, 0, 7, 3]]
    assert tables.end_port_lids.tolist() == [1, 4]


HEAD = "Unicast lids [0-9] of switch Lid 2 guid 0x0000000000000020 ('leaf'):\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "x:1: no forwarding table begins in this file"),
        ("hello\n", r'x:1: is no line of a forwarding table \(found "hello"\)'),
        ("0x0001 001 # Switch portguid 0x1: 'a'\n", "x:1: does not fit the switch above it"),
        (HEAD + "0x000a 001 # Switch portguid 0x1: 'a'\n", "x:2: does not fit"),
        (HEAD + "0x0001 255 # Switch portguid 0x1: 'a'\n", "x:2: does not fit"),
        (HEAD + "0x0001 001 # Toaster 'a'\n", "x:2: does not say what has this LID"),
        (HEAD + HEAD, "x:2: is a second table of switch 0x0000000000000020"),
        (HEAD.replace("0-9", "0-99999"), "x:1: has more LIDs than a subnet"),
        (HEAD.replace("0x0", "0xf"), "impossible GUID"),
        (HEAD + "y" * 2000, "x:2: is longer than 1024 characters"),
        (HEAD.replace("leaf", "\x1b[31m") + "?\x1b[2J\n", r'x:2: is no line .* \(found "\?\\x1b\[2J"\)'),
    ],
)
def test_what_is_wrong_is_refused_with_its_place(tmp_path: Path, text: str, message: str):
    path = tmp_path / "x"
    path.write_text(text)
    with pytest.raises(InputError, match=message):
        opensm_tables.read(path)


def test_many_empty_switches_do_not_fill_the_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(opensm_tables, "_MAX_ENTRIES", 100_000)
    path = tmp_path / "x"
    path.write_text("".join(HEAD.replace("0-9", "0-49151").replace("0020", f"{n:04x}") for n in range(9)))
    with pytest.raises(InputError, match="x:3: has more LIDs than a subnet"):
        opensm_tables.read(path)


def test_names_lose_their_control_characters(tmp_path: Path):
    path = tmp_path / "x"
    path.write_text(
        HEAD + "0x0001 001 # Channel Adapter portguid 0x1: 'a\x1b[2Jb'\n0x0002 003 # unknown node and type\n"
    )
    tables = opensm_tables.read(path)
    assert tables.lid_names[1] == "a\\x1b[2Jb"
    assert tables.lid_names[2] == ""
    assert tables.out_port[0, 2] == 3


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers(0, SMALL.stat().st_size - 1), st.binary(max_size=6))
def test_damaged_files_end_in_one_line_or_in_tables(tmp_path: Path, at: int, bytes_: bytes):
    raw = SMALL.read_bytes()
    path = tmp_path / "x"
    path.write_bytes(raw[:at] + bytes_ + raw[at + len(bytes_) :])
    said, switches = "", 0
    try:
        switches = len(opensm_tables.read(path).switch_names)
    except InputError as error:
        said = str(error)
    assert "\n" not in said
    assert bool(said) != (switches > 0)


def test_a_missing_file_is_said_in_one_line(tmp_path: Path):
    with pytest.raises(InputError, match="can't be read"):
        opensm_tables.read(tmp_path / "none")
