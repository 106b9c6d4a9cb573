"""Rows of measurements → what gpufabric predicts for them, each distinct run priced once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from gpufabric.errors import GpufabricError
from gpufabric.jobs.collective import CollectiveOptions, predict_collective
from gpufabric.jobs.described_collective import with_description
from gpufabric.jobs.measured_runs import PlacedRun, left_out, place_run, runs_of
from gpufabric.records.calibration import Calibration
from gpufabric.records.measured_collective import LeftOut, MeasuredCollective
from gpufabric.records.results import CollectiveResult


@dataclass(frozen=True, slots=True)
class PredictedRow:
    """A measurement, its prediction, whether its ranks leave a scale-up domain, and what was not acted on."""

    row: MeasuredCollective
    result: CollectiveResult
    leaves_domain: bool
    notes: tuple[str, ...]


def predict_rows(
    rows: Sequence[MeasuredCollective], folder: Path, calibration: Calibration | None
) -> Iterator[PredictedRow | LeftOut]:
    """Yield the prediction of each row, run by run; rows that can't be predicted are left out with the reason.

    Parameters
    ----------
    rows
    folder
        What paths of descriptions are relative to.
    calibration
        The constants of the predictions.
    """
    for run, measured in runs_of(rows).items():
        try:
            yield from _predict(place_run(run, folder), run.op, measured, calibration)
        except GpufabricError as error:
            yield from left_out(measured, error)


def _predict(
    placed: PlacedRun, op: str, measured: Sequence[MeasuredCollective], calibration: Calibration | None
) -> Iterator[PredictedRow]:
    racked, choice = placed.wired.racked, placed.choice
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
        yield PredictedRow(row, by_size[row.size_bytes], placed.leaves_domain, placed.notes)
