"""How much of a cluster a measurement used → where its ranks were."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from gpufabric.collectives.rank_order import rank_gpus
from gpufabric.errors import InputError, printable
from gpufabric.jobs.choose_ranks import RankChoice, choose_ranks
from gpufabric.records.cluster import Cluster
from gpufabric.records.cluster_spec import ClusterSpec
from gpufabric.records.names import device_names
from gpufabric.records.rank_places import RankPlaces
from gpufabric.units import counted

_FILES = ("hostfile", "log")


def measured_ranks(
    spec: ClusterSpec, cluster: Cluster, nodes: int, gpus: int, rank_order: str, folder: Path
) -> tuple[RankChoice, NDArray[np.int32]]:
    """Return where the ranks of a measurement were, and the GPU of each.

    Parameters
    ----------
    spec, cluster
    nodes, gpus : int
        Servers and ranks that took part, as many on each server.
    rank_order : str
        ``fabric``, ``shuffled``, ``shuffled:SEED``, ``hostfile:FILE``, ``slurm:LIST`` or ``log:FILE``; empty: the description's.
    folder : Path
        What files are relative to.

    Returns
    -------
    choice : RankChoice
    gpus : int32 array, one a rank

    Raises
    ------
    InputError
        If the order is unknown, or the ranks do not fit the cluster or are not on so many servers.
    """
    kind, colon, argument = rank_order.partition(":")
    seed = None
    if kind == "shuffled" and argument.isdecimal() and len(argument) < 10:
        rank_order, seed = kind, int(argument)
    elif kind in _FILES and colon:
        rank_order = f"{kind}:{folder / argument}"
    choice = choose_ranks(spec, rank_order or None, seed, gpus)
    if choice.places is None and choice.order == "fabric" and nodes > 1 and gpus % nodes == 0:
        choice = on_so_many_servers(cluster, choice, nodes, gpus // nodes)
    ranks = rank_gpus(cluster, gpus, choice.order, choice.seed, 0, choice.placement, choice.places)
    used = len(np.unique(cluster.gpus.host[ranks]))
    if used != nodes:
        raise InputError(
            f"{counted(gpus, 'rank')} are on {counted(used, 'server')} of {printable(spec.name)}, and nodes is {nodes:,}; "
            "give a description whose servers have that many GPUs, or the order of the ranks as a hostfile"
        )
    return choice, ranks


def on_so_many_servers(cluster: Cluster, choice: RankChoice, nodes: int, ranks: int) -> RankChoice:
    """Return *choice* with *ranks* ranks on each of the first *nodes* servers, where these have more GPUs than that."""
    hosts = cluster.gpus.host[rank_gpus(cluster, placement=choice.placement, seed=choice.seed)]
    servers, first, held = np.unique(hosts, return_index=True, return_counts=True)
    taken = np.argsort(first)[:nodes]
    if len(taken) < nodes or (held[taken] <= ranks).any():
        return choice
    names = tuple(device_names(cluster, servers[taken]).tolist())
    places = RankPlaces(f"{counted(ranks, 'rank')} a server", names, (ranks,) * nodes, (0,) * nodes)
    return RankChoice(choice.order, choice.seed, choice.ranks, choice.notes, choice.placement, places)
