"""Demands of a plan and a job on a fabric → what each of them costs there, all its groups at once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gpufabric.jobs.place_job import check_within
from gpufabric.jobs.price_groups import GroupPricer, GroupsTime
from gpufabric.records.demand import OPS, DemandTable, Purpose
from gpufabric.records.job_spec import Placement
from gpufabric.records.train_result import GroupRow

_AXIS = {
    Purpose.TENSOR: "tp",
    Purpose.CONTEXT: "cp",
    Purpose.DISPATCH: "ep",
    Purpose.PIPELINE: "pp",
    Purpose.GRADIENTS: "dp",
}


@dataclass(frozen=True, slots=True)
class PricedDemands:
    """Demands with their times: ``time_s`` once each, ``rows`` as people see them, one a demand.

    ``wire_s`` is the part of the time that depends on the bytes, and ``between`` whether the groups leave their scale-up domains.
    """

    time_s: NDArray[np.float64]
    wire_s: NDArray[np.float64]
    between: NDArray[np.bool_]
    rows: tuple[GroupRow, ...]


_NONE = np.empty(0)
NO_NETWORK = PricedDemands(_NONE, _NONE, _NONE.astype(np.bool_), ())
"""What one GPU asks of the network."""


def price_demands(pricer: GroupPricer, demands: DemandTable, placement: Placement) -> PricedDemands:
    """Return what each demand of one plan costs on the fabric.

    Parameters
    ----------
    pricer : GroupPricer
    demands : DemandTable
        Of one plan.
    placement : Placement
        As the job has it: the places that groups may span.

    Raises
    ------
    InputError
        If a group spans more than the job allows.
    UnbuildableError
        If nothing that the library may run has a way through the fabric.
    """
    found: list[GroupsTime] = []
    rows: list[GroupRow] = []
    for row in range(len(demands)):
        purpose, op = int(demands.purpose[row]), OPS[int(demands.op[row])]
        copies = float(demands.spread[row]), float(demands.copies[row])
        several = [
            (groups, pricer.time(op, groups, key, float(demands.size_bytes[row]), copies))
            for key, groups in demand_groups(pricer, demands, row)
        ]
        axis = _AXIS.get(purpose)
        if axis in placement.within:
            for groups, _ in several:
                check_within(axis, pricer.placement, groups, placement.within[axis])
        groups, slowest = max(several, key=lambda one: one[1].time_s)
        found.append(slowest)
        rows.append(_row(pricer, (demands, row), groups, sum(len(one) for one, _ in several), slowest))
    return PricedDemands(
        time_s=np.array([one.time_s for one in found], np.float64),
        wire_s=np.array([one.wire_s for one in found], np.float64),
        between=np.array([one.domains > 1 for one in found], np.bool_),
        rows=tuple(rows),
    )


def demand_groups(
    pricer: GroupPricer, demands: DemandTable, row: int
) -> Iterator[tuple[tuple[object, ...], NDArray[np.int64]]]:
    """Give the sets of groups that a demand has at work at one time, each with what tells it from others.

    A stage deals with one neighbour at a time: first the pairs that begin at even stages, then those at odd ones.
    """
    placement, purpose = pricer.placement, int(demands.purpose[row])
    size, stride = demands.size[row], demands.stride[row]
    key = (*size.tolist(), *stride.tolist())
    if purpose not in (Purpose.PIPELINE, Purpose.EMBEDDING):
        yield key, placement.groups(size, stride)
        return
    stage, stages = placement.coordinate("pp"), placement.degree["pp"]
    if purpose == Purpose.EMBEDDING:
        yield (*key, "ends"), placement.groups(size, stride, stage == 0)
        return
    for parity in range(min(2, stages - 1)):
        first = (stage % 2 == parity) & (stage < stages - 1)
        yield (*key, parity), placement.groups(size, stride, first)


def _row(
    pricer: GroupPricer,
    demand: tuple[DemandTable, int],
    groups: NDArray[np.int64],
    count: int,
    found: GroupsTime,
) -> GroupRow:
    demands, row = demand
    spans = pricer.placement.spans(groups)
    return GroupRow(
        purpose=Purpose.NAMES[int(demands.purpose[row])],
        op=OPS[int(demands.op[row])],
        groups=count,
        ranks=groups.shape[1],
        servers=spans["server"],
        domains=spans["scale-up"],
        units=spans["unit"],
        rails=spans["rail"],
        size_bytes=float(demands.size_bytes[row]),
        times=float(demands.count[row]),
        time_s=found.time_s,
        low_s=found.low_s,
        high_s=found.high_s,
        algorithm=found.algorithm,
        bottleneck=found.bottleneck,
        contention=found.contention,
    )
