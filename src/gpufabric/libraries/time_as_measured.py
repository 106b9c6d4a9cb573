"""What a collective takes, and the tool that measures it → the time that the tool prints."""

from __future__ import annotations

from gpufabric.records.calibration import Calibration
from gpufabric.records.measured_collective import ONE_PROCESS


def time_as_measured(time_s: float, tool: str, process_gpus: int, calibration: Calibration) -> float:
    """Return the seconds that *tool* measures where the collective itself takes ``time_s``.

    A process that drives several GPUs (nccl-tests with ``-g 8``) launches on one after the other and measures many
    iterations in a row: short collectives take as long as their launches. Other tools add a time of their own.

    Parameters
    ----------
    time_s : float
    tool : str
        ``torch.distributed``, ``one process``, or empty: a process a GPU, which adds nothing.
    process_gpus : int
        GPUs that one process drives, where *tool* is ``one process``.
    calibration : Calibration
    """
    if tool == ONE_PROCESS:
        return max(time_s, process_gpus * calibration.launch_s)
    return time_s + (calibration.other_start_s if tool else 0.0)
