import pytest

from gpufabric.catalog.calibrations import load_collective_calibration
from gpufabric.libraries.time_as_measured import time_as_measured

KNOWN = load_collective_calibration().model_copy(update={"launch_s": 5e-6, "other_start_s": 20e-6})


@pytest.mark.parametrize(
    ("tool", "gpus", "time_us", "printed_us"),
    [
        ("", 8, 10, 10),
        ("torch.distributed", 8, 10, 30),
        ("one process", 8, 10, 40),
        ("one process", 2, 8, 10),
        ("one process", 8, 500, 500),
    ],
)
def test_what_a_tool_prints(tool, gpus, time_us, printed_us):
    assert time_as_measured(time_us * 1e-6, tool, gpus, KNOWN) == pytest.approx(printed_us * 1e-6)
