"""A training plan and a cluster → the GPU of every rank, the groups of ranks, and which servers, rails and units they span."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gpufabric.collectives.rank_order import rank_gpus
from gpufabric.errors import InputError
from gpufabric.jobs.choose_ranks import RankChoice
from gpufabric.records.cluster import Cluster
from gpufabric.records.plan_table import PlanTable
from gpufabric.units import counted

BASE_AXES = ("tp", "cp", "dp", "pp")
"""Axes whose degrees multiply to the number of ranks; experts are laid over tp × cp × dp."""
PLACES = ("server", "scale-up", "rack", "unit", "rail", "cluster")
"""What ``placement.within`` of a job names, as :meth:`JobPlacement.spans` counts it."""


@dataclass(frozen=True, slots=True)
class JobPlacement:
    """The ranks of one plan on the GPUs of a cluster. N ranks.

    Attributes
    ----------
    cluster : Cluster
    gpu : int32 array, N
        GPU of each rank.
    degree, stride : mapping of axis to int
        Ranks along each axis, and the distance in ranks of neighbours along it.
    """

    cluster: Cluster
    gpu: NDArray[np.int32]
    degree: Mapping[str, int]
    stride: Mapping[str, int]

    def coordinate(self, axis: str) -> NDArray[np.int64]:
        """Return the place of every rank along an axis: int64, N."""
        return np.arange(len(self.gpu)) // self.stride[axis] % self.degree[axis]

    def groups(
        self, size: NDArray[np.integer], stride: NDArray[np.integer], first: NDArray[np.bool_] | None = None
    ) -> NDArray[np.int64]:
        """Return the ranks of every group with two extents: int64, (groups, outer × inner).

        Parameters
        ----------
        size, stride : int arrays, 2
            Outer and inner extent, as :class:`gpufabric.records.demand.DemandTable` has them.
        first : bool array, N, optional
            Ranks that begin a group; left out, groups share out all ranks.
        """
        (outer, inner), (jump, step) = (tuple(int(n) for n in pair) for pair in (size, stride))
        ranks = np.arange(len(self.gpu))
        if first is None:
            first = (ranks // max(step, 1) % inner == 0) & (ranks // max(jump, 1) % outer == 0)
        apart = (np.arange(outer)[:, None] * jump + np.arange(inner) * step).ravel()
        members: NDArray[np.int64] = ranks[first][:, None] + apart
        return members

    def spans(self, groups: NDArray[np.int64]) -> dict[str, int]:
        """Return, for each of ``PLACES`` but the cluster, how many of them the group that spans most has GPUs in."""
        gpus, devices, gpu = self.cluster.gpus, self.cluster.devices, self.gpu[groups]
        host = gpus.host[gpu]
        column: dict[str, NDArray[np.integer]] = {
            "server": host,
            "scale-up": gpus.domain[gpu],
            "rack": devices.rack[host],
            "unit": devices.unit[host],
            "rail": gpus.local[gpu],
        }
        return {name: _most_different(values) for name, values in column.items()}


def place_job(cluster: Cluster, plans: PlanTable, choice: RankChoice, fabric: int = 0) -> JobPlacement:
    """Return where the ranks of a plan are.

    Parameters
    ----------
    cluster : Cluster
    plans : PlanTable
        One row. Ranks are numbered along ``order``, the first axis the fastest.
    choice : RankChoice
        Order, seed and placement, as of any collective.
    fabric : int
        Index of the fabric that carries the job.

    Raises
    ------
    InputError
        If the cluster has too few GPUs, or the order does not fit it.
    """
    degree = {axis: int(getattr(plans, axis)[0]) for axis in BASE_AXES}
    stride, passed = {}, 1
    for axis in (axis for axis in plans.order if axis in degree):
        stride[axis] = passed
        passed *= degree[axis]
    gpu = rank_gpus(cluster, passed, choice.order, choice.seed, fabric, choice.placement, choice.places)
    return JobPlacement(cluster, gpu, degree, stride)


def check_within(what: str, placement: JobPlacement, groups: NDArray[np.int64], place: str) -> None:
    """Refuse a group that spans more than the place that the job allows.

    Parameters
    ----------
    what : str
        The axis, as the job names it.
    placement, groups
        As :meth:`JobPlacement.groups` returns them.
    place : str
        One of ``PLACES``.

    Raises
    ------
    InputError
        With the largest degree that stays inside.
    """
    if place == "cluster":
        return
    spanned = placement.spans(groups)[place]
    if spanned <= 1:
        return
    fits = groups.shape[1]
    while fits > 1 and placement.spans(groups[:, :fits])[place] > 1:
        fits -= 1
    raise InputError(
        f"placement.within.{what}: a group of {groups.shape[1]} ranks spans {counted(spanned, place)}; allowed is 1; "
        f"lower {what} to {fits}, or put it first in placement.order"
    )


def _most_different(values: NDArray[np.integer]) -> int:
    """Return the most different values in a row."""
    if not values.size:
        return 0
    ordered = np.sort(values, axis=1)
    return int(1 + np.count_nonzero(np.diff(ordered, axis=1), axis=1).max())
