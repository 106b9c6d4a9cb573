"""An all-reduce over several NVLink domains → NVLS inside each, the double binary tree between them."""

from __future__ import annotations

import numpy as np

from gpufabric.collectives.binary_trees import two_trees
from gpufabric.collectives.check_asked import check_multicast, check_op
from gpufabric.collectives.fixed_steps import fixed_steps, inside_edges
from gpufabric.collectives.gpu_ports import job_cables
from gpufabric.collectives.job_wiring import JobWiring
from gpufabric.collectives.lanes import Lane, lay_lanes
from gpufabric.collectives.tree import climbing_edges, up_and_down
from gpufabric.errors import UnbuildableError
from gpufabric.records.collective import Collective
from gpufabric.records.schedule import Channel, Phase, Schedule


def plan(collective: Collective, job: JobWiring) -> Schedule:
    """Return the NVLS-tree schedule of an all-reduce over two nodes or more.

    The head of a lane, the GPU beside its NIC, reads the sum of its node from the switches, takes part in the tree over the
    nodes, and writes the result to the switches, which hand it to all GPUs of the node. Everything runs at the same time, part
    by part. A node with one GPU needs no switch.

    Parameters
    ----------
    collective : Collective
    job : JobWiring

    Raises
    ------
    InputError
        If the operation is another.
    UnbuildableError
        If the switches do not add and multicast, the job has one node, or a node no port.
    """
    check_op(collective, "nvls_tree", ("all_reduce",))
    check_multicast(job, "nvls_tree")
    if len(job.nodes) == 1:
        raise UnbuildableError("algorithm nvls_tree: it joins NVLink domains, and this job has one", "nvls")
    lanes, cables = lay_lanes(job), job_cables(job)
    trees = two_trees(len(job.nodes))
    share = 1 / (len(lanes) * len(trees))
    channels = []
    for number, lane in enumerate(lanes):
        before, after = switch_phases(lane, job, share)
        for parent in trees:
            edges, turn = climbing_edges(lane, job, parent, cables, number)
            phases = (*before, *up_and_down(edges, turn, share), *after)
            channels.append(Channel(lane.order, 1, share, phases, lane.rail))
    return Schedule("nvls_tree", tuple(channels))


def switch_phases(
    lane: Lane, job: JobWiring, share: float
) -> tuple[tuple[Phase, Phase], tuple[Phase, Phase]]:
    """Return how the switches of each node bring its sum to the head of a lane, and how they spread the head's result."""
    several = job.nodes.size > 1
    member = lane.order[several[job.node]]
    member_switch = ~job.node[several[job.node]]
    head, head_switch = lane.order[lane.node_first[several]], ~np.flatnonzero(several)
    return (
        Phase(
            "NVSwitches read and add",
            1,
            fixed_steps(inside_edges(member, member_switch), share),
            reduces=True,
        ),
        Phase("sums come down", 1, fixed_steps(inside_edges(head_switch, head), share), reduces=False),
    ), (
        Phase("results go up", 1, fixed_steps(inside_edges(head, head_switch), share), reduces=False),
        Phase(
            "NVSwitches multicast", 1, fixed_steps(inside_edges(member_switch, member), share), reduces=False
        ),
    )
