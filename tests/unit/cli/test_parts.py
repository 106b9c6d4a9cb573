"""``gpufabric parts`` and ``gpufabric parts show``."""

import json
import re
from typing import get_args

import pytest

from gpufabric.cli.run import run
from gpufabric.records.parts import PartKind


def test_parts_are_listed_by_kind(capsys):
    assert run(["parts", "--kind", "switch"]) == 0
    caught = capsys.readouterr()
    assert re.search(r"^qm9790\s+switch\s+NVIDIA\b.*64 × 400 Gb/s", caught.out, re.MULTILINE)
    assert "dgx-b200" not in caught.out
    assert re.match(r"\d+ parts; ", caught.err)


def test_the_json_list_holds_every_kind(capsys):
    assert run(["parts", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["format"] == "gpufabric/1"
    assert document["command"] == "parts"
    kinds = {part["kind"] for part in document["parts"]}
    assert kinds == set(get_args(PartKind))


def test_a_part_is_shown_with_its_numbered_sources(capsys):
    assert run(["parts", "show", "qm9790"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("qm9790: NVIDIA ")
    number = re.search(r"^throughput_bytes_per_s\s+25\.6 Tb/s\s+(\d+)", out, re.MULTILINE)
    assert number
    assert re.search(rf"^{number.group(1)}: .*https://", out, re.MULTILINE)


def test_a_server_is_shown_with_its_inside(capsys):
    assert run(["parts", "show", "dgx-h100"]) == 0
    out = capsys.readouterr().out
    assert re.search(r"beside GPU 0\).*rail 0", out)


def test_an_alias_leads_to_the_part(capsys):
    assert run(["parts", "show", "MQM9790-NS2F", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["id"] == "qm9790"


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["parts", "show", "qm979"], 'Did you mean "qm9790"?'),
        (["parts", "--kind", "swich"], 'Did you mean "switch"?'),
        (["parts", "--parts-folder", "no/such/folder"], "no/such/folder"),
        (["parts", "show", "\x1b[2J"], "\\x1b[2J"),
    ],
)
def test_what_is_not_there_is_one_line(words, expected, capsys):
    assert run(words) == 2
    error = capsys.readouterr().err
    assert expected in error
    assert error.count("\n") == 1
    assert "\x1b" not in error


def test_a_user_part_is_listed_and_shown(tmp_path, capsys):
    (tmp_path / "box-64.toml").write_text(
        'id = "box-64"\nkind = "switch"\nvendor = "Example"\nmodel = "Box 64"\nstatus = "generic"\nnetwork = "ethernet"\n'
        '[[cages]]\ncount = 64\nmodes = [{ports = 1, port_bytes_per_s = "400 Gb/s"}]\n'
    )
    assert run(["parts", "--parts-folder", str(tmp_path), "--kind", "switch"]) == 0
    assert re.search(r"^box-64\b.*64 × 400 Gb/s.*own", capsys.readouterr().out, re.MULTILINE)
    assert run(["parts", "show", "box-64", "--parts-folder", str(tmp_path)]) == 0
    assert capsys.readouterr().out.startswith("box-64: Example Box 64")
