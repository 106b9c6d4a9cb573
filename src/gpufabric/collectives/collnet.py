"""A collective over several nodes → its CollNet schedule: the switches of the fabric add and multicast (SHARP)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gpufabric.collectives.check_asked import check_op
from gpufabric.collectives.fixed_steps import fixed_steps, inside_edges
from gpufabric.collectives.job_wiring import JobWiring
from gpufabric.collectives.lanes import Lane, lay_lanes
from gpufabric.collectives.tree import chain_edges
from gpufabric.errors import UnbuildableError
from gpufabric.records.collective import Collective
from gpufabric.records.schedule import Channel, Edges, Phase, Schedule


def plan_direct(collective: Collective, job: JobWiring) -> Schedule:
    """Return the CollNet schedule in which every GPU deals with the heads of its node directly.

    The head of a lane, the GPU beside its NIC, collects the lane's part from all GPUs of its node and sends one copy into the
    fabric, whose switches add those of all nodes and hand the result back to every head: the NICs of a node carry S each way.

    Parameters
    ----------
    collective : Collective
        all_reduce, all_gather or reduce_scatter.
    job : JobWiring

    Raises
    ------
    InputError
        If the operation is another.
    UnbuildableError
        If the fabric's switches do not add, servers are cabled directly, the job has one node, or a node no port.

    Notes
    -----
    Graham et al., Scalable hierarchical aggregation protocol (SHARP), COMHPC 2016.
    """
    return _plan(collective, job, "collnet_direct", _DIRECT)


def plan_chain(collective: Collective, job: JobWiring) -> Schedule:
    """Return the CollNet schedule of an all_reduce in which the GPUs of a node form a chain; as :func:`plan_direct` else."""
    return _plan(collective, job, "collnet_chain", {"all_reduce": _chain_all_reduce})


_Make = Callable[[Lane, JobWiring, int, float], tuple[Phase, ...]]


def _plan(collective: Collective, job: JobWiring, name: str, makes: dict[str, _Make]) -> Schedule:
    check_op(collective, name, makes)
    if len(job.nodes) == 1:
        raise UnbuildableError(
            f"algorithm {name}: it adds in the switches of the fabric, and this job has one node",
            "ring, or nvls where NVSwitches add",
        )
    lanes = lay_lanes(job)
    if not job.in_network or lanes[0].direct:
        what = "servers are cabled to each other" if lanes[0].direct else "its switches are not said to"
        raise UnbuildableError(f"algorithm {name}: no switch of the fabric adds ({what})", "ring")
    chunks = 1 if collective.op == "all_reduce" else len(job.gpu)
    share = 1 / (len(lanes) * chunks)
    channels = [
        Channel(
            job.gpu, chunks, share, makes[collective.op](lane, job, len(job.nodes) + number, share), lane.rail
        )
        for number, lane in enumerate(lanes)
    ]
    return Schedule(name, tuple(channels))


def _to_heads(lane: Lane, job: JobWiring) -> tuple[Edges, np.ndarray[tuple[int], np.dtype[np.int64]]]:
    """Return edges from every other GPU to the head of its node, and the places of their senders."""
    head = lane.order[lane.node_first][job.node]
    apart = np.flatnonzero(job.gpu != head)
    return inside_edges(job.gpu[apart], head[apart]), apart


def _from_heads(lane: Lane, job: JobWiring) -> tuple[Edges, np.ndarray[tuple[int], np.dtype[np.int64]]]:
    edges, place = _to_heads(lane, job)
    return Edges(edges.receiver, edges.sender, edges.entry_port, edges.exit_port), place


def _into_fabric(lane: Lane, switch: int) -> Edges:
    nodes = len(lane.node_first)
    return Edges(
        lane.order[lane.node_first],
        np.full(nodes, ~switch, np.int32),
        lane.entry_port,
        np.full(nodes, -1, np.int32),
    )


def _out_of_fabric(lane: Lane, switch: int) -> Edges:
    edges = _into_fabric(lane, switch)
    return Edges(edges.receiver, edges.sender, edges.entry_port, edges.exit_port)


def _through_fabric(lane: Lane, switch: int, share: float) -> tuple[Phase, Phase]:
    up, down = (
        fixed_steps(_into_fabric(lane, switch), share),
        fixed_steps(_out_of_fabric(lane, switch), share),
    )
    return (
        Phase("fabric adds", 1, up, reduces=True),
        Phase("fabric multicasts", 1, down, reduces=False),
    )


def _all_reduce(lane: Lane, job: JobWiring, switch: int, share: float) -> tuple[Phase, ...]:
    return (
        Phase("reduce to heads", 1, fixed_steps(_to_heads(lane, job)[0], share), reduces=True),
        *_through_fabric(lane, switch, share),
        Phase("heads broadcast", 1, fixed_steps(_from_heads(lane, job)[0], share), reduces=False),
    )


def _chain_all_reduce(lane: Lane, job: JobWiring, switch: int, share: float) -> tuple[Phase, ...]:
    edges, turn = chain_edges(lane, job)
    back = Edges(edges.receiver, edges.sender, edges.entry_port, edges.exit_port)
    steps = int(job.nodes.size.max()) - 1
    return (
        Phase("reduce to heads", steps, fixed_steps(edges, share, turn=turn), reduces=True),
        *_through_fabric(lane, switch, share),
        Phase("heads broadcast", steps, fixed_steps(back, share, turn=steps - 1 - turn), reduces=False),
    )


def _all_gather(lane: Lane, job: JobWiring, switch: int, share: float) -> tuple[Phase, ...]:
    inwards, place = _to_heads(lane, job)
    everything = (0, 1, len(job.gpu))
    own = (job.nodes.first, 1, job.nodes.size)
    return (
        Phase("gather to heads", 1, fixed_steps(inwards, share, (place, 1, 1)), reduces=False),
        Phase("into the fabric", 1, fixed_steps(_into_fabric(lane, switch), share, own), reduces=False),
        Phase(
            "fabric multicasts",
            1,
            fixed_steps(_out_of_fabric(lane, switch), share, everything),
            reduces=False,
        ),
        Phase("heads broadcast", 1, fixed_steps(_from_heads(lane, job)[0], share, everything), reduces=False),
    )


def _reduce_scatter(lane: Lane, job: JobWiring, switch: int, share: float) -> tuple[Phase, ...]:
    outwards, place = _from_heads(lane, job)
    everything = (0, 1, len(job.gpu))
    own = (job.nodes.first, 1, job.nodes.size)
    return (
        Phase("reduce to heads", 1, fixed_steps(_to_heads(lane, job)[0], share, everything), reduces=True),
        Phase("fabric adds", 1, fixed_steps(_into_fabric(lane, switch), share, everything), reduces=True),
        Phase("sums come down", 1, fixed_steps(_out_of_fabric(lane, switch), share, own), reduces=False),
        Phase("heads scatter", 1, fixed_steps(outwards, share, (place, 1, 1)), reduces=False),
    )


_DIRECT: dict[str, _Make] = {
    "all_reduce": _all_reduce,
    "all_gather": _all_gather,
    "reduce_scatter": _reduce_scatter,
}
