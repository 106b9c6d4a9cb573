"""A cluster, a number of ranks, an order and a placement → the GPU of each rank."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gpufabric.collectives.host_servers import match_hosts, seat_ranks
from gpufabric.collectives.job_nodes import group_nodes
from gpufabric.errors import InputError, did_you_mean, printable
from gpufabric.records.cluster import Cluster
from gpufabric.records.rank_places import RankPlaces

ORDERS = ("fabric", "shuffled")
PLACEMENTS = ("packed", "fragmented")


def rank_gpus(
    cluster: Cluster,
    ranks: int | None = None,
    order: str = "fabric",
    seed: int = 0,
    fabric: int = 0,
    placement: str = "packed",
    places: RankPlaces | None = None,
) -> NDArray[np.int32]:
    """Return the GPU that each rank runs on, of the servers that have links in the fabric.

    ``fabric`` takes GPUs in the order of the cabling plan: node by node along the leaves. ``shuffled`` takes the same GPUs with
    their nodes in a random order, as a scheduler that ignores the fabric would; the ranks of a node stay together, because NCCL
    regroups them by node anyway. ``packed`` takes the first nodes; ``fragmented`` spreads as many nodes over all units, random
    ones of each, as a busy scheduler leaves them.

    Parameters
    ----------
    cluster : Cluster
    ranks : int, optional
        Number of ranks; all GPUs, or all that *places* names, when left out.
    order : str
        One of ``ORDERS``; not looked at where *places* are given.
    seed : int
        Seed of the shuffle and of the choice of nodes.
    fabric : int
        Index of the fabric.
    placement : str
        One of ``PLACEMENTS``. With *places* whose hosts have names of the cluster, these say where.
    places : RankPlaces, optional
        Where a file says that the ranks are.

    Returns
    -------
    int32 array, one a rank

    Raises
    ------
    InputError
        If there are too few GPUs or ranks, the order or placement is unknown, or *places* do not fit the cluster.
    """
    if placement not in PLACEMENTS:
        raise InputError(
            f'placement "{printable(placement)}" is unknown; known: {", ".join(PLACEMENTS)}.'
            f"{did_you_mean(placement, PLACEMENTS)}"
        )
    usable = _linked_gpus(cluster, fabric)
    if not len(usable):
        raise InputError("fabric: it links no server with GPUs; name one that does (--fabric)")
    if places is not None:
        seated = seat_ranks(cluster, places, _matched(cluster, usable, seed, placement, places)[0])
        return seated[: _count(ranks, len(seated), f"each that {places.source} names")]
    count = _count(ranks, len(usable), "a rank for each GPU that the fabric links")
    if order not in ORDERS:
        raise InputError(
            f'order "{printable(order)}" is unknown; known: {", ".join(ORDERS)}, or hostfile:FILE, slurm:LIST, log:FILE'
        )
    gpus = (usable if placement == "packed" else usable[_fragmented(cluster, usable, count, seed)])[:count]
    if order == "fabric":
        return gpus
    nodes = group_nodes(cluster, gpus)
    turn = np.random.default_rng(seed).permutation(len(nodes.first))
    size = nodes.size[turn]
    begin = np.cumsum(size) - size
    inside = np.arange(count) - np.repeat(begin, size)
    shuffled: NDArray[np.int32] = nodes.gpu[np.repeat(nodes.first[turn], size) + inside]
    return shuffled


def order_name(
    order: str = "fabric", seed: int = 0, placement: str = "packed", places: RankPlaces | None = None
) -> str:
    """Return what results call an order: ``fabric``, ``shuffled(seed=0)``, ``fabric, fragmented(seed=3)``, ``hostfile hosts``."""
    name = places.source if places else order if order == "fabric" else f"{order}(seed={seed})"
    return name if placement == "packed" else f"{name}, {placement}(seed={seed})"


def match_note(
    cluster: Cluster, places: RankPlaces, fabric: int = 0, seed: int = 0, placement: str = "packed"
) -> str:
    """Return how the hosts of *places* were matched to servers; empty when by their names. Raises as :func:`rank_gpus` does."""
    return _matched(cluster, _linked_gpus(cluster, fabric), seed, placement, places)[1]


def _count(ranks: int | None, most: int, which: str) -> int:
    count = most if ranks is None else ranks
    if not 1 <= count <= most:
        raise InputError(f"ranks: {count:,} is out of range; allowed is 1 to {most:,}, {which}")
    return count


def _matched(
    cluster: Cluster, usable: NDArray[np.int32], seed: int, placement: str, places: RankPlaces
) -> tuple[NDArray[np.int32], str]:
    hosts = len(set(places.host))
    servers, first = np.unique(cluster.gpus.host[usable], return_index=True)
    servers = servers[np.argsort(first)].astype(np.int32)
    server, note = match_hosts(cluster, places, servers)
    if note and placement == "fragmented":
        spread = _spread_over_units(cluster, servers, seed)[:hosts]
        server, note = match_hosts(cluster, places, servers[np.sort(spread)])
    return server, note


def _fragmented(cluster: Cluster, usable: NDArray[np.int32], count: int, seed: int) -> NDArray[np.bool_]:
    """Whether each usable GPU is on a node of a job that got its nodes from all over the fabric."""
    nodes = group_nodes(cluster, usable)
    lead = cluster.gpus.host[nodes.gpu[nodes.first]]
    order = _spread_over_units(cluster, lead, seed)
    needed = int(np.searchsorted(np.cumsum(nodes.size[order]), count)) + 1
    chosen = np.zeros(len(nodes), np.bool_)
    chosen[order[:needed]] = True
    return chosen[nodes.node_of_device[cluster.gpus.host[usable]]]


def _spread_over_units(cluster: Cluster, servers: NDArray[np.int32], seed: int) -> NDArray[np.int64]:
    """Return positions of servers, one of each unit after the other, random ones of each, units in random order."""
    unit = np.unique(cluster.devices.unit[servers], return_inverse=True)[1].astype(np.int64)
    draw = np.random.default_rng(seed)
    luck = draw.permutation(len(servers))
    turn = draw.permutation(int(unit.max()) + 1)[unit]
    by_unit = np.lexsort((luck, unit))
    begin = np.searchsorted(unit[by_unit], unit[by_unit])
    round_of = np.empty(len(servers), np.int64)
    round_of[by_unit] = np.arange(len(servers)) - begin
    return np.lexsort((turn, round_of)).astype(np.int64)


def _linked_gpus(cluster: Cluster, fabric: int) -> NDArray[np.int32]:
    # Ports, not links: a server that a fault has cut off is still one of the job.
    ports = cluster.ports
    linked = np.zeros(len(cluster.devices), np.bool_)
    linked[ports.device[(ports.fabric == fabric) & ~ports.reserved]] = True
    return np.flatnonzero(linked[cluster.gpus.host]).astype(np.int32)
