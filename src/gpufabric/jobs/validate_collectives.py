"""Published measurements → how far the predictions lie from them: ``gpufabric validate collectives``."""

from __future__ import annotations

from pathlib import Path

from gpufabric.catalog.calibrations import fitted_clusters, load_collective_calibration
from gpufabric.catalog.measurements import COLLECTIVES, fold_of
from gpufabric.errors import InputError, printable
from gpufabric.formats.measured_collectives_csv import read_measured_collectives
from gpufabric.jobs.predict_measured import PredictedRow, predict_rows
from gpufabric.jobs.summarise_errors import (
    LARGE_BYTES,
    ONLY_CLUSTER,
    bars,
    size_band,
    summarise,
    summarise_by,
    without_lonely_classes,
)
from gpufabric.records.calibration import Calibration
from gpufabric.records.measured_collective import LeftOut
from gpufabric.records.validation import UNITS, Quantity, ValidatedRow, Validation

# Where the NICs are unknown, a prediction for those of the description may be off by their number and rate; from no measurement.
UNKNOWN_NICS = 2.0
# A figure that was published to one digit can't judge a prediction.
MOST_ROUNDING = 0.05
# So much above its ceiling, beyond its own rounding, a figure is wrong or of another cluster than the description's.
ABOVE_CEILING = 0.01


def validate_collectives(
    path: Path | str | None = None, *, in_sample: bool = False, calibration: Calibration | None = None
) -> Validation:
    """Predict every measurement of a table and say how far the predictions lie off.

    A cluster that the shipped calibration was fitted to is predicted with constants that were fitted without it. Any other one is
    judged by all of them, so it counts even where it is the only one of its class.

    Parameters
    ----------
    path
        CSV with the columns of the shipped table; None: the shipped table.
    in_sample
        Predict it with the constants that were fitted to all clusters instead.
    calibration
        What to predict all clusters with, such as one that was fitted to own logs; None: the shipped one.

    Raises
    ------
    InputError
        If the file is no such table, or none of its rows can be predicted.
    """
    table = read_measured_collectives(path or COLLECTIVES)
    folder = Path(path).parent if path else COLLECTIVES.parent
    left_out: list[LeftOut] = list(table.left_out)
    rows: list[ValidatedRow] = []
    place = {row.line: position for position, row in enumerate(table.rows)}
    found: list[tuple[int, ValidatedRow]] = []
    known = set(fitted_clusters()) if calibration is None else set()

    def calibration_of(cluster: str) -> Calibration:
        return calibration or load_collective_calibration(
            cluster if cluster in known and not in_sample else ""
        )

    for one in predict_rows(table.rows, folder, calibration_of):
        if isinstance(one, LeftOut):
            left_out.append(one)
        else:
            in_fit = None if calibration else in_sample and one.row.cluster in known
            found.append((place[one.row.line], _validated(one, in_fit)))
    if not found:
        first = min(left_out, key=lambda row: row.line)
        raise InputError(
            f"{table.file}:{first.line}: no row of the table can be predicted (here: {first.reason}); "
            "allowed are measurements of described clusters; mend the rows"
        )
    shipped = frozenset(fitted_clusters())
    rows = without_lonely_classes([row for _, row in sorted(found, key=lambda pair: pair[0])], shipped)
    counted = [row for row in rows if not row.not_counted]
    could = [row for row in rows if row.not_counted in ("", ONLY_CLUSTER)]
    return Validation(
        file=table.file if path else "shipped measurements",
        rows=tuple(rows),
        left_out=tuple(sorted(left_out, key=lambda row: row.line)),
        summary=summarise(counted),
        groups={
            "class": summarise_by(could, lambda row: row.hw_class),
            "op": summarise_by(counted, lambda row: row.op),
            "size_band": summarise_by(counted, size_band),
        },
        bars=bars(counted),
        method=_method(calibration, in_sample),
    )


def _method(calibration: Calibration | None, in_sample: bool) -> str:
    if calibration is not None:
        return f"constants of {printable(calibration.name)}; they may have been fitted to these clusters"
    if in_sample:
        return "constants fitted to all clusters, those that are judged among them: flattering"
    return "each cluster predicted with constants that were fitted without it"


def _validated(one: PredictedRow, in_fit: bool | None) -> ValidatedRow:
    row, result = one.row, one.result
    quantity: Quantity = "time_s" if row.size_bytes < LARGE_BYTES else "busbw_bytes_per_s"
    unknown = one.leaves_domain and not row.nics_known
    slack = UNKNOWN_NICS if unknown else 1.0
    # More NICs than described or faster ones do not lift what the description allows.
    least = result.time_s * result.busbw_bytes_per_s / result.ceiling_busbw_bytes_per_s
    # What the tool adds, or the launches that a short collective takes as long as, vary as the collective's own time does.
    time, added = one.time_s, one.time_s / result.time_s if result.time_s > 0 else 1.0
    fast = max(result.time_low_s * added / slack, least)
    slow = result.time_high_s * added * slack
    if quantity == "time_s":
        predicted, low, high, measured = time, fast, slow, row.time_s
    else:
        moved = result.busbw_bytes_per_s * result.time_s
        predicted, low, high = moved / time, moved / slow, moved / fast
        measured = row.busbw_bytes_per_s
    ceilings = (result.ceiling_busbw_bytes_per_s, result.in_network_ceiling_busbw_bytes_per_s or 0.0)
    not_counted = ""
    if row.kind != "measured":
        not_counted = f"{row.kind}, not measured"
    elif unknown:
        not_counted = "number or rate of the NICs is not known"
    elif row.rounding > MOST_ROUNDING:
        not_counted = "published to too few digits"
    elif row.busbw_bytes_per_s > max(ceilings) * (1 + ABOVE_CEILING + row.rounding):
        not_counted = "above the ceiling of the described wiring: the figure or the description is wrong"
    return ValidatedRow(
        id=row.id,
        cluster=row.cluster,
        fold=fold_of("collectives", row.cluster),
        hw_class=row.hw_class or one.gpu,
        op=row.op,
        nodes=row.nodes,
        gpus=row.gpus,
        size_bytes=row.size_bytes,
        quantity=quantity,
        unit=UNITS[quantity],
        predicted=predicted,
        low=low,
        high=high,
        measured=measured,
        error=predicted / measured - 1,
        algorithm=result.algorithm,
        protocol=result.protocol,
        in_fit=in_fit,
        not_counted=not_counted,
        notes=one.notes,
    )
