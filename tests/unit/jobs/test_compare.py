"""Alternatives side by side: wired counts, floors, and why some can't be built."""

import json

import numpy as np
import pytest

from gpufabric.catalog.load import load_catalog
from gpufabric.cli.run import run
from gpufabric.errors import InputError, PartError
from gpufabric.jobs.alternatives import CompareRequest, classic_alternatives
from gpufabric.jobs.compare import chosen_alternatives, compare, described_alternatives
from gpufabric.jobs.port_arithmetic import clos_floor, mesh_floor, switch_floor
from gpufabric.jobs.racked_cluster import racked_cluster
from gpufabric.report.changes_text import SHOWN, change_lines
from gpufabric.report.design_json import design_document

CATALOG = load_catalog()
SMALL = """
name: growing
units: {units}
{grow}
servers: {{model: dgx-b200}}
fabrics: {{name: compute, topology: rail-optimized, switch: qm9790, unit_servers: 32}}
"""


@pytest.fixture
def description(tmp_path):
    """Write a description of so many units and return its path."""

    def write(name, units, grow_to=None):
        path = tmp_path / f"{name}.yaml"
        path.write_text(SMALL.format(units=units, grow=f"grow_to: {grow_to}" if grow_to else ""))
        return str(path)

    return write


def rows_of(gpus, **parts):
    found = compare(classic_alternatives(CompareRequest(gpus, **parts), gpus, CATALOG)).to_dict()
    return {row["name"]: row for row in found["rows"]}


@pytest.mark.slow
def test_the_classic_story_of_200_000_gpus():
    rows = rows_of(200_000)
    mesh = rows["full mesh, GPU by GPU"]
    assert not mesh["buildable"]
    assert (mesh["floor"]["ports_per_gpu"], mesh["floor"]["cables"]) == (199_999, 19_999_900_000)
    assert "199,999 ports a GPU and 19,999,900,000 cables" in mesh["reason"]
    one = rows["one giant switch"]
    largest = max(
        (switch_radix(part), part.id) for part in CATALOG.of_kind("switch") if part.network == "ethernet"
    )
    assert not one["buildable"]
    assert one["floor"]["switch_ports"] == 200_000
    assert f"{largest[0]} ({largest[1]})" in one["reason"]
    two = rows["leaf-spine, two tiers"]
    assert not two["buildable"]
    assert two["floor"]["most_endpoints"] == 128**2 // 2
    assert two["nearest"]
    three = rows["fat tree, three tiers"]
    assert three["buildable"]
    assert three["floor"]["switches"] == {"leaf": 3_125, "spine": 3_125, "core": 1_563}
    assert three["switches"] == {"leaf": 3_125, "spine": 3_136, "core": 2_048}
    assert three["gpus"] == 200_000
    assert (three["near_hops"], three["far_hops"]) == (1, 5)
    rails = rows["rail-optimized"]
    assert rails["switches"] == {"leaf": 3_128, "spine": 3_136, "core": 2_048}
    assert rails["near_gpus"] == 512
    assert three["near_gpus"] == 64


def switch_radix(part):
    rates = [
        (mode.ports * group.count)
        for group in part.cages
        if group.purpose == "fabric"
        for mode in group.modes
        if np.isclose(mode.port_bytes_per_s, 50e9)
    ]
    return max(rates, default=0)


def test_every_buildable_row_is_what_a_design_of_it_counts():
    chosen = classic_alternatives(CompareRequest(1024), 1024, CATALOG)
    for alternative, row in zip(chosen, compare(chosen).rows, strict=True):
        if not row.buildable:
            assert row.reason
            assert row.nearest
            continue
        racked = racked_cluster(alternative.spec, CATALOG)
        document = design_document(racked.cluster, racked.parts)
        fabric = document["fabrics"][0]
        found = row.to_dict()
        assert found["cables"] == document["assemblies"]
        for key in (
            "switches",
            "links",
            "planes",
            "bisection_bytes_per_s",
            "injection_bytes_per_s",
            "power_w",
        ):
            assert found[key] == fabric[key]


@pytest.mark.parametrize("gpus", [2, 8, 9, 1000, 4096])
def test_no_wired_count_is_below_its_floor(gpus):
    for row in rows_of(gpus, nic_rate="400 Gb/s").values():
        if row["buildable"] and row["floor"] and row["floor"]["switches"]:
            wired = row["switches"]
            if row["tiers"] == len(row["floor"]["switches"]):
                assert all(wired[role] >= count for role, count in row["floor"]["switches"].items())
            assert row["gpus"] >= gpus


def test_small_numbers_can_be_meshed():
    rows = rows_of(64)
    mesh = rows["full mesh, server by server"]
    assert mesh["buildable"]
    assert (mesh["near_hops"], mesh["far_hops"], mesh["switches"]) == (
        0,
        0,
        {"leaf": 0, "spine": 0, "core": 0},
    )
    assert mesh["floor"]["ports_per_server"] == 7
    assert rows_of(2)["full mesh, GPU by GPU"]["cables"] == 1


def test_floors():
    assert mesh_floor(200_000, "gpu").cables == 19_999_900_000
    assert mesh_floor(1, "server").cables == 0
    assert switch_floor(200_000, 8, 128).switch_ports == 25_000
    assert clos_floor(200_000, 1, 128, 3).most_endpoints == 128**3 // 4
    assert clos_floor(8_192, 1, 128, 2).switches == {"leaf": 128, "spine": 64}
    assert clos_floor(3, 1, 1, 2).switches == {"leaf": 3, "spine": 3}


def test_a_switch_without_the_rate_is_a_reason_in_every_row_with_switches():
    rows = rows_of(64, switch="sn2201")
    assert all("400 Gb/s" in row["reason"] for name, row in rows.items() if "mesh" not in name)


@pytest.mark.parametrize(
    ("request_of", "error", "says"),
    [
        (CompareRequest(1), InputError, "allowed is 2 to"),
        (CompareRequest(10**9), InputError, "allowed is 2 to"),
        (CompareRequest(8, server="dgx-h100", nic_rate="400 Gb/s"), InputError, "both given"),
        (CompareRequest(8, nic_rate="fast"), InputError, "fast"),
        (CompareRequest(8, server="dgx-h1000"), PartError, "dgx-h1000"),
        (CompareRequest(8, switch="sn56000"), PartError, "sn56000"),
    ],
)
def test_what_can_not_be_asked_is_one_line(request_of, error, says):
    with pytest.raises(error, match=says):
        chosen_alternatives((), request_of)


def test_descriptions_are_named_by_their_clusters_or_files(description):
    old, new = description("old", 1), description("new", 2)
    assert [a.name for a in described_alternatives([old, "superpod-h100"])] == ["growing", "superpod-h100"]
    assert [a.name for a in described_alternatives([old, new])] == [old, new]
    with pytest.raises(InputError, match="at least two"):
        described_alternatives([old])
    with pytest.raises(InputError, match="read once"):
        described_alternatives(["-", "-"])


def test_growth_with_room_moves_nothing(description, capsys):
    assert run(["compare", description("old", 1, 4), description("new", 4), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    changes = document["changes"]
    assert changes["links"] == {"kept": 512, "moved": 0, "added": 1536, "removed": 0}
    assert len(changes["links_added"]) == 1536
    assert [row["switches"]["spine"] for row in document["rows"]] == [16, 16]


def test_growth_without_room_names_the_cables_to_move(description, capsys):
    assert run(["compare", description("old", 1), description("new", 2)]) == 0
    out = capsys.readouterr().out
    assert "move: leaf-su01-r1:" in out
    assert "more links to move; --json lists them all" in out


def test_changes_are_shown_when_the_name_is_the_same_or_asked_for(description, capsys):
    assert run(["compare", description("old", 1), "superpod-b200"]) == 0
    assert "moved" not in capsys.readouterr().out
    assert run(["compare", description("old", 1), "superpod-b200", "--changes"]) == 0
    assert "moved" in capsys.readouterr().out
    assert run(["compare", description("old", 1), description("new", 2), "--no-changes"]) == 0
    assert "moved" not in capsys.readouterr().out


@pytest.mark.parametrize(
    "words",
    [
        ["compare"],
        ["compare", "superpod-b200"],
        ["compare", "superpod-b200", "--gpus", "8"],
        ["compare", "superpod-b200", "superpod-h100", "--switch", "sn5600"],
        ["compare", "--gpus", "8", "--changes"],
        ["compare", "--gpus", "1"],
        ["compare", "no-such.yaml", "superpod-b200"],
    ],
)
def test_bad_words_are_one_line_with_status_2(words, capsys):
    assert run(words) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("gpufabric: ")
    assert err.count("\n") == 1


def test_a_comparison_with_something_that_can_not_be_built_is_fine(tmp_path, capsys):
    path = tmp_path / "big.yaml"
    path.write_text(
        "name: growing\nservers: {model: dgx-b200, count: 4000}\n"
        "fabrics: {topology: single-switch, switch: qm9790}\n"
    )
    assert run(["compare", str(path), "superpod-b200"]) == 0
    assert "growing can't be built: one qm9790 has 64 ports" in capsys.readouterr().out
    assert run(["compare", str(path), "superpod-b200", "--changes"]) == 2


def test_long_lists_of_changes_are_shortened():
    many = [{"what": "removed", "old_a": "a", "old_b": "b", "new_a": "", "new_b": ""}] * (SHOWN + 5)
    lines = change_lines(
        {"links_moved": [], "links_removed": many, "replaced": [("x", "p", "q")], "relabelled": [("x", "y")]}
        | {
            "devices": {"kept": 5, "moved": 1},
            "links": {"kept": 7, "moved": 2},
            "elsewhere": [("srv01", "A01-U01", "B01-U09")],
            "recabled": [
                {
                    "a": "srv01:1",
                    "b": "leaf-1:2",
                    "old_part": "c1",
                    "new_part": None,
                    "old_length_m": 2.0,
                    "new_length_m": None,
                }
            ],
        }
    )
    assert lines[0].startswith("1 of 6 devices that stay stand in another rack or unit; 1 of 9 links")
    assert lines[-2] == "stands elsewhere: srv01, A01-U01 → B01-U09"
    assert lines[-1] == "another cable: srv01:1 – leaf-1:2, c1 2 m → part unknown ? m"
    assert lines[SHOWN + 1] == "and 5 more links to remove; --json lists them all"
    assert lines[-4:-2] == ["replace: x, p by q", "relabel: x → y"]
