"""What cluster and job descriptions refuse, and how they say it."""

import re
from pathlib import Path

import pytest

from gpufabric.errors import InputError, SpecError
from gpufabric.formats.cluster_yaml import parse_cluster_spec, read_cluster_spec
from gpufabric.formats.job_yaml import read_job_spec

CAPTURED = Path(__file__).parents[2] / "captured" / "descriptions"
READERS = {"cluster": read_cluster_spec, "job": read_job_spec}
BAD = sorted(CAPTURED.glob("*/bad/*.yaml"))


@pytest.mark.parametrize("file", BAD, ids=lambda f: f"{f.parts[-3]}/{f.stem}")
def test_bad_descriptions_say_where_what_and_what_to_do(file):
    expected = re.search("^# expect: (.*)$", file.read_text(), re.MULTILINE)
    assert expected is not None
    with pytest.raises(SpecError) as caught:
        READERS[file.parts[-3]](file)
    line, _, message = expected.group(1).partition(": ")
    assert str(caught.value).split("\n")[0].startswith(f"{file}:{line}: {message}")


def test_every_error_is_printed_in_the_order_of_the_file():
    with pytest.raises(SpecError) as caught:
        read_cluster_spec(CAPTURED / "cluster" / "bad" / "several.yaml")
    lines = [line.split(".yaml:")[1] for line in str(caught.value).split("\n")]
    assert [line.split(" ")[:2] for line in lines] == [
        ["2:", "count"],
        ["5:", "link_rate:"],
        ["6:", "oversubscription"],
        ["7:", "takes_server"],
        ["8:", "tiers"],
        ["9:", "spine"],
    ]


def test_a_thousand_errors_are_cut_short():
    keys = "\n".join(f"key{i}: 1" for i in range(1000))
    with pytest.raises(SpecError) as caught:
        parse_cluster_spec(f"preset: superpod-b200\n{keys}\n", "x.yaml")
    lines = str(caught.value).split("\n")
    assert len(lines) == 21
    assert lines[-1] == "… and 980 more errors"


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", r"is empty; write a mapping"),
        (b"# only a comment\n", r"is empty; write a mapping"),
        (b"name: \xff\n", r":1: is not UTF-8 text; save the file as UTF-8"),
        (b"\n\nname: a\x00b\n", r":3: holds the character U\+0000, which YAML forbids; remove it"),
        (b"#" * (2**20 + 1), r": is larger than 1 MiB; a description has at most 1 MiB"),
        (b"[" * 100_000, r":1: is nested deeper than 32 levels; write it flatter"),
        (b"x: " + b"9" * 500, r":1: holds a number of 500 digits; write a number of at most 400"),
        (b"name: " + b"[a, " * 40, r":1: is nested deeper than 32 levels; write it flatter"),
        (b"[a, b]: c", r":1: has a key that is not a word; write keys as plain words"),
        (b"text", r":1: is not a mapping; write a mapping of keys"),
    ],
)
def test_unusable_files(tmp_path, data, message):
    file = tmp_path / "c.yaml"
    file.write_bytes(data)
    with pytest.raises(InputError, match="^" + re.escape(str(file)) + ".*" + message) as caught:
        read_cluster_spec(file)
    assert "\n" not in str(caught.value)


def test_a_byte_order_mark_is_no_part_of_the_first_key(tmp_path):
    file = tmp_path / "c.yaml"
    file.write_bytes(b"\xef\xbb\xbfpreset: superpod-a100\n")
    assert read_cluster_spec(file).servers[0].count == 20


def test_missing_files_and_folders(tmp_path):
    with pytest.raises(
        InputError, match=r"none\.yaml: no such file; give the path of a description in YAML$"
    ):
        read_cluster_spec(tmp_path / "none.yaml")
    with pytest.raises(InputError, match=r": is a folder; give the path of a description in YAML$"):
        read_cluster_spec(tmp_path)
    with pytest.raises(InputError, match=r"^a\\x00b: can't be read \(not a usable path\)"):
        read_cluster_spec("a\0b")


@pytest.mark.parametrize("number", ["10000000000", "1" + "0" * 399, "-5", "0", "1e3", ".inf", "true", "null"])
def test_no_number_out_of_range_is_a_traceback(number):
    text = f"servers: {{model: a, count: 3}}\nfabrics: {{topology: fat-tree, planes: {number}}}\n"
    if number == "null":
        assert parse_cluster_spec(text, "x").fabrics[0].planes is None
        return
    with pytest.raises(SpecError, match=r"^x:2: planes .*; allowed is 1 to 64; "):
        parse_cluster_spec(text, "x")
