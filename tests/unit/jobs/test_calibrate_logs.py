from pathlib import Path

import pytest

from gpufabric.catalog.calibrations import load_collective_calibration
from gpufabric.errors import InputError
from gpufabric.formats.cluster_yaml import preset_spec
from gpufabric.jobs.calibrate_logs import calibrate_logs
from gpufabric.jobs.collective import CollectiveOptions
from gpufabric.jobs.described_collective import predict_described

LOGS = Path(__file__).parents[3] / "examples" / "logs"
SPEC = preset_spec("superpod-b200")


@pytest.fixture(scope="module")
def fitted():
    return calibrate_logs(SPEC, [LOGS / "b200-128r-slow.txt"], load_collective_calibration())


def test_logs_move_the_predictions_towards_them(fitted):
    assert fitted.rows == 28
    assert fitted.error_after < 0.5 * fitted.error_before
    assert {change.network for change in fitted.changes} == {"infiniband"}
    assert sum(change.observations for change in fitted.changes) == fitted.rows


def test_the_calibration_that_was_fitted_on_stays_as_it_was(fitted):
    shipped = load_collective_calibration()
    assert shipped.adjustments == ()
    assert fitted.calibration.protocols == shipped.protocols
    assert len(fitted.calibration.adjustments) == len(fitted.changes)


def test_a_slow_log_lowers_what_is_predicted(fitted):
    def busbw(calibration):
        options = CollectiveOptions(ranks=128, calibration=calibration)
        return predict_described(SPEC, "all_reduce", [1 << 33], options)[0].busbw_bytes_per_s

    assert busbw(fitted.calibration) < 0.7 * busbw(load_collective_calibration())


def test_logs_without_a_row_to_learn_from_are_refused(tmp_path):
    (tmp_path / "x.txt").write_text("nothing\n")
    with pytest.raises(InputError, match=r"nothing in the logs can be learned from \(no table of nccl-tests"):
        calibrate_logs(SPEC, [tmp_path / "x.txt"], load_collective_calibration())


def test_logs_of_other_gpus_teach_nothing():
    with pytest.raises(InputError, match="the description has h100-sxm"):
        calibrate_logs(
            preset_spec("superpod-h100"), [LOGS / "b200-128r-slow.txt"], load_collective_calibration()
        )
