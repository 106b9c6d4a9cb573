"""Logs of nccl-tests and the cluster that they were measured on → a calibration fitted on top, and how much that changed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from gpufabric.errors import InputError
from gpufabric.jobs.doubtful_factors import doubtful_factors, socket_logs
from gpufabric.jobs.log_measurements import log_measurements
from gpufabric.jobs.measured_runs import wire_spec
from gpufabric.jobs.price_measured import MeasuredJob, price_measured
from gpufabric.libraries.estimate import estimate
from gpufabric.libraries.fit_to_logs import Change, Observation, refit
from gpufabric.records.calibration import Calibration
from gpufabric.records.cluster_spec import ClusterSpec
from gpufabric.records.measured_collective import ONE_PROCESS, LeftOut, MeasuredCollective

#: Times below so many times the launches of one process say little of the collective.
MOST_LAUNCHES = 2.0
_LAUNCHES = "one process drove several GPUs (-g): so short a time is that of its launches"


@dataclass(frozen=True, slots=True)
class LogCalibration:
    """A calibration fitted to logs.

    ``error_before`` and ``error_after`` are medians of |predicted / measured − 1| of the time over the rows of the logs, with the
    calibration that was fitted on and with the new one. ``warnings`` say what to look at before the factors are believed.
    """

    calibration: Calibration
    changes: tuple[Change, ...]
    rows: int
    error_before: float
    error_after: float
    left_out: tuple[LeftOut, ...]
    warnings: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain JSON values; the calibration itself is in the file that is written."""
        return {
            "rows": self.rows,
            "error_before": self.error_before,
            "error_after": self.error_after,
            "changes": [asdict(change) for change in self.changes],
            "left_out": [asdict(row) for row in self.left_out],
            "warnings": list(self.warnings),
        }


def calibrate_logs(
    spec: ClusterSpec, logs: Sequence[str | Path | BinaryIO], calibration: Calibration
) -> LogCalibration:
    """Fit the constants that the logs speak of on top of a calibration.

    Parameters
    ----------
    spec
        The cluster that the logs were measured on.
    logs
        Paths, ``-`` for standard input, or open binary streams.
    calibration
        What is fitted on.

    Raises
    ------
    InputError
        If a log can't be read, or none has a row to learn from.
    UnbuildableError, PartError, SpecError
        If the cluster can't be built.
    """
    wired = wire_spec(spec)
    rows, left_out = log_measurements(logs, wired)
    launches = [row for row in rows if _as_long_as_launches(row, calibration)]
    left_out += tuple(LeftOut(row.id, row.source, row.line, _LAUNCHES) for row in launches)
    priced = list(price_measured([row for row in rows if row not in launches], Path(), wired))
    jobs = [job for job in priced if isinstance(job, MeasuredJob)]
    left_out += tuple(row for row in priced if isinstance(row, LeftOut))
    observations = [one for job in jobs for one in _observations(job)]
    if not observations:
        reason = left_out[0].reason if left_out else "no row is free of contradictions"
        raise InputError(
            f"{spec.name}: nothing in the logs can be learned from ({reason}); give logs of nccl-tests"
        )
    fitted, changes = refit(calibration, observations)
    return LogCalibration(
        fitted,
        changes,
        len(observations),
        _median_error(observations, calibration),
        _median_error(observations, fitted),
        left_out,
        (*socket_logs(logs), *doubtful_factors(changes, calibration)),
    )


def _as_long_as_launches(row: MeasuredCollective, calibration: Calibration) -> bool:
    """Say whether a time may be that of a process that launches on several GPUs in turn, which the collective hides behind."""
    return row.tool == ONE_PROCESS and row.time_s < MOST_LAUNCHES * calibration.launch_s * (
        row.gpus // row.nodes
    )


def _observations(job: MeasuredJob) -> Iterator[Observation]:
    for row in job.rows:
        yield Observation(job.candidates, job.situation, row.size_bytes, row.time_s)


def _median_error(observations: Sequence[Observation], calibration: Calibration) -> float:
    errors = [
        min(
            estimate(priced, protocol, one.situation, calibration, one.size_bytes).time_s
            for priced, protocol in one.candidates
        )
        / one.time_s
        - 1
        for one in observations
    ]
    return float(np.median(np.abs(errors)))
