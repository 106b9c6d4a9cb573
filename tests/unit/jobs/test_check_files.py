"""Files of any kind in one report."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from gpufabric.cli.run import run
from gpufabric.errors import InputError
from gpufabric.jobs.check_files import split_spec

COUNTERS = str(Path(__file__).parents[2] / "captured" / "link-counters" / "ibqueryerrors.txt")
LOG = str(Path(__file__).parents[3] / "examples" / "logs" / "b200-128r-healthy.txt")
SPEC = (
    "name: c\nservers: {model: dgx-h100, count: 16}\n"
    "fabrics: [{name: compute, topology: rail-optimized, switch: qm9790, unit_servers: 8}]\n"
)


@pytest.fixture
def cluster(tmp_path):
    (tmp_path / "c.yaml").write_text(SPEC)
    return str(tmp_path / "c.yaml")


def make(cluster, *inject, form="ibnetdiscover", name="built.txt", seed=7):
    path = str(Path(cluster).with_name(name))
    words = [word for kind in inject for word in ("--inject", kind)] or ["--inject", "random:0"]
    assert run(["faults", cluster, *words, "--format", form, "--seed", str(seed), "-o", path]) == 0
    return path


def checked(capsys, *words):
    status = run(["check", *words, "--json"])
    return status, json.loads(capsys.readouterr().out)


@pytest.mark.parametrize("form", ["ibnetdiscover", "lldp", "csv"])
def test_a_fabric_as_designed_is_fine(cluster, capsys, form):
    status, body = checked(capsys, cluster, make(cluster, form=form))
    assert status == 0
    assert body["findings"] == body["repairs"] == body["costs"] == []
    assert body["match"]["links"] == body["match"]["links_as_designed"] == 256


def test_faults_have_a_line_repairs_and_a_cost(cluster, capsys):
    status, body = checked(capsys, cluster, make(cluster, "swapped-pair", "missing-device"))
    assert status == 1
    assert {f["rule"] for f in body["findings"]} == {"built-swapped-pair", "built-missing-device"}
    assert [r["action"] for r in body["repairs"]] == ["hold", "move", "move", "power"]
    assert all(r["to_rack"] for r in body["repairs"] if r["action"] == "move")
    (cost,) = body["costs"]
    assert cost["servers_cut_off"] == 1
    assert cost["gpus"] == 120
    assert cost["bisection_found_bytes_per_s"] < cost["bisection_designed_bytes_per_s"]
    assert cost["busbw_found_bytes_per_s"] <= cost["busbw_designed_bytes_per_s"]


def test_a_slow_link_costs_what_a_ring_loses(cluster, capsys):
    # This seed slows a server's link down to half; a ring over all rails loses that much.
    _, body = checked(capsys, cluster, make(cluster, "wrong-rate", seed=1))
    assert "srv" in body["findings"][0]["message"]
    (cost,) = body["costs"]
    assert cost["busbw_found_bytes_per_s"] < 0.8 * cost["busbw_designed_bytes_per_s"]
    assert cost["servers_cut_off"] == 0


def test_another_cabling_file_is_a_design(cluster, capsys):
    plan = make(cluster, form="csv", name="plan.csv")
    status, body = checked(capsys, "--design", plan, make(cluster, "swapped-pair"))
    assert status == 1
    assert body["match"]["design"] == "cabling file"
    assert [f["rule"] for f in body["findings"]] == ["built-swapped-pair"]
    assert checked(capsys, "--design", plan, make(cluster))[0] == 0


def test_a_wrong_part_shows_where_lists_tell_parts(cluster, capsys):
    spec = Path(cluster)
    spec.write_text(SPEC + "room: {rack_power: 12 kW, racks_per_row: 4}\n")
    _, body = checked(capsys, cluster, make(cluster, "wrong-cable", form="csv"))
    assert [f["rule"] for f in body["findings"]] == ["built-wrong-cable"]
    assert [r["action"] for r in body["repairs"]] == ["replace"]


def test_files_of_all_kinds_make_one_report(cluster, capsys):
    status, body = checked(capsys, "superpod-b200", LOG, COUNTERS)
    assert status == 0
    assert {f["rule"] for f in body["findings"]} >= {"link-errors", "link-flaps"}
    assert body["verdicts"][0]["verdict"] == "healthy"
    assert (body["coverage"]["files"], body["coverage"]["counter_files"]) == (2, 1)


def test_without_a_design_it_is_inferred(cluster, capsys):
    status, body = checked(capsys, make(cluster))
    assert status == 0
    assert body["match"] is None
    assert body["inferred"]["certainty"] == 1.0


def test_drawing_page_and_junit_are_written(cluster, tmp_path, capsys):
    built = make(cluster, "swapped-pair", "foreign-device")
    outputs = [str(tmp_path / name) for name in ("d.svg", "p.html", "j.xml")]
    words = ["--drawing", outputs[0], "--html", outputs[1], "--junit", outputs[2]]
    assert run(["check", cluster, built, *words]) == 1
    svg, page, junit = (Path(path).read_text(encoding="utf-8") for path in outputs)
    ET.fromstring(svg)
    assert "not as designed" in svg
    assert "fault" in svg
    assert "Repairs, in this order" in page
    assert "<svg" in page
    suite = ET.fromstring(junit)
    assert (suite.get("tests"), suite.get("failures"), suite.get("skipped")) == ("2", "1", "1")


def test_the_first_argument_is_a_description_or_a_file(cluster):
    built = make(cluster)
    assert split_spec([cluster, built], None) == (cluster, [built])
    assert split_spec([built], None) == (None, [built])
    assert split_spec([built], "plan.csv") == (None, [built])
    assert split_spec(["superpod-b200", "-"], None) == ("superpod-b200", ["-"])
    with pytest.raises(InputError, match="names no file"):
        split_spec([cluster], None)


@pytest.mark.parametrize(
    "words",
    [
        ["--design", LOG, "BUILT"],
        ["--design", "BUILT", LOG],
        ["BUILT", LOG],
        ["--drawing", "d.svg", "superpod-b200", LOG],
    ],
)
def test_what_can_not_be_judged_is_one_line(cluster, words, capsys):
    built = make(cluster)
    capsys.readouterr()
    assert run(["check", *(built if word == "BUILT" else word for word in words)]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_names_of_a_hostile_file_are_shown_not_obeyed(cluster, capsys):
    path = Path(make(cluster, "foreign-device"))
    text = path.read_text()
    name = next(word for word in ("lab-visitor", "test-box", "spare-unit", "old-node") if word in text)
    path.write_text(text.replace(name, "x\x1b]0;y\x07<b>"))
    page = path.with_name("p.html")
    assert run(["check", cluster, str(path), "--html", str(page)]) == 0
    out = capsys.readouterr().out
    assert all(character.isprintable() or character == "\n" for character in out)
    assert "<b>" not in page.read_text()


@pytest.mark.parametrize(
    "content",
    [
        "from_device,from_port,to_device,to_port\n",
        'Switch 64 "S-00000000000000a1" # "MF0;basalt-leaf" enhanced port 0 lid 3 lmc 0\n',
        '{"lldp": {"interface": [{"eth0": {\n',
    ],
)
def test_a_file_of_a_known_format_without_a_link_says_so(cluster, capsys, tmp_path, content):
    (tmp_path / "cut.txt").write_text(content)
    status, body = checked(capsys, cluster, str(tmp_path / "cut.txt"))
    assert status == 1
    assert "found-no-links" in [f["rule"] for f in body["findings"]]


def test_a_description_beside_a_plan_gives_the_parts(cluster, capsys):
    """The plan is the wiring, in its own words; the description only says what the servers are."""
    plan = Path(make(cluster, "wrong-port", form="csv", name="plan.csv", seed=3))
    lines = plan.read_text().replace("su0", "unit").replace("leaf-", "tor-").splitlines()
    plan.write_text("\n".join([f"{lines[0]},from_rack,to_rack", *(f"{line},A1,B2" for line in lines[1:])]))
    as_built = [*lines[:1], *lines[2:]]
    built = plan.with_name("as-built.csv")
    built.write_text("\n".join(as_built))
    status, body = checked(capsys, cluster, "--design", str(plan), str(built))
    assert status == 1
    assert [f["rule"] for f in body["findings"]] == ["built-missing-link"]
    assert [(r["action"], r["from_rack"], r["to_rack"]) for r in body["repairs"]] == [("plug", "A1", "B2")]
    (cost,) = body["costs"]
    assert cost["gpus"] == 128
    assert cost["busbw_found_bytes_per_s"] < cost["busbw_designed_bytes_per_s"]
    status, body = checked(capsys, "--design", str(plan), str(built))
    (cost,) = body["costs"]
    assert cost["bisection_found_bytes_per_s"] <= cost["bisection_designed_bytes_per_s"]
    assert cost["busbw_found_bytes_per_s"] is None
    assert "description" in cost["note"]


def test_a_plan_of_another_cluster_is_refused(cluster, capsys):
    fabric = make(cluster)
    assert run(["check", "superpod-b200", fabric, "--design", fabric]) == 2
    assert "is not the cluster of" in capsys.readouterr().err
    assert run(["check", fabric, fabric, "--design", fabric]) == 0


def test_a_fabric_that_can_not_be_matched_is_one_finding(cluster, capsys, tmp_path):
    rows = [f"box{a},{a * b % 7}p{b},box{a + b + 3},{b}q{a}" for a in range(20) for b in range(1, 9)]
    (tmp_path / "other.csv").write_text("\n".join(["from_device,from_port,to_device,to_port", *rows]))
    status, body = checked(capsys, cluster, str(tmp_path / "other.csv"))
    assert status == 1
    assert [f["rule"] for f in body["findings"] if f["severity"] == "error"] == ["built-not-matched"]
    assert body["repairs"] == body["costs"] == []


def test_a_shifted_server_says_why_it_costs_nothing(cluster, capsys):
    _, body = checked(capsys, cluster, make(cluster, "shifted-server"))
    (cost,) = body["costs"]
    assert "no loss" in cost["note"]


def test_a_topology_file_of_slurm_is_checked(cluster, capsys, tmp_path):
    (tmp_path / "topology.conf").write_text("SwitchName=l1 Nodes=n[1-2]\nSwitchName=l2 Nodes=n[2-3]\n")
    status, body = checked(capsys, cluster, str(tmp_path / "topology.conf"))
    assert {f["rule"] for f in body["findings"]} == {"scheduler-topology", "scheduler-misplaced"}
    assert status == (1 if "error" in {f["severity"] for f in body["findings"]} else 0)


def test_two_switches_of_one_name_are_told_apart_by_their_wiring(cluster, capsys):
    status, body = checked(capsys, cluster, make(cluster, "duplicate-name"))
    assert status == 1
    (finding,) = body["findings"]
    assert finding["rule"] == "built-duplicate-name"
    assert "stands in the place of" in finding["message"]
    assert [r["action"] for r in body["repairs"]] == ["rename"]
    assert body["match"]["links_as_designed"] == 256


def test_a_dark_port_shows_where_files_tell_of_ports_that_are_down(cluster, capsys):
    status, body = checked(capsys, cluster, make(cluster, "dark-port", form="iblinkinfo"))
    assert status == 1
    assert [f["rule"] for f in body["findings"]] == ["built-dark-port"]
    assert [r["action"] for r in body["repairs"]] == ["reseat"]
