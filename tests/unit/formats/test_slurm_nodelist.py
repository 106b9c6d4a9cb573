"""Compressed node lists of Slurm."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpufabric.errors import InputError
from gpufabric.formats import slurm_nodelist
from gpufabric.formats.slurm_nodelist import expand

CAPTURED = Path(__file__).parents[2] / "captured" / "ranks"


@pytest.mark.parametrize(
    ("text", "hosts"),
    [
        ("srv[001-004,007]", ["srv001", "srv002", "srv003", "srv004", "srv007"]),
        ("a,b", ["a", "b"]),
        ("n[9-11]", ["n9", "n10", "n11"]),
        ("n[08-10],m1", ["n08", "n09", "n10", "m1"]),
        ("r[1-2]-n[1-2]-ib", ["r1-n1-ib", "r1-n2-ib", "r2-n1-ib", "r2-n2-ib"]),
        ("su01-srv[07, 09]", ["su01-srv07", "su01-srv09"]),
    ],
)
def test_lists_expand_in_their_order(text, hosts):
    assert expand(text) == hosts


def test_a_file_may_hold_what_scontrol_prints():
    found = slurm_nodelist.read(str(CAPTURED / "scontrol.txt"))
    racks = [f"rack{r}-n{n}" for r in (1, 2) for n in ("08", "09", "10")]
    assert found.host == ("cab1", "cab2", "cab4", *racks)
    assert found.source == "slurm scontrol.txt"
    assert set(found.ranks) == {0}


def test_a_file_may_hold_one_host_a_line_or_the_variable(tmp_path):
    path = tmp_path / "nodes"
    path.write_text("# of job 12\na1\na2\n")
    assert slurm_nodelist.read(str(path)).host == ("a1", "a2")
    path.write_text("SLURM_JOB_NODELIST=a[3-4]\n")
    assert slurm_nodelist.read(str(path)).host == ("a3", "a4")
    assert slurm_nodelist.read("SLURM_JOB_NODELIST=a[3-4]").host == ("a3", "a4")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "is empty"),
        ("a,,b", "empty place"),
        ("a[1-2", "no closing bracket"),
        ("a[1-[2]]", "bracket inside a bracket"),
        ("a[4-2]", "no range"),
        ("a[1;2]", "not a host name"),
        ("a]", "not a host name"),
        ("a[1-9999999]", "more than 1,000,000 hosts"),
        ("a[1-99999999999]", "no range"),
        ("a[1-1000][1-1000][1-1000]", "more than 1,000,000 hosts"),
        ("a" + "[1-2]" * 9, "too many brackets"),
        ("a" + "[1-900000]" * 9, "too many brackets"),
        ("a" * 200 + "[1]" + "b" * 200, "more than 255 characters"),
        ("a,a", "named twice"),
        ("\x1b[31m", "not a host name|no range|no closing"),
        ("a[1],b" * 200_000, "characters; allowed"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(text, reason):
    with pytest.raises(InputError, match=reason) as error:
        slurm_nodelist.read(text)
    assert str(error.value).isprintable()


@given(first=st.integers(0, 9999), count=st.integers(1, 50), width=st.integers(1, 6))
def test_a_range_has_every_number_once_and_keeps_its_zeros(first, count, width):
    hosts = expand(f"n[{first:0{width}d}-{first + count - 1}]")
    assert [int(host[1:]) for host in hosts] == list(range(first, first + count))
    assert all(len(host) >= width + 1 for host in hosts)


@given(st.text(alphabet="ab[]-,0129 \x1b", max_size=40))
def test_any_text_is_hosts_or_one_line(text):
    try:
        hosts = expand(text)
    except InputError as error:
        said = str(error)
    else:
        said = ""
        assert all(hosts)
    assert said.isprintable()
