"""Files of slow jobs: the same seed gives the same, they are read back by ``check``, and what can't be is refused in one line."""

from __future__ import annotations

import json

import pytest

from gpufabric.cli.run import run
from gpufabric.errors import InputError
from gpufabric.formats import recognise
from gpufabric.formats.cluster_yaml import parse_cluster_spec
from gpufabric.formats.nccl_tests_text import read_nccl_tests
from gpufabric.formats.recognise_counters import read_counters
from gpufabric.jobs.inject_log_faults import LogFaultsOptions, inject_log_faults
from gpufabric.jobs.load_parts import catalog_for
from gpufabric.jobs.log_fault_kinds import LOG_FAULTS
from gpufabric.jobs.racked_cluster import racked_cluster

TEXT = "name: c\nservers: {model: dgx-h100, count: 4}\nfabrics: {topology: rail-optimized, switch: qm9700, unit_servers: 4}\n"


@pytest.fixture(scope="module")
def spec():
    return parse_cluster_spec(TEXT, "c")


@pytest.fixture(scope="module")
def racked(spec):
    return racked_cluster(spec, catalog_for(spec))


@pytest.fixture
def made(spec, racked):
    return lambda *kinds, seed=0, gpus=None: inject_log_faults(
        spec, LogFaultsOptions(kinds, seed, gpus=gpus), racked
    )


@pytest.mark.parametrize("kind", LOG_FAULTS)
def test_every_file_is_read_and_no_line_is_lost(kind, made, tmp_path):
    result = made(kind, seed=1)
    assert [one.kind for one in result.mistakes] == [kind]
    for name, text in result.files:
        (tmp_path / name).write_text(text)
        counters = read_counters(str(tmp_path / name))
        if counters is not None:
            assert counters.ports
        elif name.startswith(("nccl-tests", "pair")):
            (table,) = read_nccl_tests(tmp_path / name, name).tables
            assert all(row.consistent for row in table.rows)
        else:
            assert recognise.read(tmp_path / name, name).parts, name


@pytest.mark.slow
def test_what_is_priced_slows_the_job_down_and_nothing_leaves_it_as_predicted(made):
    assert made().left == pytest.approx(1.0)
    for kind in ("lost-rail", "few-channels", "port-down", "gpudirect-off"):
        assert made(kind).left < 0.95, kind
    one, other, both = (made(*kinds).left for kinds in (("lost-rail",), ("acs-on",), ("lost-rail", "acs-on")))
    assert both < min(one, other)


@pytest.mark.slow
def test_a_seed_is_one_place_and_another_seed_may_be_another(made):
    assert made("slow-link", seed=4).files == made("slow-link", seed=4).files
    assert len({made("slow-link", seed=seed).mistakes[0].where for seed in range(6)}) > 1
    assert len({one.kind for one in made(*("random-cause",) * 3, seed=2).mistakes}) == 3


def test_only_pairs_of_the_slow_server_are_slow(made):
    result = made("slow-server", seed=2)
    rates = {
        name: text.split("Avg bus bandwidth    : ")[1].split()[0]
        for name, text in result.files
        if name.startswith("pair")
    }
    where = result.mistakes[0].where
    slow = {name for name, text in result.files if name in rates and f" {where} " in text}
    assert len(slow) == 2
    assert max(float(rates[name]) for name in slow) < min(float(rates[n]) for n in rates.keys() - slow)


@pytest.mark.parametrize(
    ("kinds", "gpus", "words"),
    [
        (("gpudirekt-off",), None, "Did you mean"),
        (("slow-server",), 16, "four servers"),
        (("socket-transport",), 8, "several servers"),
        (("acs-on",), 12, "whole servers"),
        (("acs-on",), 800, "whole servers"),
    ],
)
def test_what_can_not_be_is_refused(made, kinds, gpus, words):
    with pytest.raises(InputError, match=words) as refused:
        made(*kinds, gpus=gpus)
    assert "\n" not in str(refused.value)


@pytest.fixture
def described(tmp_path):
    (tmp_path / "c.yaml").write_text(TEXT)
    return str(tmp_path / "c.yaml")


@pytest.mark.slow
def test_the_command_writes_a_folder_and_says_what_is_wrong(described, tmp_path, capsys):
    folder = tmp_path / "job"
    assert run(["faults", described, "--inject", "acs-on", "--seed", "3", "-o", str(folder), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert sorted(path.name for path in folder.iterdir()) == sorted(document["files"])
    assert document["mistakes"][0]["causes"] == ["acs-on"]
    assert run(["check", described, *sorted(str(path) for path in folder.iterdir())]) == 1
    assert "ACS is on" in capsys.readouterr().out


def test_kinds_are_listed_with_what_they_cost(described, capsys):
    assert run(["faults", described, "--list"]) == 0
    out = capsys.readouterr().out
    assert all(kind in out for kind in (*LOG_FAULTS, "swapped-pair"))


@pytest.mark.parametrize(
    "words",
    [
        ["--inject", "acs-on"],
        ["--inject", "acs-on", "--inject", "swapped-pair", "-o", "x"],
        ["--inject", "acs-on", "--format", "lldp", "-o", "x"],
        ["--inject", "acs-on", "--op", "hypercube", "-o", "x"],
    ],
)
def test_bad_wishes_are_one_line_and_2(described, words, capsys):
    assert run(["faults", described, *words]) == 2
    assert capsys.readouterr().err.count("\n") == 1
