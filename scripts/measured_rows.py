"""Table of published collectives → rows with a situation and everything that the library may have run, priced on the wiring."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from gpufabric.catalog.measurements import fold_of
from gpufabric.formats.measured_collectives_csv import read_measured_collectives
from gpufabric.jobs.price_measured import MeasuredJob, price_measured
from gpufabric.records.job_situation import JobSituation
from gpufabric.records.measured_collective import LeftOut, MeasuredCollective
from gpufabric.records.priced_algorithm import PricedAlgorithm

#: What was published with half of its last digit above this share of it says too little.
MOST_ROUNDING = 0.1
Candidates = tuple[tuple[PricedAlgorithm, str], ...]


@dataclass(frozen=True)
class MeasuredRow:
    """One row. ``known`` says that what it runs over is published: NICs, or that none are used."""

    cluster: str
    hw_class: str
    op: str
    size_bytes: int
    time_s: float
    tool: str
    servers: int
    rounding: float
    known: bool
    situation: JobSituation
    candidates: Candidates


def read_rows(path: Path) -> tuple[list[MeasuredRow], Counter[str]]:
    """Return the usable rows, and how many were left out for which reason."""
    table = read_measured_collectives(path)
    left_out = Counter("can't be read" for _ in table.left_out)
    usable: list[MeasuredCollective] = []
    for row in table.rows:
        if row.kind != "measured":
            left_out["not a measurement"] += 1
        elif row.rounding > MOST_ROUNDING and row.time_s > 0:
            left_out["printed with too few digits"] += 1
        else:
            usable.append(row)
    rows: list[MeasuredRow] = []
    for job in price_measured(usable, path.parent):
        if isinstance(job, LeftOut):
            left_out["can't be priced"] += 1
        elif not job.candidates:
            left_out["no algorithm is known"] += len(job.rows)
        else:
            rows += _rows(job)
    return rows, left_out


def _rows(job: MeasuredJob) -> Iterator[MeasuredRow]:
    candidates = tuple((replace(priced, link_bytes=None), protocol) for priced, protocol in job.candidates)
    for row in job.rows:
        yield MeasuredRow(
            fold_of("collectives", row.cluster),
            row.hw_class,
            row.op,
            row.size_bytes,
            row.time_s,
            row.tool,
            row.nodes,
            row.rounding,
            row.nics_known or not job.nics_matter,
            job.situation,
            candidates,
        )


def sources_of(path: Path) -> list[tuple[str, str]]:
    """Return title and address (``address@commit file``) of the sources of measurements, each once."""
    with path.open(encoding="utf-8", newline="") as file:
        return sorted(
            {(r["source"], r["source_ref"]) for r in csv.DictReader(file) if r["kind"] == "measured"}
        )
