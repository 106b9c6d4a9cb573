import pytest

from gpufabric.errors import InputError
from gpufabric.formats import calibration_toml
from gpufabric.formats.calibration_toml import calibration_text, read_calibration
from gpufabric.records.calibration import (
    Adjustment,
    AlgorithmConstants,
    Calibration,
    CalibrationSource,
    NetworkClass,
    ProtocolConstants,
    ResidualRange,
    ScaleUpClass,
)

STEPS = ProtocolConstants(base_s=6.5e-6, inside_step_s=1e-6, fabric_step_s=5e-6, rate_share=0.9, fill=0.5)
RANGE = ResidualRange(
    low=-0.2, high=0.3, slow=0.4, new_low=-0.3, new_high=0.5, new_slow=0.6, clusters=3, rows=9
)
CALIBRATION = Calibration(
    name="own",
    script="",
    protocols={"simple": STEPS},
    multicast=STEPS,
    scale_ups={
        "nvlink 4, \u201cquoted\u201d": ScaleUpClass(
            gpus=("h100-*",), kinds=("switched",), base_factor=1, step_factor=1, rate_share=0.8
        )
    },
    networks={"efa": NetworkClass(networks=("ethernet",), nics=('a"b\\c',), step_factor=4, rate_share=1)},
    algorithms={"ring": AlgorithmConstants()},
    operations={"all_reduce": 1.0},
    other_start_s=2.5e-5,
    ranges={"one-node-small": RANGE},
    adjustments=(
        Adjustment(
            scale_up="x", network="", protocol="simple", latency_factor=1.1, rate_factor=0.9, observations=4
        ),
    ),
    clusters=3,
    rows=9,
    left_out={"not a measurement": 2},
    sources=(CalibrationSource(title="made up for tests", read="2026-11"),),
)


def test_what_is_written_is_read_again(tmp_path):
    path = tmp_path / "own.toml"
    path.write_text(calibration_text(CALIBRATION), encoding="utf-8")
    assert read_calibration(path) == CALIBRATION


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("name = ", "is not TOML"),
        ("", "protocols: is missing"),
        ("nmae = 1", 'key "nmae" is unknown'),
        ("a = " + "[" * 5000, "is not TOML"),
    ],
)
def test_what_is_no_calibration_is_refused_with_its_place(tmp_path, text, message):
    path = tmp_path / "own.toml"
    path.write_text(text)
    with pytest.raises(InputError, match=message) as refused:
        read_calibration(path)
    assert all(line.startswith(str(path)[:60]) for line in str(refused.value).splitlines())


def test_a_factor_out_of_range_is_refused(tmp_path):
    path = tmp_path / "own.toml"
    path.write_text(calibration_text(CALIBRATION).replace('latency_factor" = 1.1', 'latency_factor" = -1.0'))
    with pytest.raises(InputError, match=r"adjustments\[0\]\.latency_factor"):
        read_calibration(path)


def test_a_long_or_lost_file_is_refused(tmp_path, monkeypatch):
    with pytest.raises(InputError, match="can't be read"):
        read_calibration(tmp_path / "none.toml")
    monkeypatch.setattr(calibration_toml, "MAX_FILE_BYTES", 10)
    path = tmp_path / "own.toml"
    path.write_text("# " + "x" * 20)
    with pytest.raises(InputError, match="is larger than"):
        read_calibration(path)
