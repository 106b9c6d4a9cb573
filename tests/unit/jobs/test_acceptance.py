"""The ladder is planned, written, run with a slow server, and read back."""

from __future__ import annotations

import json

import pytest

from gpufabric.errors import InputError
from gpufabric.formats.acceptance_json import read_acceptance
from gpufabric.formats.cluster_yaml import parse_cluster_spec
from gpufabric.formats.nccl_tests_write import write_nccl_tests
from gpufabric.jobs.check_acceptance import check_acceptance
from gpufabric.jobs.plan_acceptance import plan_acceptance
from gpufabric.report.acceptance_files import command, write_acceptance

SPEC = "servers: {model: dgx-h100, count: 12}\nfabrics: {topology: rail-optimized, switch: qm9700, unit_servers: 4}\n"


@pytest.fixture(scope="module")
def spec():
    return parse_cluster_spec(SPEC, "twelve")


@pytest.fixture(scope="module")
def plan(spec):
    return plan_acceptance(spec)


@pytest.fixture
def folder(plan, tmp_path):
    write_acceptance(plan, tmp_path / "ladder", "mpirun")
    return tmp_path / "ladder"


def run_tests(plan, folder, slower):
    """Write the result of each test as predicted, as many times slower as *slower* says of it."""
    for test in plan.tests:
        ranks = sum(test.ranks)
        factor = 2 * (ranks - 1) / ranks
        times = [
            (r.size_bytes, r.size_bytes * factor / r.busbw_bytes_per_s * slower(test))
            for r in plan.expected[test.shape]
        ]
        text = write_nccl_tests(plan.op, list(zip(test.hosts, test.ranks, strict=True)), "NVIDIA H100", times)
        (folder / "results" / f"{test.id}.txt").write_text(text)


def test_every_server_is_alone_in_a_pair_and_across(plan):
    steps = {
        s: [t for t in plan.tests if t.step == s] for s in ("server", "pair", "unit", "bisection", "all")
    }
    assert {s: len(t) for s, t in steps.items()} == {
        "server": 12,
        "pair": 6,
        "unit": 3,
        "bisection": 7,
        "all": 1,
    }
    for step in ("server", "pair", "unit", "all"):
        assert len({d for t in steps[step] for d in t.devices}) == 12
    assert all(len({d.split("-")[0] for d in t.devices}) == 1 for t in steps["pair"] + steps["unit"])


def test_what_is_expected_falls_in_order(plan):
    for rates in plan.expected.values():
        for r in rates:
            assert r.limit_low_bytes_per_s <= r.low_bytes_per_s <= r.busbw_bytes_per_s <= r.high_bytes_per_s
            assert r.high_bytes_per_s <= r.limit_high_bytes_per_s <= r.ceiling_bytes_per_s * (1 + 1e-9)


def test_the_plan_is_read_as_it_was_written(plan, folder):
    assert read_acceptance(folder) == plan
    limits = json.loads((folder / "thresholds.json").read_text())["thresholds"]
    assert {row["step"] for row in limits} == {"server", "pair", "unit", "bisection", "all"}
    pair = next(t for t in plan.tests if t.step == "pair")
    assert "-np 16" in command(plan, pair, "mpirun")
    assert "--ntasks-per-node=8" in command(plan, pair, "srun")
    assert (folder / "hosts" / f"{pair.id}.txt").read_text() == "".join(f"{h} slots=8\n" for h in pair.hosts)


def test_real_names_stand_in_hostfiles(spec):
    named = plan_acceptance(spec, [f"gpu{i:02d}" for i in range(12)])
    assert named.tests[0].hosts == ("gpu00",)
    with pytest.raises(InputError, match="2 names for 12 servers"):
        plan_acceptance(spec, ["a", "b"])


def test_a_healthy_cluster_has_no_error(plan, folder, spec):
    run_tests(plan, folder, lambda test: 1.0)
    result = check_acceptance(spec, folder)
    assert [f for f in result.findings if f.severity == "error"] == []
    assert result.coverage["tests_run"] == len(plan.tests)


@pytest.mark.slow
def test_the_slow_server_is_named(plan, folder, spec):
    bad = plan.tests[6].devices[0]
    run_tests(plan, folder, lambda test: 3.0 if bad in test.devices and len(test.devices) > 1 else 1.0)
    result = check_acceptance(spec, folder)
    suspects = [f.where for f in result.findings if f.rule == "suspect-place"]
    assert suspects[0] == f"server {bad}"
    assert {"step pair", "step bisection"} <= {
        f.where for f in result.findings if f.rule == "acceptance-step"
    }


def test_what_was_not_run_is_said(plan, folder, spec):
    result = check_acceptance(spec, folder)
    assert result.verdicts == ()
    assert [f.severity for f in result.findings if f.rule == "acceptance-not-run"] == ["info"] * 5


def test_a_result_of_another_test_is_not_judged(plan, folder, spec):
    run_tests(plan, folder, lambda test: 1.0)
    (folder / "results" / "pair-0001.txt").write_text((folder / "results" / "server-0001.txt").read_text())
    verdict = next(v for v in check_acceptance(spec, folder).verdicts if v.what.startswith("pair-0001"))
    assert (verdict.verdict, verdict.found) == ("cannot tell", "the file is of 8 ranks, the test of 16")


@pytest.mark.parametrize("text", ["", "{}", "[1]", '{"format": "gpufabric-acceptance/1"}', "\x00" * 100])
def test_a_damaged_plan_is_one_line(folder, text):
    (folder / "plan.json").write_text(text)
    with pytest.raises(InputError) as error:
        read_acceptance(folder)
    assert str(error.value).count("\n") == 0


_ODD = {
    "one server": (
        "servers: {model: dgx-h100, count: 1}\nfabrics: {topology: single-switch, switch: qm9700}\n",
        ["server"],
    ),
    "two servers": (
        "servers: {model: dgx-h100, count: 2}\nfabrics: {topology: single-switch, switch: qm9700}\n",
        ["server", "server", "pair"],
    ),
    "three servers without a switch": (
        "servers: {model: dgx-h100, count: 3}\nfabrics: {topology: full-mesh}\n",
        ["server"] * 3 + ["pair"] * 2 + ["all"],
    ),
    "a GPU a server": (
        "servers: {model: {gpus: 1, gpu: h100-sxm, nics: 1, nic_rate: 400 Gb/s, scale_up: 450 GB/s}, count: 3}\n"
        "fabrics: {topology: single-switch, switch: qm9700}\n",
        ["pair"] * 2 + ["all"],
    ),
}


@pytest.mark.parametrize("name", _ODD)
def test_odd_clusters_have_a_ladder(name):
    text, steps = _ODD[name]
    assert [test.step for test in plan_acceptance(parse_cluster_spec(text, name)).tests] == steps


@pytest.mark.slow
def test_a_domain_over_several_servers_is_a_unit():
    text = (
        "servers: {model: gb200-nvl72-tray, count: 36}\nfabrics: {topology: rail-optimized, switch: qm9700}\n"
    )
    units = [t for t in plan_acceptance(parse_cluster_spec(text, "racks")).tests if t.step == "unit"]
    assert [len(test.devices) for test in units][:2] == [18, 18]
    assert units[0].shape == units[1].shape == "unit-18x4-1d"


@pytest.mark.slow
def test_servers_of_two_kinds_have_limits_of_their_own():
    text = (
        "servers:\n  - {name: a, model: dgx-h100, count: 2}\n  - {name: b, model: hgx-a100, count: 2}\n"
        "fabrics: {topology: leaf-spine, switch: qm9700, unit_servers: 2, link_rate: 200 Gb/s}\n"
    )
    mixed = plan_acceptance(parse_cluster_spec(text, "mixed"))
    alone = [
        mixed.expected[test.shape][-1].busbw_bytes_per_s for test in mixed.tests if test.step == "server"
    ]
    assert alone[0] == alone[1] > alone[2] == alone[3]
    assert mixed.gpu == ""
