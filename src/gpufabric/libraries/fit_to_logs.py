"""Measurements of one's own → the published calibration with a few factors on top, and how much they changed.

A factor on latencies and one on rates for each class of hardware and protocol that the measurements ran with. They are pulled
to 1 by how much published clusters of one class differ, so that a handful of measurements moves them a little, many move them
all the way: a ridge regression on logarithms, with errors beyond ``FAR`` counted by their distance.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gpufabric.libraries.estimate import filling_time, time_parts
from gpufabric.records.calibration import Adjustment, Calibration
from gpufabric.records.job_situation import JobSituation
from gpufabric.records.priced_algorithm import PricedAlgorithm

Floats = NDArray[np.float64]
#: Spread of the logarithm between clusters of one class, of latencies and of rates.
SPREADS = (0.35, 0.10)
#: Repeated measurements of one cluster differ by about this.
FAR = 0.05
#: Factors stay within these.
LEAST, MOST = 0.1, 10.0
_ROUNDS = 40


@dataclass(frozen=True, slots=True)
class Observation:
    """One measurement.

    Attributes
    ----------
    candidates : tuple of (PricedAlgorithm, protocol)
        What may have run; the one that is expected to be fastest is taken to have.
    situation : JobSituation
    size_bytes : int
    time_s : float
        Longer than 0.
    """

    candidates: tuple[tuple[PricedAlgorithm, str], ...]
    situation: JobSituation
    size_bytes: int
    time_s: float


@dataclass(frozen=True, slots=True)
class Change:
    """What the measurements of one class and protocol changed.

    Errors are medians of the absolute value of expected / measured - 1, over the observations that ran with the protocol.
    """

    scale_up: str
    network: str
    protocol: str
    latency_factor: float
    rate_factor: float
    observations: int
    error_before: float
    error_after: float


@dataclass(frozen=True, slots=True)
class _Parts:
    """Seconds of all candidates of all observations, flat; ``first`` is the first candidate of each observation."""

    start_s: Floats
    path_s: Floats
    wire_s: Floats
    full_s: Floats
    protocol: NDArray[np.int64]
    first: NDArray[np.int64]
    measured_s: Floats

    def times(self, logs: Floats) -> Floats:
        """Return the seconds of each candidate with factors on latencies (first row of *logs*) and rates."""
        slower, faster = np.exp(logs[0])[self.protocol], np.exp(logs[1])[self.protocol]
        wire = self.wire_s / faster
        return np.asarray(
            self.start_s * slower + self.path_s + wire + filling_time(wire, self.full_s * slower)
        )

    def errors(self, logs: Floats) -> Floats:
        """Return the logarithm of expected / measured time of each observation."""
        return np.log(np.minimum.reduceat(self.times(logs), self.first) / self.measured_s)

    def picks(self, logs: Floats) -> NDArray[np.int64]:
        """Return the protocol that each observation is expected to have run with."""
        times = self.times(logs)
        ends = np.append(self.first[1:], len(times))
        best = [lo + int(np.argmin(times[lo:hi])) for lo, hi in zip(self.first, ends, strict=True)]
        return self.protocol[best]


def refit(
    calibration: Calibration, observations: Sequence[Observation]
) -> tuple[Calibration, tuple[Change, ...]]:
    """Return the calibration with factors that fit a user's own measurements, and what they changed.

    Parameters
    ----------
    calibration : Calibration
        Earlier factors of the classes that are measured are replaced.
    observations : sequence of Observation
        Those without candidates, size or time do not count.
    """
    groups: dict[tuple[str, str], list[Observation]] = defaultdict(list)
    for one in observations:
        if one.candidates and one.size_bytes > 0 and 0 < one.time_s < np.inf:
            key = calibration.scale_up_of(one.situation), calibration.network_of(one.situation)
            groups[key].append(one)
    kept = tuple(a for a in calibration.adjustments if (a.scale_up, a.network) not in groups)
    plain = calibration.model_copy(update={"adjustments": kept})
    changes = [change for key, group in groups.items() for change in _fit_group(plain, key, group)]
    fitted = tuple(
        Adjustment(
            scale_up=c.scale_up,
            network=c.network,
            protocol=c.protocol,
            latency_factor=c.latency_factor,
            rate_factor=c.rate_factor,
            observations=c.observations,
        )
        for c in changes
    )
    return plain.model_copy(update={"adjustments": kept + fitted}), tuple(changes)


def _fit_group(
    calibration: Calibration, key: tuple[str, str], observations: list[Observation]
) -> list[Change]:
    protocols = tuple(calibration.protocols)
    parts = _lay_out(calibration, observations, protocols)
    none = np.zeros((2, len(protocols)))
    logs = _descend(parts, none)
    picked = parts.picks(logs)
    before, after = (np.abs(np.expm1(parts.errors(at))) for at in (none, logs))
    return [
        Change(
            *key,
            protocol,
            float(np.exp(logs[0, i])),
            float(np.exp(logs[1, i])),
            int((picked == i).sum()),
            float(np.median(before[picked == i])),
            float(np.median(after[picked == i])),
        )
        for i, protocol in enumerate(protocols)
        if (picked == i).any()
    ]


def _lay_out(calibration: Calibration, observations: list[Observation], protocols: tuple[str, ...]) -> _Parts:
    rows, protocol, counts = [], [], []
    for one in observations:
        counts.append(len(one.candidates))
        for priced, name in one.candidates:
            found = time_parts(priced, name, one.situation, calibration, one.size_bytes)
            rows.append((found.start_s, found.path_s, found.wire_s, found.full_s))
            protocol.append(protocols.index(name))
    start, path, wire, full = np.array(rows).T
    first = np.cumsum([0, *counts[:-1]])
    return _Parts(
        start, path, wire, full, np.array(protocol), first, np.array([one.time_s for one in observations])
    )


def _descend(parts: _Parts, logs: Floats) -> Floats:
    """Return the factors of least misfit: Gauss-Newton steps, halved until they help."""
    spread = np.repeat(SPREADS, logs.shape[1])
    best = _misfit(parts, logs)
    for _ in range(_ROUNDS):
        error = parts.errors(logs)
        weight = 1 / np.sqrt(1 + (error / FAR) ** 2) / FAR**2
        slope = _slopes(parts, logs)
        curve = slope.T @ (slope * weight[:, None]) + np.diag(1 / spread**2)
        step = -np.linalg.solve(curve, slope.T @ (weight * error) + logs.ravel() / spread**2).reshape(
            logs.shape
        )
        for _halving in range(12):
            trial = np.clip(logs + step, np.log(LEAST), np.log(MOST))
            found = _misfit(parts, trial)
            if found < best:
                break
            step = step / 2
        else:
            return logs
        done = best - found < 1e-9 * max(best, 1.0)
        logs, best = trial, found
        if done:
            return logs
    return logs


def _misfit(parts: _Parts, logs: Floats) -> float:
    error = parts.errors(logs) / FAR
    spread = np.array(SPREADS)[:, None]
    return float((np.sqrt(1 + error**2) - 1).sum() + ((logs / spread) ** 2).sum() / 2)


def _slopes(parts: _Parts, logs: Floats) -> Floats:
    """Return the slope of each observation's error to each factor, one column a factor."""
    here, step = parts.errors(logs), 1e-5
    columns = []
    for place in np.ndindex(logs.shape):
        moved = logs.copy()
        moved[place] += step
        columns.append((parts.errors(moved) - here) / step)
    return np.column_stack(columns)
