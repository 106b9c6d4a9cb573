"""Operations and compute rates → time."""

import json

import pytest

from gpufabric.catalog.load import load_catalog
from gpufabric.cli.run import run
from gpufabric.errors import InputError, PartError
from gpufabric.jobs.budget import GPU_COUNTS, PUBLISHED_UTILIZATION, BudgetRequest, budget
from gpufabric.units import YEAR_S, format_duration, parse_count

CATALOG = load_catalog()


def test_1e24_operations_on_one_gpu_of_2_pflops_take_15_84_years():
    result = budget(BudgetRequest(flops="1e24", rate="2 PFLOP/s", gpus=(1,)), CATALOG)
    assert result.rows[0].time_s == 5e8
    assert round(result.rows[0].time_s / YEAR_S, 2) == 15.84
    assert format_duration(result.rows[0].time_s) == "15.84 years"


def test_six_n_d_of_a_model_and_its_tokens():
    result = budget(BudgetRequest(parameters="70B", tokens="15T", rate="1 PFLOP/s"), CATALOG)
    assert result.flop == pytest.approx(6 * 70e9 * 15e12)
    assert any("arxiv.org/abs/2001.08361" in text for text in result.assumptions)


@pytest.mark.parametrize(
    ("precision", "peak"), [("bf16", 989e12), ("BF16", 989e12), ("fp8", 1979e12), ("fp32", 67e12)]
)
def test_the_peak_is_the_dense_one_of_the_catalogue(precision, peak):
    result = budget(BudgetRequest(flops="1e24", gpu="h100-sxm", precision=precision), CATALOG)
    assert result.flop_per_s == pytest.approx(peak)


def test_time_falls_with_gpus_and_utilisation_and_the_range_is_that_of_published_runs():
    full = budget(BudgetRequest(flops="1e24", rate="2 PFLOP/s"), CATALOG)
    part = budget(BudgetRequest(flops="1e24", rate="2 PFLOP/s", utilization=0.4), CATALOG)
    assert [row.gpus for row in full.rows] == list(GPU_COUNTS)
    lowest, highest = PUBLISHED_UTILIZATION
    for whole, used in zip(full.rows, part.rows, strict=True):
        assert whole.time_s * whole.gpus == pytest.approx(5e8)
        assert used.time_s == pytest.approx(whole.time_s / 0.4)
        assert used.time_low_s == whole.time_low_s == pytest.approx(whole.time_s / highest)
        assert used.time_high_s == pytest.approx(whole.time_s / lowest)


@pytest.mark.parametrize(
    ("request_of", "says"),
    [
        (BudgetRequest(rate="2 PFLOP/s"), "not at all"),
        (BudgetRequest(flops="1e24", tokens="15T", rate="2 PFLOP/s"), "twice"),
        (BudgetRequest(parameters="70B", rate="2 PFLOP/s"), "--tokens is missing"),
        (BudgetRequest(tokens="15T", rate="2 PFLOP/s"), "--parameters is missing"),
        (BudgetRequest(flops="1e24"), "not at all"),
        (BudgetRequest(flops="1e24", rate="2 PFLOP/s", gpu="h100-sxm"), "twice"),
        (BudgetRequest(flops="many", rate="2 PFLOP/s"), 'flops "many"'),
        (BudgetRequest(flops="1e999", rate="2 PFLOP/s"), "positive and finite"),
        (BudgetRequest(flops="-1", rate="2 PFLOP/s"), "positive and finite"),
        (BudgetRequest(flops="1e24", rate="2"), "write a number and a unit"),
        (BudgetRequest(flops="1e24", gpu="h100-sxm", precision="fp9"), 'Did you mean "fp'),
        (BudgetRequest(flops="1e24", rate="2 PFLOP/s", precision="fp9"), 'Did you mean "fp'),
        (BudgetRequest(flops="1e24", gpu="a100-sxm4-80gb", precision="fp8"), "no fp8 rate"),
        (BudgetRequest(flops="1e24", rate="2 PFLOP/s", utilization=float("nan")), "above 0 up to 1"),
        (BudgetRequest(flops="1e24", rate="2 PFLOP/s", utilization=1.5), "above 0 up to 1"),
        (BudgetRequest(flops="1e24", rate="2 PFLOP/s", gpus=(0,)), "gpus: 0"),
        (BudgetRequest(flops="\x1b[31m" + 10_000 * "9", rate="2 PFLOP/s"), "not understood"),
    ],
)
def test_what_is_wrong_is_one_line(request_of, says):
    with pytest.raises(InputError, match=says.replace("[", "\\[")) as caught:
        budget(request_of, CATALOG)
    assert "\n" not in str(caught.value)
    assert "\x1b" not in str(caught.value)
    assert len(str(caught.value)) < 400


def test_an_unknown_gpu_is_a_part_error():
    with pytest.raises(PartError, match="h1000"):
        budget(BudgetRequest(flops="1e24", gpu="h1000-sxm"), CATALOG)


@pytest.mark.parametrize(
    ("text", "value"), [("1e24", 1e24), ("70B", 70e9), ("1.5 T", 1.5e12), ("8k", 8e3), (7, 7.0)]
)
def test_counts_are_decimal(text, value):
    assert parse_count(text, "count") == pytest.approx(value)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (2e-6, "2 µs"),
        (59.0, "59 s"),
        (90.0, "1.5 min"),
        (7200.0, "2 h"),
        (86400.0, "1 d"),
        (2 * YEAR_S, "2 years"),
    ],
)
def test_durations_have_a_fitting_unit(seconds, text):
    assert format_duration(seconds) == text


def test_the_command_prints_the_table_and_the_document(capsys):
    words = ["budget", "--flops", "1e24", "--rate", "2 PFLOP/s"]
    assert run(words) == 0
    out, err = capsys.readouterr()
    assert "15.84 years" in out
    assert "a year has 365.25 days" in err
    assert run([*words, "--json", "--gpus", "1024", "--utilization", "0.4"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["command"] == "budget"
    assert document["rows"][0]["gpus"] == 1024
    assert document["rows"][0]["time_s"] == pytest.approx(5e8 / 1024 / 0.4)
