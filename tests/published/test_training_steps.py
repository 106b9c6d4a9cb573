"""Published training steps beside predictions that never saw their source; the bars are those of the project."""

import pytest

from gpufabric.jobs.validate_training import validate_training

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def result():
    return validate_training()


def test_sources_that_were_left_out_are_predicted_within_the_bars(result):
    bars = {bar.name: bar for bar in result.bars}
    usual = bars["A100 and H100 in 16 bits"]
    assert usual.met
    assert usual.summary.rows >= 240
    assert bars["other classes"].met
    assert bars["other classes, vendors' rows too"].met


def test_tables_of_other_planners_are_met_in_sample(result):
    assert [(bar.rows, bar.met) for bar in result.in_sample_bars] == [(8, True), (43, True)]


def test_most_rows_with_a_plan_and_a_rate_are_predicted(result):
    assert len(result.rows) >= 560
    assert len(result.rows) + len(result.left_out) == 658
