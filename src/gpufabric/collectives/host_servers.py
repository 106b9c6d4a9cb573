"""Hosts as a file names them → the scale-up domains and servers of the cluster that they are."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gpufabric.errors import InputError, did_you_mean, printable
from gpufabric.records.cluster import Cluster
from gpufabric.records.names import device_names
from gpufabric.records.rank_places import RankPlaces
from gpufabric.units import counted

_SUGGESTIONS_FROM = 500


def match_hosts(
    cluster: Cluster, places: RankPlaces, servers: NDArray[np.int32]
) -> tuple[NDArray[np.int32], str]:
    """Return the server of each entry of *places*, and how hosts were matched.

    A host is the server of its name, whatever its case and domain. Where no name fits, hosts stand for *servers* in the order of
    their first appearance.

    Parameters
    ----------
    cluster, places
    servers : int32 array
        Devices that may be used, in the order in which they are taken.

    Returns
    -------
    server : int32 array, one an entry
    note : str
        Empty when the names fit.

    Raises
    ------
    InputError
        If some hosts fit and others do not, or there are more hosts than servers.
    """
    hosts = list(dict.fromkeys(places.host))
    named = device_names(cluster, servers).tolist()
    row_of = {name.lower(): int(row) for name, row in zip(named, servers, strict=True)}
    found = [_row(row_of, host) for host in hosts]
    note = ""
    if all(row is None for row in found):
        if len(hosts) > len(servers):
            raise InputError(
                f"{places.source}: it names {counted(len(hosts), 'host')}; the fabric links {counted(len(servers), 'server')}"
                " with GPUs; use a longer description or a shorter list"
            )
        found = servers[: len(hosts)].tolist()
        note = (
            f"{places.source}: no host has the name of a server, so hosts stand for servers in order of appearance "
            f"({printable(hosts[0])} is {named[0]})"
        )
    elif None in found:
        lost = hosts[found.index(None)]
        near = [n for n in named if n[:3] == lost.lower()[:3]][:_SUGGESTIONS_FROM]
        raise InputError(
            f'{places.source}: host "{printable(lost)}" is no server that the fabric links; other hosts are; '
            f"use the names of the cabling plan for all or for none.{did_you_mean(lost, near)}"
        )
    server = dict(zip(hosts, found, strict=True))
    return np.array([server[host] for host in places.host], np.int32), note


def _row(row_of: dict[str, int], host: str) -> int | None:
    name = host.lower()
    return row_of.get(name, row_of.get(name.partition(".")[0]))


def seat_ranks(cluster: Cluster, places: RankPlaces, server: NDArray[np.int32]) -> NDArray[np.int32]:
    """Return the GPU of each rank that *places* names.

    Parameters
    ----------
    cluster, places
    server : int32 array, one an entry

    Raises
    ------
    InputError
        If a host has more ranks than GPUs, or two ranks one GPU.
    """
    gpus = cluster.gpus
    first = np.full(len(cluster.devices), -1, np.int64)
    first[gpus.host[::-1]] = np.arange(len(gpus))[::-1]
    held = np.bincount(gpus.host, minlength=len(cluster.devices))
    taken: dict[int, int] = {}
    seats: list[NDArray[np.int64]] = []
    for host, ranks, gpu, device in zip(places.host, places.ranks, places.gpu, server.tolist(), strict=True):
        begin = taken.get(device, 0) if gpu < 0 else gpu
        count = ranks or int(held[device]) - begin
        if begin + count > held[device] or count < 1:
            raise InputError(
                f"{places.source}: host {printable(host)} gets more ranks than it has GPUs "
                f"({begin + max(count, 1):,} of {int(held[device]):,}); allowed is one a GPU; use fewer slots"
            )
        taken[device] = begin + count if gpu < 0 else taken.get(device, 0)
        seats.append(first[device] + np.arange(begin, begin + count))
    seated = np.concatenate(seats).astype(np.int32)
    if len(np.unique(seated)) < len(seated):
        raise InputError(
            f"{places.source}: two ranks share a GPU; allowed is one rank a GPU; correct the list"
        )
    return seated
