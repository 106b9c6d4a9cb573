"""A cluster, a number of ranks and an order → the GPU of each rank."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gpufabric.collectives.job_nodes import group_nodes
from gpufabric.errors import InputError, printable
from gpufabric.records.cluster import Cluster

ORDERS = ("fabric", "shuffled")


def rank_gpus(
    cluster: Cluster, ranks: int | None = None, order: str = "fabric", seed: int = 0, fabric: int = 0
) -> NDArray[np.int32]:
    """Return the GPU that each rank runs on, of the servers that have links in the fabric.

    ``fabric`` takes the first GPUs in the order of the cabling plan: node by node along the leaves. ``shuffled`` takes the same
    GPUs with their nodes in a random order, as a scheduler that ignores the fabric would; the ranks of a node stay together,
    because NCCL regroups them by node anyway.

    Parameters
    ----------
    cluster : Cluster
    ranks : int, optional
        Number of ranks; all GPUs when left out.
    order : str
        One of ``ORDERS``.
    seed : int
        Seed of the shuffle.
    fabric : int
        Index of the fabric.

    Returns
    -------
    int32 array, one a rank

    Raises
    ------
    InputError
        If there are too few GPUs or ranks, or the order is unknown.
    """
    usable = _linked_gpus(cluster, fabric)
    if not len(usable):
        raise InputError("fabric: it links no server with GPUs; name one that does (--fabric)")
    count = len(usable) if ranks is None else ranks
    if not 1 <= count <= len(usable):
        raise InputError(
            f"ranks: {count:,} is out of range; allowed is 1 to {len(usable):,}, a rank for each GPU that the fabric links"
        )
    if order not in ORDERS:
        raise InputError(f'order "{printable(order)}" is unknown; known: {", ".join(ORDERS)}')
    gpus = usable[:count]
    if order == "fabric":
        return gpus
    nodes = group_nodes(cluster, gpus)
    turn = np.random.default_rng(seed).permutation(len(nodes.first))
    size = nodes.size[turn]
    begin = np.cumsum(size) - size
    inside = np.arange(count) - np.repeat(begin, size)
    shuffled: NDArray[np.int32] = nodes.gpu[np.repeat(nodes.first[turn], size) + inside]
    return shuffled


def _linked_gpus(cluster: Cluster, fabric: int) -> NDArray[np.int32]:
    ports = np.concatenate([cluster.links.port_a, cluster.links.port_b])
    linked = np.zeros(len(cluster.devices), np.bool_)
    linked[cluster.ports.device[ports[cluster.ports.fabric[ports] == fabric]]] = True
    return np.flatnonzero(linked[cluster.gpus.host]).astype(np.int32)
