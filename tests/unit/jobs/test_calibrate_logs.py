from pathlib import Path

import pytest

from gpufabric.catalog.calibrations import load_collective_calibration
from gpufabric.errors import InputError
from gpufabric.formats.cluster_yaml import preset_spec
from gpufabric.jobs.calibrate_logs import calibrate_logs
from gpufabric.jobs.collective import CollectiveOptions
from gpufabric.jobs.described_collective import predict_described
from gpufabric.jobs.doubtful_factors import doubtful_factors
from gpufabric.libraries.fit_to_logs import Change

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


def test_factors_outside_of_their_class_are_warned_of_with_what_to_look_at(fitted):
    assert fitted.warnings
    assert all(
        "lies outside of what published clusters of its class differ by" in line for line in fitted.warnings
    )
    assert any(": rate × " in line and "NCCL_IB_HCA" in line for line in fitted.warnings)
    assert fitted.to_dict()["warnings"] == list(fitted.warnings)


def test_factors_inside_of_their_class_are_not_warned_of():
    calibration = load_collective_calibration()
    usual = Change("nvlink5", "infiniband", "simple", 1.0, 0.97, 20, 0.1, 0.05)
    assert list(doubtful_factors([usual], calibration)) == []


@pytest.mark.parametrize(
    ("network", "latency", "rate", "said"),
    [
        ("infiniband", 8.0, 1.0, "latency × 8"),
        ("infiniband", 1.0, 0.1, "NCCL_IB_DISABLE"),
        ("", 1.0, 0.2, "NCCL_P2P_DISABLE"),
        ("", 9.0, 1.0, "nccl-tests -g"),
        ("infiniband", 1.0, 3.0, "the description"),
        ("infiniband", 0.1, 1.0, "the description"),
    ],
)
def test_a_warning_says_which_setting_to_look_at(network, latency, rate, said):
    change = Change("nvlink5", network, "simple", latency, rate, 20, 0.5, 0.1)
    (line,) = doubtful_factors([change], load_collective_calibration())
    assert said in line


def test_a_log_that_says_sockets_is_warned_of(tmp_path):
    text = (LOGS / "b200-128r-slow.txt").read_text()
    (tmp_path / "x.txt").write_text("h:1:2 [0] NCCL INFO Using network Socket\n" + text)
    found = calibrate_logs(SPEC, [tmp_path / "x.txt"], load_collective_calibration())
    assert "NCCL moved data over TCP sockets" in found.warnings[0]


def test_times_as_short_as_the_launches_of_one_process_are_left_out(tmp_path):
    text = (LOGS / "b200-128r-slow.txt").read_text().replace("nGpus 1", "nGpus 8")
    (tmp_path / "x.txt").write_text(text)
    slow = load_collective_calibration().model_copy(update={"launch_s": 2e-4})
    found = calibrate_logs(SPEC, [tmp_path / "x.txt"], slow)
    assert 0 < found.rows < 28
    assert {row.reason for row in found.left_out} == {
        "one process drove several GPUs (-g): so short a time is that of its launches"
    }
