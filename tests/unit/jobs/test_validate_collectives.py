from pathlib import Path

import pytest

from gpufabric.catalog.measurements import fold_of
from gpufabric.errors import InputError
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
        "b-1": "number or rate of the NICs is not known",
        "b-2": "vendor_expected, not measured",
        "b-3": "published to too few digits",
    }


def test_unknown_nics_widen_the_range(by_id):
    known, unknown = by_id["b-2"], by_id["b-1"]
    assert unknown.predicted == known.predicted
    assert unknown.low == pytest.approx(known.low / 2)
    # Twice the NICs would allow more; the range ends at the ceiling of those that are described, two nodes of 8 × 400 Gb/s.
    assert known.high < unknown.high == pytest.approx(750e9)


def test_a_cluster_that_is_not_in_the_fit_counts_though_it_is_the_only_one_of_its_class(result):
    assert result.groups["class"]["h200"].rows == 1
    assert result.summary.rows == 5
    assert result.summary.clusters == 3


HEAD = "cluster,nodes,gpus,collective,bytes,busbw_GBps,nics_per_node,nic_Gbps,cluster_spec\n"


def own_table(folder, *rows):
    path = folder / "own.csv"
    path.write_text(HEAD + "".join(f"mine,{row},8,400,preset:superpod-h100\n" for row in rows))
    return path


def test_a_users_single_cluster_without_a_class_is_scored(tmp_path):
    found = validate_collectives(
        own_table(tmp_path, "2,16,all_reduce,8589934592,440", "1,8,all_reduce,8589934592,470")
    )
    assert [row.hw_class for row in found.rows] == ["h100-sxm", "h100-sxm"]
    assert (found.summary.rows, found.summary.clusters) == (2, 1)
    assert {bar.name: bar.met for bar in found.bars}["multi-node all_reduce, from 16 MiB"] is True


def test_a_figure_above_the_ceiling_does_not_count(tmp_path):
    wrong, right = validate_collectives(
        own_table(tmp_path, "2,16,all_reduce,8589934592,9999", "2,16,all_reduce,8589934592,440")
    ).rows
    assert wrong.not_counted.startswith("above the ceiling of the described wiring")
    assert right.not_counted == ""
    assert right.high <= 750e9


def test_a_table_without_a_row_that_can_be_predicted_is_refused_with_a_line(tmp_path):
    with pytest.raises(
        InputError, match=r"own\.csv:2: no row of the table can be predicted \(here: collective"
    ):
        validate_collectives(own_table(tmp_path, "2,16,all_shuffle,8589934592,1", "2,16,all_reduce,,1"))


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
