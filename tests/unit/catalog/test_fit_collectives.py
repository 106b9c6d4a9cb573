"""The scripts that fit the shipped constants."""

from __future__ import annotations

import importlib
import sys
import tomllib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from gpufabric.catalog.calibrations import load_collective_calibration
from gpufabric.libraries.estimate import estimate
from gpufabric.records.job_situation import JobSituation
from gpufabric.records.priced_algorithm import PricedAlgorithm

SCRIPTS = Path(__file__).parents[3] / "scripts"
NAMES = ("measured_rows", "model_of_time", "held_out_table", "calibration_document", "fit_collectives")
RING = PricedAlgorithm(
    "all_reduce", "ring", 16, 2, 8, 200e9, 240e9, 200e9, 26, 4, 2e-6, "", {"scale-up": 0.9, "pcie": 0.4}
)
JOB = JobSituation(
    16, 2, 8, True, "h100-sxm", "switched", True, 1, "infiniband", "connectx-7-400g", 8, 50e9, False
)


@pytest.fixture(scope="module")
def scripts():
    sys.path.insert(0, str(SCRIPTS))
    yield {name: importlib.import_module(name) for name in NAMES}
    sys.path.remove(str(SCRIPTS))
    for name in NAMES:
        del sys.modules[name]


@pytest.fixture
def row(scripts):
    def make(size=1 << 20, tool="", **changes):
        situation = replace(JOB, **changes)
        priced = replace(RING, nodes=situation.nodes, ranks=situation.ranks)
        nvls = replace(priced, algorithm="nvls_tree", inside_steps=2, fabric_steps=2)
        candidates = ((priced, "ll"), (priced, "simple"), (nvls, "simple"))
        return scripts["measured_rows"].MeasuredRow(
            "a", "h100", "all_reduce", size, 1e-4, tool, situation.nodes, 0.0, True, situation, candidates
        )

    return make


def shipped_logs(constants):
    document = load_collective_calibration().model_dump()
    logs = []
    for name in constants.names:
        value = document
        for key in name.split("."):
            value = value[key]
        logs.append(np.log(value))
    return np.array(logs)


@pytest.mark.parametrize("size", [0, 8, 1 << 16, 1 << 20, 1 << 26, 1 << 33])
def test_what_is_fitted_is_what_is_estimated(scripts, row, size):
    constants = scripts["model_of_time"].believed_constants()
    one = row(size, nodes=4, ranks=32)
    model = scripts["model_of_time"].TimeModel([one], constants)
    times = model.candidate_times(shipped_logs(constants))
    found = [
        estimate(priced, protocol, one.situation, load_collective_calibration(), size).time_s
        for priced, protocol in one.candidates
    ]
    assert times == pytest.approx(found, rel=2e-3)  # constants are stored with four digits


def test_another_start_takes_longer(scripts, row):
    constants = scripts["model_of_time"].believed_constants()
    model = scripts["model_of_time"].TimeModel([row(), row(tool="torch.distributed")], constants)
    plain, other = model.times(constants.centre)
    assert other - plain == pytest.approx(25e-6)


def test_the_smooth_least_is_below_the_least_and_near_it(scripts, row):
    constants = scripts["model_of_time"].believed_constants()
    model = scripts["model_of_time"].TimeModel([row(1 << i) for i in range(3, 34)], constants)
    least, smooth = model.times(constants.centre), model.times(constants.centre, 25.0)
    assert (smooth <= least).all()
    assert (smooth > 0.95 * least).all()


def test_each_cluster_has_one_vote_a_band(scripts, row):
    constants = scripts["model_of_time"].believed_constants()
    rows = [
        row(8),
        row(16),
        row(1 << 30),
        replace(row(8), cluster="b"),
        replace(row(8), cluster="c", known=False),
    ]
    votes = scripts["fit_collectives"].votes_of(scripts["model_of_time"].TimeModel(rows, constants))
    assert votes.tolist() == [0.5, 0.5, 1.0, 1.0, 0.0]


def test_ranges_of_few_clusters_are_wider(scripts):
    quantiles = scripts["held_out_table"].quantiles
    values = np.array([-0.2, -0.1, 0.0, 0.1, 0.2, 0.3])
    many, few = quantiles(values, np.array(list("abcdef"))), quantiles(values, np.array(list("aaabbb")))
    assert few[0] < many[0] < 0 < many[1] < few[1]


def test_the_document_is_toml(scripts):
    document = {"a": 'q"\\', "b": [1, 2.5], "c": {"d.e": "x", "f": {"g": 1}}, "h": [{"i": "j"}, {"i": "k"}]}
    assert tomllib.loads(scripts["calibration_document"].toml_text(document)) == document


def test_one_process_measures_no_less_than_its_launches(scripts, row):
    constants = scripts["model_of_time"].believed_constants()
    rows = [row(8, "one process", nodes=1, ranks=8), row(1 << 33, "one process", nodes=1, ranks=8)]
    plain = [row(8, nodes=1, ranks=8), row(1 << 33, nodes=1, ranks=8)]
    short, long = scripts["model_of_time"].TimeModel(rows, constants).times(constants.centre)
    _, unchanged = scripts["model_of_time"].TimeModel(plain, constants).times(constants.centre)
    assert short >= 8 * 3.8e-6 * (1 - 1e-9)
    assert long == pytest.approx(unchanged)
