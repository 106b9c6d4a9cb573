"""A collective → its ring schedule: every channel passes chunks round a closed order of all GPUs."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gpufabric.collectives.check_asked import check_op
from gpufabric.collectives.fixed_steps import fixed_steps, pick_edges
from gpufabric.collectives.job_wiring import JobWiring
from gpufabric.collectives.lanes import Lane, lay_lanes
from gpufabric.collectives.port_channels import one_by_one
from gpufabric.records.collective import Collective
from gpufabric.records.schedule import Channel, Edges, Phase, Schedule


def plan(collective: Collective, job: JobWiring) -> Schedule:
    """Return the ring schedule of all_reduce, all_gather, reduce_scatter, broadcast or reduce.

    Each channel carries an equal part of the buffer. Reduce-scatter and all-gather cut it into n chunks and take n - 1 steps, an
    all-reduce is one after the other. Broadcast and reduce pass the whole part along the ring, which is a chain from or to the
    root, as NCCL does.

    Parameters
    ----------
    collective : Collective
    job : JobWiring

    Raises
    ------
    InputError
        If the operation is another.
    UnbuildableError
        If a node has no port.

    Notes
    -----
    Patarasuk and Yuan, Bandwidth optimal all-reduce algorithms for clusters of workstations, 2009: 2 (n - 1)/n of the buffer a
    rank. Chan et al., Collective communication: theory, practice, and experience, 2007: the others' bounds.
    """
    check_op(collective, "ring", _PHASES)
    lanes = lay_lanes(job)
    root = int(job.gpu[job.place_of_rank(collective.root)])
    make, chunks = _PHASES[collective.op], _CHUNKS.get(collective.op, len(job.gpu))
    share = 1 / (len(lanes) * chunks)
    return Schedule(
        "ring",
        tuple(
            Channel(lane.order, chunks, share, make(ring_edges(lane), share, root), lane.rail)
            for lane in lanes
        ),
    )


def ring_edges(lane: Lane) -> Edges:
    """Return the edges of the closed order of a lane: edge *p* leads from its GPU *p* to the next."""
    exits, entries = (np.full(len(lane.order), -1, np.int32) for _ in range(2))
    if len(lane.exit_port):
        last = lane.node_first - 1
        exits[last] = np.roll(lane.exit_port, 1)
        entries[last] = lane.entry_port
    return Edges(lane.order, np.roll(lane.order, -1), exits, entries)


def _reduce_scatter(edges: Edges, share: float, _root: int) -> tuple[Phase, ...]:
    position = np.arange(len(edges))
    steps = fixed_steps(edges, share, (position - 1, 1, 1), advance=-1)
    return (Phase("reduce-scatter", len(edges) - 1, steps, reduces=True),)


def _all_gather(edges: Edges, share: float, _root: int) -> tuple[Phase, ...]:
    steps = fixed_steps(edges, share, (np.arange(len(edges)), 1, 1), advance=-1)
    return (Phase("all-gather", len(edges) - 1, steps, reduces=False),)


def _all_reduce(edges: Edges, share: float, root: int) -> tuple[Phase, ...]:
    return one_by_one((*_reduce_scatter(edges, share, root), *_all_gather(edges, share, root)))


def _broadcast(edges: Edges, share: float, root: int) -> tuple[Phase, ...]:
    used = np.flatnonzero(edges.receiver != root)
    start = int(np.flatnonzero(edges.sender == root)[0])
    steps = fixed_steps(pick_edges(edges, used), share, turn=(used - start) % len(edges))
    return (Phase("broadcast along the ring", len(used), steps, reduces=False),)


def _reduce(edges: Edges, share: float, root: int) -> tuple[Phase, ...]:
    used = np.flatnonzero(edges.sender != root)
    start = int(np.flatnonzero(edges.sender == root)[0]) + 1
    steps = fixed_steps(pick_edges(edges, used), share, turn=(used - start) % len(edges))
    return (Phase("reduce along the ring", len(used), steps, reduces=True),)


_PHASES: dict[str, Callable[[Edges, float, int], tuple[Phase, ...]]] = {
    "all_reduce": _all_reduce,
    "all_gather": _all_gather,
    "reduce_scatter": _reduce_scatter,
    "broadcast": _broadcast,
    "reduce": _reduce,
}
_CHUNKS = {"broadcast": 1, "reduce": 1}
