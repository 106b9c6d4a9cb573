"""Rows of measurements → runs, each on the wiring of its cluster."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from gpufabric.catalog.measurements import CLUSTERS
from gpufabric.errors import GpufabricError, InputError, did_you_mean, printable
from gpufabric.formats.cluster_yaml import PRESET_PREFIX, preset_spec, read_cluster_spec
from gpufabric.formats.library_settings_text import read_library_text
from gpufabric.jobs.choose_ranks import RankChoice
from gpufabric.jobs.load_parts import catalog_for
from gpufabric.jobs.place_measured import measured_ranks
from gpufabric.jobs.racked_cluster import RackedCluster, racked_cluster
from gpufabric.records.cluster_spec import ClusterSpec
from gpufabric.records.measured_collective import LeftOut, MeasuredCollective
from gpufabric.records.spec_fields import Library


@dataclass(frozen=True, slots=True)
class WiredSpec:
    """A description and its wiring."""

    spec: ClusterSpec
    racked: RackedCluster


@dataclass(frozen=True, slots=True)
class Run:
    """What rows of one run have in common; they differ in size and result only."""

    cluster: str
    cluster_spec: str
    nodes: int
    gpus: int
    op: str
    library_version: str
    settings_text: str
    rank_order: str


@dataclass(frozen=True, slots=True)
class PlacedRun:
    """A run on its cluster: the wiring, the library with its settings, and the GPU of each rank.

    ``notes`` say what of the settings was not understood.
    """

    wired: WiredSpec
    library: Library
    choice: RankChoice
    gpus: NDArray[np.int32]
    notes: tuple[str, ...]

    @property
    def leaves_domain(self) -> bool:
        """Whether the ranks are in more than one scale-up domain, so that NICs matter."""
        return len(np.unique(self.wired.racked.cluster.gpus.domain[self.gpus])) > 1


def wire_spec(spec: ClusterSpec) -> WiredSpec:
    """Return a description with its wiring; raises as :func:`gpufabric.jobs.racked_cluster.racked_cluster` does."""
    return WiredSpec(spec, racked_cluster(spec, catalog_for(spec)))


def runs_of(rows: Sequence[MeasuredCollective]) -> dict[Run, list[MeasuredCollective]]:
    """Return the runs in order of their first row, each with its rows."""
    runs: dict[Run, list[MeasuredCollective]] = {}
    for row in rows:
        run = Run(
            row.cluster,
            row.cluster_spec,
            row.nodes,
            row.gpus,
            row.op,
            row.library_version,
            row.settings_text,
            row.rank_order,
        )
        runs.setdefault(run, []).append(row)
    return runs


def left_out(rows: Sequence[MeasuredCollective], error: GpufabricError) -> Iterator[LeftOut]:
    """Yield why each of *rows* is left out."""
    for row in rows:
        yield LeftOut(row.id, row.cluster, row.line, " ".join(str(error).split()))


def place_run(run: Run, folder: Path, wired: WiredSpec | None = None) -> PlacedRun:
    """Return a run on its cluster.

    Parameters
    ----------
    run
    folder
        What paths are relative to.
    wired
        The cluster; None: the one that the run names, or the shipped one of its name.

    Raises
    ------
    GpufabricError
        If the cluster can't be built or the ranks do not fit it.
    """
    known = wired or _wired(run.cluster, run.cluster_spec, folder)
    own = known.spec.library
    said, notes = read_library_text(run.library_version, run.settings_text)
    fields: dict[str, object] = {name: getattr(own, name) for name in own.model_fields_set}
    fields |= {name: getattr(said, name) for name in said.model_fields_set - {"settings"}}
    library = Library.model_validate({**fields, "settings": {**own.settings, **said.settings}})
    choice, gpus = measured_ranks(
        known.spec, known.racked.cluster, run.nodes, run.gpus, run.rank_order, folder
    )
    return PlacedRun(known, library, choice, gpus, notes)


@lru_cache(maxsize=64)
def _wired(cluster: str, cluster_spec: str, folder: Path) -> WiredSpec:
    if cluster_spec.startswith(PRESET_PREFIX):
        return wire_spec(preset_spec(cluster_spec.removeprefix(PRESET_PREFIX)))
    if cluster_spec:
        return wire_spec(read_cluster_spec(folder / cluster_spec))
    shipped = {path.stem: path for path in CLUSTERS.glob("*.yaml")}
    if cluster not in shipped:
        raise InputError(
            f'cluster "{printable(cluster)}" is not shipped and cluster_spec is blank; name its description there.'
            f"{did_you_mean(cluster[:80], shipped)}"
        )
    return wire_spec(read_cluster_spec(shipped[cluster]))
