"""The GPUs of each node and the one that comes first → the order in which a ring visits them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gpufabric.collectives.job_nodes import JobNodes


def rotated(nodes: JobNodes, start: NDArray[np.int64]) -> NDArray[np.int32]:
    """Return the GPUs node by node, each node's from position ``start`` on and round (i, i + 1, …).

    Parameters
    ----------
    nodes : JobNodes
    start : int64 array, one a node
        Position within the node of the GPU that comes first.

    Returns
    -------
    int32 array, one a GPU of the job
    """
    node, step = _node_and_step(nodes)
    return nodes.gpu[nodes.first[node] + (start[node] + step) % nodes.size[node]]


def zigzag(nodes: JobNodes, start: NDArray[np.int64]) -> NDArray[np.int32]:
    """Return the GPUs node by node in the order i, i + 1, i - 1, i + 2, i - 2 and so on.

    Started at each GPU once, an even number of GPUs has each ordered pair as neighbours exactly once, so that all links of a
    mesh carry the same. (Rows of a row-complete Latin square: Williams, 1949. RCCL's tables for MI300X, rome_models.cc, have
    the same property.)

    Parameters
    ----------
    nodes, start
        As for :func:`rotated`.

    Returns
    -------
    int32 array, one a GPU of the job
    """
    node, step = _node_and_step(nodes)
    offset = np.where(step % 2 == 1, (step + 1) // 2, -(step // 2))
    return nodes.gpu[nodes.first[node] + (start[node] + offset) % nodes.size[node]]


def _node_and_step(nodes: JobNodes) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    node = np.repeat(np.arange(len(nodes)), nodes.size)
    return node, np.arange(len(nodes.gpu)) - nodes.first[node]


def mesh_cycles(count: int) -> list[NDArray[np.int64]]:
    """Return closed orders of *count* GPUs that use every direct link equally often, in each direction.

    Walecki's construction (Lucas, Récréations mathématiques II, 1892): a zigzag over all GPUs but one, turned round step by step
    and closed through that one; each taken in both directions. Of an odd count half a turn has every link once. An even count
    has no such set of cycles in pairs, as each would leave one link of each GPU idle; the whole turn has every link twice.

    Parameters
    ----------
    count : int
        3 or more.
    """
    around, cycles = count - 1, []
    for start in range(around if around % 2 else around // 2):
        path = [(start + ((j + 1) // 2 if j % 2 else -(j // 2))) % around for j in range(around)]
        cycles += [[around, *path], [*path[::-1], around]]
    return [np.array(cycle, np.int64) for cycle in cycles]
