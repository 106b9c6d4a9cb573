"""Rows of measurements → what gpufabric predicts for them, each distinct run priced once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np

from gpufabric.catalog.measurements import CLUSTERS
from gpufabric.errors import GpufabricError, InputError, did_you_mean, printable
from gpufabric.formats.cluster_yaml import PRESET_PREFIX, preset_spec, read_cluster_spec
from gpufabric.formats.library_settings_text import read_library_text
from gpufabric.jobs.collective import CollectiveOptions, predict_collective
from gpufabric.jobs.described_collective import with_description
from gpufabric.jobs.load_parts import catalog_for
from gpufabric.jobs.place_measured import measured_ranks
from gpufabric.jobs.racked_cluster import RackedCluster, racked_cluster
from gpufabric.records.cluster_spec import ClusterSpec
from gpufabric.records.measured_collective import LeftOut, MeasuredCollective
from gpufabric.records.results import CollectiveResult
from gpufabric.records.ring_range import RingRange


@dataclass(frozen=True, slots=True)
class PredictedRow:
    """A measurement, its prediction, whether its ranks leave a scale-up domain, and what was not acted on."""

    row: MeasuredCollective
    result: CollectiveResult
    leaves_domain: bool
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Run:
    cluster: str
    cluster_spec: str
    nodes: int
    gpus: int
    op: str
    library_version: str
    settings_text: str
    rank_order: str


def predict_rows(
    rows: Sequence[MeasuredCollective], folder: Path, calibration: RingRange | None
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
    runs: dict[_Run, list[MeasuredCollective]] = {}
    for row in rows:
        runs.setdefault(_run_of(row), []).append(row)
    for run, measured in runs.items():
        try:
            yield from _predict_run(run, measured, folder, calibration)
        except GpufabricError as error:
            for row in measured:
                yield LeftOut(row.id, row.cluster, row.line, " ".join(str(error).split()))


def described(cluster: str, cluster_spec: str, folder: Path) -> ClusterSpec:
    """Return the description of the cluster of a row: the file or preset that it names, or the shipped one of its cluster.

    Raises
    ------
    InputError, SpecError
        If there is none, or it is wrong.
    """
    if cluster_spec.startswith(PRESET_PREFIX):
        return preset_spec(cluster_spec.removeprefix(PRESET_PREFIX))
    if cluster_spec:
        return read_cluster_spec(folder / cluster_spec)
    shipped = {path.stem: path for path in CLUSTERS.glob("*.yaml")}
    if cluster not in shipped:
        raise InputError(
            f'cluster "{printable(cluster)}" is not shipped and cluster_spec is blank; name its description there.'
            f"{did_you_mean(cluster[:80], shipped)}"
        )
    return read_cluster_spec(shipped[cluster])


def _run_of(row: MeasuredCollective) -> _Run:
    return _Run(
        row.cluster,
        row.cluster_spec,
        row.nodes,
        row.gpus,
        row.op,
        row.library_version,
        row.settings_text,
        row.rank_order,
    )


@lru_cache(maxsize=64)
def _built(cluster: str, cluster_spec: str, folder: Path) -> tuple[ClusterSpec, RackedCluster]:
    spec = described(cluster, cluster_spec, folder)
    return spec, racked_cluster(spec, catalog_for(spec))


def _predict_run(
    run: _Run, measured: Sequence[MeasuredCollective], folder: Path, calibration: RingRange | None
) -> Iterator[PredictedRow]:
    spec, racked = _built(run.cluster, run.cluster_spec, folder)
    cluster = racked.cluster
    library, notes = read_library_text(run.library_version, run.settings_text, spec.library.name)
    choice, gpus = measured_ranks(spec, cluster, run.nodes, run.gpus, run.rank_order, folder)
    options = with_description(
        spec,
        CollectiveOptions(
            ranks=run.gpus,
            order=choice.order,
            seed=choice.seed,
            calibration=calibration,
            placement=choice.placement,
            places=choice.places,
            library=library,
        ),
    )
    sizes = sorted({row.size_bytes for row in measured})
    found = predict_collective(cluster, racked.parts, run.op, sizes, options)
    by_size = {result.size_bytes: result for result in found}
    leaves = len(np.unique(cluster.gpus.domain[gpus])) > 1
    for row in measured:
        yield PredictedRow(row, by_size[row.size_bytes], leaves, notes)
