"""Rows of measurements → what gpufabric predicts for them, each distinct run priced once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from gpufabric.errors import GpufabricError
from gpufabric.jobs.collective import CollectiveOptions, predict_collective
from gpufabric.jobs.described_collective import with_description
from gpufabric.jobs.measured_runs import PlacedRun, left_out, place_run, runs_of
from gpufabric.libraries.time_as_measured import time_as_measured
from gpufabric.records.calibration import Calibration
from gpufabric.records.measured_collective import LeftOut, MeasuredCollective
from gpufabric.records.results import CollectiveResult


@dataclass(frozen=True, slots=True)
class PredictedRow:
    """A measurement, its prediction, whether its ranks leave a scale-up domain, and what was not acted on.

    ``time_s`` is the result's time as the tool that measured prints it. ``gpu`` is the part of the GPU of rank 0, as the
    description has it.
    """

    row: MeasuredCollective
    result: CollectiveResult
    time_s: float
    leaves_domain: bool
    notes: tuple[str, ...]
    gpu: str = ""


def predict_rows(
    rows: Sequence[MeasuredCollective], folder: Path, calibration_of: Callable[[str], Calibration]
) -> Iterator[PredictedRow | LeftOut]:
    """Yield the prediction of each row, run by run; rows that can't be predicted are left out with the reason.

    Parameters
    ----------
    rows
    folder
        What paths of descriptions are relative to.
    calibration_of
        Cluster → the constants that it is predicted with.
    """
    for run, measured in runs_of(rows).items():
        try:
            yield from _predict(place_run(run, folder), run.op, measured, calibration_of(run.cluster))
        except GpufabricError as error:
            yield from left_out(measured, error)


def _predict(
    placed: PlacedRun, op: str, measured: Sequence[MeasuredCollective], calibration: Calibration
) -> Iterator[PredictedRow]:
    racked, choice = placed.wired.racked, placed.choice
    cluster = racked.cluster
    server = racked.parts.servers[cluster.parts[cluster.devices.part[cluster.gpus.host[placed.gpus[0]]]]]
    options = CollectiveOptions(
        ranks=len(placed.gpus),
        order=choice.order,
        seed=choice.seed,
        calibration=calibration,
        placement=choice.placement,
        places=choice.places,
        library=placed.library,
    )
    options = with_description(placed.wired.spec, options)
    sizes = sorted({row.size_bytes for row in measured})
    found = predict_collective(racked.cluster, racked.parts, op, sizes, options)
    by_size = {result.size_bytes: result for result in found}
    for row in measured:
        result = by_size[row.size_bytes]
        time_s = time_as_measured(result.time_s, row.tool, row.gpus // row.nodes, calibration)
        yield PredictedRow(row, result, time_s, placed.leaves_domain, placed.notes, server.gpu)
