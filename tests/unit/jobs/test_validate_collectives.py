from pathlib import Path

import pytest

from gpufabric.catalog.measurements import fold_of
from gpufabric.jobs.validate_collectives import validate_collectives

MEASURED = Path(__file__).parents[2] / "captured" / "measurements" / "measured.csv"


@pytest.fixture(scope="module")
def result():
    return validate_collectives(MEASURED)


@pytest.fixture(scope="module")
def by_id(result):
    return {row.id: row for row in result.rows}


def test_every_row_is_predicted_or_left_out_with_a_reason(result):
    assert [row.id for row in result.rows] == ["a-1", "a-2", "a-3", "b-1", "b-2", "b-3", "b-4", "c-1"]
    reasons = {row.id: row.reason for row in result.left_out}
    assert list(reasons) == ["c-2", "c-3", "c-4", "c-5", "c-6"]
    assert reasons["c-2"] == "bytes is blank"
    assert 'collective "all_shuffle" is unknown' in reasons["c-3"]
    assert "ranks: 512 is out of range" in reasons["c-4"]
    assert "nowhere.yaml" in reasons["c-5"]
    assert 'order "backwards" is unknown' in reasons["c-6"]


def test_the_time_counts_below_16_mib_and_the_bus_bandwidth_from_there(by_id):
    assert {row.id: row.quantity for row in by_id.values() if row.quantity == "time_s"} == {
        "a-3": "time_s",
        "b-3": "time_s",
    }
    for row in by_id.values():
        assert row.low <= row.predicted <= row.high
        assert row.error == pytest.approx(row.predicted / row.measured - 1)


def test_what_is_no_measurement_or_not_known_well_enough_does_not_count(by_id):
    assert {row.id: row.not_counted for row in by_id.values() if row.not_counted} == {
        "a-2": "only cluster of its class in its band",
        "a-3": "only cluster of its class in its band",
        "b-1": "number or rate of the NICs is not known",
        "b-2": "vendor_expected, not measured",
        "b-3": "published to too few digits",
        "c-1": "only cluster of its class in its band",
    }


def test_unknown_nics_widen_the_range(by_id):
    known, unknown = by_id["b-2"], by_id["b-1"]
    assert unknown.predicted == known.predicted
    assert unknown.low == pytest.approx(known.low / 2)
    assert unknown.high == pytest.approx(known.high * 2)


def test_a_class_of_one_cluster_is_reported_and_not_counted(result):
    assert result.groups["class"]["h200"].rows == 1
    assert result.summary.rows == 2
    assert result.summary.clusters == 2


def test_what_of_a_row_is_not_acted_on_is_named(by_id):
    assert by_id["c-1"].notes == ('"my_bench" is no setting of a library, so not acted on',)


def test_clusters_of_both_tables_are_one_fold():
    assert fold_of("collectives", "oci_gb200") == fold_of("training", "oci_gb200")
    assert fold_of("collectives", "alpha") == "alpha"


@pytest.mark.slow
def test_the_shipped_measurements_are_predicted():
    found = validate_collectives()
    assert len(found.rows) + len(found.left_out) == 1251
    assert found.summary.clusters > 25
    assert 0 < found.summary.inside_range <= 1
    assert {row.cluster for row in found.rows if row.not_counted.startswith("number or rate")} == {
        "amd_aac10_mi300x",
        "rtx6000d_2n",
        "n1222_h100_4n",
        "n1469_h100_16n",
        "cw_gb200",
        "mi350x_pr9406",
    }


@pytest.mark.slow
def test_what_a_cluster_is_predicted_with_was_not_fitted_to_it():
    held_out, flattered = validate_collectives(), validate_collectives(in_sample=True)
    assert {row.in_fit for row in held_out.rows} == {False}
    assert True in {row.in_fit for row in flattered.rows}
    assert "fitted without it" in held_out.method
    assert flattered.summary.median_abs_error < held_out.summary.median_abs_error
