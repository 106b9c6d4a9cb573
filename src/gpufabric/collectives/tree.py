"""An all-reduce → its double binary tree: a chain inside each node, two binary trees between nodes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gpufabric.collectives.binary_trees import heights, two_trees
from gpufabric.collectives.check_asked import check_op
from gpufabric.collectives.fixed_steps import fixed_steps, inside_edges
from gpufabric.collectives.gpu_ports import Cables, cable_ports, job_cables
from gpufabric.collectives.job_wiring import JobWiring
from gpufabric.collectives.lanes import Lane, lay_lanes
from gpufabric.records.collective import Collective
from gpufabric.records.schedule import Channel, Edges, Phase, Schedule


def plan(collective: Collective, job: JobWiring) -> Schedule:
    """Return the tree schedule of an all-reduce.

    Every lane has two channels, one for each of the two trees. In a channel the GPUs of a node are a chain that begins at the
    GPU beside the NIC: sums go along the chain to that GPU, up the tree over the nodes, and the result comes back the same way.
    Both directions run at the same time. NCCL's variants that spread the links of the tree over two GPUs of a node are not told
    apart.

    Parameters
    ----------
    collective : Collective
    job : JobWiring

    Raises
    ------
    InputError
        If the operation is another.
    UnbuildableError
        If a node has no port, or no cable to one that the tree joins it to.

    Notes
    -----
    Sanders, Speck and Träff 2009 (see :mod:`gpufabric.collectives.binary_trees`).
    """
    check_op(collective, "tree", ("all_reduce",))
    lanes, cables = lay_lanes(job), job_cables(job)
    trees = two_trees(len(job.nodes))[: min(len(job.nodes), 2)]
    share = 1 / (len(lanes) * len(trees))
    channels = []
    for number, lane in enumerate(lanes):
        along, back = up_and_down(*chain_edges(lane, job), share, "the chains")
        for parent in trees:
            up, down = up_and_down(*climbing_edges(lane, job, parent, cables, number), share)
            channels.append(Channel(lane.order, 1, share, (along, up, down, back), lane.rail))
    return Schedule("tree", tuple(channels))


def chain_edges(lane: Lane, job: JobWiring) -> tuple[Edges, NDArray[np.int64]]:
    """Return the edges of the chains inside nodes towards each node's first GPU, and the step that each is used in."""
    behind = np.flatnonzero(job.local > 0)
    return inside_edges(lane.order[behind], lane.order[behind - 1]), job.nodes.size.max() - 1 - job.local[
        behind
    ]


def climbing_edges(
    lane: Lane, job: JobWiring, parent: NDArray[np.int64], cables: Cables | None, number: int
) -> tuple[Edges, NDArray[np.int64]]:
    """Return the edges of a tree over nodes from each node to its parent, and the step that each is used in.

    They join the first GPUs of the nodes by the ports beside them; *number* is the lane's, which tells cables apart.
    """
    child = np.flatnonzero(parent >= 0)
    above = parent[child]
    head = lane.order[lane.node_first]
    if not len(child):
        exits = entries = np.empty(0, np.int32)
    elif cables is None:
        exits, entries = lane.entry_port[child], lane.entry_port[above]
    else:
        exits, entries = cable_ports(job, cables, child, above, number)
    return Edges(head[child], head[above], exits, entries), heights(parent)[child]


def up_and_down(
    edges: Edges, turn: NDArray[np.int64], share: float, what: str = "the tree"
) -> tuple[Phase, Phase]:
    """Return two phases: sums up the *edges* in the steps *turn*, and the result down them in reverse."""
    back = Edges(edges.receiver, edges.sender, edges.entry_port, edges.exit_port)
    steps = int(turn.max(initial=-1)) + 1
    return (
        Phase(f"reduce up {what}", steps, fixed_steps(edges, share, turn=turn), reduces=True),
        Phase(
            f"broadcast down {what}", steps, fixed_steps(back, share, turn=steps - 1 - turn), reduces=False
        ),
    )
