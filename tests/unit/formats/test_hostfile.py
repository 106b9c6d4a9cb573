"""Hostfiles as Open MPI and MPICH read them."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpufabric.errors import InputError
from gpufabric.formats import hostfile
from gpufabric.records.cluster_spec import MAX_SERVERS
from gpufabric.records.rank_places import MAX_HOST_RANKS

CAPTURED = Path(__file__).parents[2] / "captured" / "ranks"


def test_slots_of_open_mpi():
    found = hostfile.read(CAPTURED / "openmpi.hosts")
    assert found.host == ("su01-srv02", "su01-srv01.fabric.example", "su02-srv01")
    assert found.ranks == (8, 4, 8)
    assert found.gpu == (-1, -1, -1)
    assert found.source == "hostfile openmpi.hosts"


def test_colons_of_mpich_and_a_plain_name_takes_the_whole_host():
    found = hostfile.read(CAPTURED / "mpich.hosts")
    assert list(zip(found.host, found.ranks, strict=True)) == [("donner", 2), ("foo", 3), ("shakey", 0)]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", r"names no host"),
        ("# nothing\n", r"names no host"),
        ("a slots=0", r':1: slots "0" is out of range; allowed is 1 to 4,096'),
        ("a slots=99999999999999999999", "out of range"),
        ("a slots=eight", 'slots "eight"'),
        ("a:4097", "out of range"),
        ("ok\n+n0 slots=1", r':2: "\+n0 slots=1" is no line of a hostfile'),
        ("a b c", "no line of a hostfile"),
        ("\x1b[31mred\x1b[0m!", "no line of a hostfile"),
        ("x" * 300, "no line of a hostfile"),
        ("a" * 70_000, "no line of a hostfile"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(tmp_path, text, reason):
    path = tmp_path / "hosts"
    path.write_text(text)
    with pytest.raises(InputError, match=reason) as error:
        hostfile.read(path)
    assert "\n" not in str(error.value)
    assert str(error.value).isprintable()


def test_a_missing_file_is_one_line(tmp_path):
    with pytest.raises(InputError, match="can't be read"):
        hostfile.read(tmp_path / "none")


@given(data=st.binary(max_size=300))
def test_whatever_the_file_holds_it_is_hosts_or_one_line(tmp_path_factory, data):
    path = tmp_path_factory.mktemp("any") / "hosts"
    path.write_bytes(data)
    try:
        found = hostfile.read(path)
    except InputError as error:
        said = str(error)
    else:
        said = ""
        assert 1 <= len(found) <= MAX_SERVERS
        assert all(0 <= ranks <= MAX_HOST_RANKS for ranks in found.ranks)
    assert "\n" not in said
