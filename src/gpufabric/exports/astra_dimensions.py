"""A design → the dimensions of ASTRA-sim's analytical network: a scale-up domain, then groups by the tiers that join them."""

from __future__ import annotations

import numpy as np

from gpufabric.errors import InputError, printable
from gpufabric.exports.locality_tree import locality_tree
from gpufabric.exports.simulated_gpus import SimulatedGpus, simulated_gpus
from gpufabric.records.export_target import ExportSource
from gpufabric.records.names import device_rows
from gpufabric.records.parts import ScaleUp
from gpufabric.records.simulator_inputs import AnalyticalDimension

PROGRAM = "astra-sim"


def astra_dimensions(source: ExportSource) -> tuple[AnalyticalDimension, ...]:
    """Return the dimensions of the network, the nearest GPUs first; their product is the number of GPUs.

    A dimension is one switch with as many ports as the tier joins groups. Its rate is that of one GPU: what its NICs bring into
    the fabric, or less where a tier on the way is oversubscribed. Groups of unequal size are one dimension with the tier above
    them.

    Raises
    ------
    InputError
        If the GPUs are not alike, a mesh has uneven pairs, or the fabric falls into parts.
    """
    seen = simulated_gpus(source, PROGRAM)
    inside = _scale_up(seen.server.scale_up, seen.domain_gpus, seen.server.id)
    if seen.links.is_mesh:
        return (*inside, *_mesh(source, seen))
    return (*inside, *_tiers(source, seen))


def _scale_up(inside: ScaleUp, gpus: int, part: str) -> tuple[AnalyticalDimension, ...]:
    if gpus < 2:
        return ()
    if inside.pair_links:
        raise InputError(
            f"{PROGRAM}: {printable(part)} joins pairs of GPUs by unequal numbers of links; a dimension has one rate; "
            "choose another server"
        )
    # Latency inside servers is not published apart from that of the whole way; the hops of the fabric contain it here too.
    if inside.kind == "mesh":
        rate = inside.pair_bytes_per_s or inside.gpu_bytes_per_s / (gpus - 1)
        return (AnalyticalDimension("FullyConnected", gpus, rate, 0.0),)
    return (AnalyticalDimension("Switch", gpus, inside.gpu_bytes_per_s, 0.0),)


def _mesh(source: ExportSource, seen: SimulatedGpus) -> tuple[AnalyticalDimension, ...]:
    """Return the dimension of servers that are linked directly: a pair's link is shared by the GPUs of a server."""
    domains = len(source.cluster.gpus) // seen.domain_gpus
    pairs = domains * (domains - 1) // 2
    rate = float(seen.links.bytes_per_s.sum()) / pairs / seen.domain_gpus if pairs else 0.0
    hop = float(seen.latency_s.mean())
    return (AnalyticalDimension("FullyConnected", domains, rate, hop),) if pairs else ()


def _tiers(source: ExportSource, seen: SimulatedGpus) -> tuple[AnalyticalDimension, ...]:
    cluster = source.cluster
    tree = locality_tree(source)
    row = np.full(len(cluster.devices), -1, np.int64)
    row[tree.servers] = np.arange(len(tree.servers))
    _, first = np.unique(cluster.gpus.domain, return_index=True)
    server = row[cluster.gpus.host]
    if (server < 0).any():
        raise InputError(
            f"{PROGRAM}: some servers with GPUs are not linked to the fabric; link all, or choose another fabric"
        )
    unit = np.arange(len(first))
    found = []
    for level, groups in enumerate(tree.levels):
        of_gpu = groups[server]
        last = level == len(tree.levels) - 1
        if (of_gpu != of_gpu[first][np.unique(cluster.gpus.domain, return_inverse=True)[1].ravel()]).any():
            continue  # a scale-up domain spans groups of this level
        above = of_gpu[first]
        pairs = np.unique(np.stack([above, unit], axis=1), axis=0)
        sizes = np.unique(np.bincount(pairs[:, 0]))
        if last and len(np.unique(above)) > 1:
            raise InputError(
                f"{PROGRAM}: the fabric falls into {len(np.unique(above))} parts; all GPUs must reach each other"
            )
        if len(sizes) > 1:
            continue
        top = tree.switches[level][0]
        tier = int(seen.links.tier[device_rows(cluster, top[:1])[0]]) if top else level + 1
        if sizes[0] > 1:
            found.append(_switch(source, seen, int(sizes[0]), tier))
        unit = above
    return tuple(found)


def _switch(source: ExportSource, seen: SimulatedGpus, count: int, tier: int) -> AnalyticalDimension:
    """Return the dimension of groups that meet at switches of *tier*."""
    links = seen.links
    rates, one_way = [], 0.0
    for height in range(1, tier + 1):
        rows = (links.tier[links.lower] == height - 1) & (links.tier[links.upper] == height)
        rates.append(float(links.bytes_per_s[rows].sum()) / len(source.cluster.gpus))
        one_way += float(seen.latency_s[rows].mean(axis=0).sum()) if rows.any() else 0.0
    return AnalyticalDimension("Switch", count, min(rates), one_way / 2)
