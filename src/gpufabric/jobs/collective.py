"""Predict what a collective costs on a wired cluster: ``gpufabric collective``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from gpufabric.collectives.bus_factors import bus_factor
from gpufabric.collectives.job_wiring import lay_job
from gpufabric.collectives.rank_order import match_note, order_name, rank_gpus
from gpufabric.errors import InputError, did_you_mean, printable
from gpufabric.graphs.cut_rates import gpu_rates, node_rates, smallest_part_rate
from gpufabric.jobs.choose_route import load_tables, routing_name
from gpufabric.jobs.price_algorithm import Wiring, lay_wiring, price_algorithm
from gpufabric.records.cluster import Cluster
from gpufabric.records.collective import Collective
from gpufabric.records.part_set import PartSet
from gpufabric.records.parts import ServerPart
from gpufabric.records.rank_places import RankPlaces
from gpufabric.records.results import CollectiveResult
from gpufabric.records.ring_range import RingLimit, RingRange
from gpufabric.simulators import SIMULATORS
from gpufabric.simulators.ceilings import CutRates, least_all_reduce_time
from gpufabric.simulators.nccl_ring_latency import (
    PROTOCOLS,
    Protocol,
    protocol_bus_rate,
    ring_latency_s,
    tree_latency_s,
)
from gpufabric.units import MAX_MESSAGE_BYTES, format_message_bytes

OPS = ("all_reduce",)
SHUFFLE_MATTERS = 0.05
LARGE_BYTES = 256 << 20
SMALL_BYTES = 1 << 20
# Without a calibration, and below 1 MiB where the calibration mixes sizes that have nothing in common, a healthy cluster is
# taken to be within this factor: wide on purpose, from no measurement.
WIDE = 0.4
_ASSUMPTIONS = (
    "ring only: at small sizes NCCL would pick a tree, inside one server NVLS; the range reaches down to a tree's latency",
    "latency of a step as NCCL's own tuning model has it (tuning.cc), plus the cables and switches of this wiring",
    "cables as long as the floor plan makes them, 10 m where it is silent; switches of unpublished latency take 0.45 µs "
    "(InfiniBand) or 1 µs (Ethernet)",
    "one connection a channel; no in-network reduction in the fabric; nothing else runs",
)
_MIXED = "servers of several kinds: all visit their GPUs as the server of rank 0 does"


@dataclass(frozen=True, slots=True)
class CollectiveOptions:
    """How to predict.

    ``seed`` is that of the shuffle, ``hash_seed`` that of ECMP. ``ranks`` None means all GPUs; ``routing`` None means the
    fabric's own; ``fabric`` is the name of the fabric that carries the collective, None the first; ``calibration`` None means
    that the centre is the ring at line rate and the range a wide one. ``compare_shuffled`` adds the results for shuffled ranks
    where they are more than 5 % off those in fabric order.
    """

    ranks: int | None = None
    order: str = "fabric"
    seed: int = 0
    hash_seed: int = 0
    routing: str | None = None
    simulator: str = "fluid"
    fabric: str | None = None
    calibration: RingRange | None = None
    compare_shuffled: bool = False
    placement: str = "packed"
    places: RankPlaces | None = None


@dataclass(frozen=True, slots=True)
class _Ring:
    """A simulated ring: everything about it that does not depend on the size of the message."""

    rank_order: str
    ranks: int
    nodes: int
    line_bytes_per_s: float
    path_latency_s: float
    pcie_inside: bool
    channels: int
    bottleneck: str
    cuts: CutRates


def predict_collective(
    cluster: Cluster, parts: PartSet, op: str, sizes: Sequence[int], options: CollectiveOptions | None = None
) -> list[CollectiveResult]:
    """Return the predicted cost of one collective for each message size.

    The ring is laid on the wiring and simulated once; time is its latency plus size over rate. The centre is the line rate times
    the median efficiency of the calibration at large sizes.

    Parameters
    ----------
    cluster : Cluster
    parts : PartSet
        As :func:`gpufabric.topologies.resolve_parts` returns it.
    op : str
        ``all_reduce``.
    sizes : sequence of int
        Message sizes in bytes, as nccl-tests means them.
    options : CollectiveOptions, optional

    Returns
    -------
    list of CollectiveResult
        One a size in the given order; then, if asked for and different, one a size in shuffled order.

    Raises
    ------
    InputError, PartError
        If something asked for does not exist or is out of range.
    UnbuildableError
        If the ring has no way through the fabric.
    """
    options = options or CollectiveOptions()
    _check(op, sizes, options)
    fabric = _fabric_index(cluster, options.fabric)
    where = options.placement, options.places
    gpus = rank_gpus(cluster, options.ranks, options.order, options.seed, fabric, *where)
    if len(gpus) < 2:
        raise InputError(
            "ranks: an all_reduce over 1 rank moves nothing; allowed is 2 or more; raise --gpus or the server count"
        )
    routing = options.routing or cluster.fabrics[fabric].routing
    tables, routing_used = load_tables(cluster, parts, fabric, routing)
    wiring = replace(lay_wiring(cluster, parts), tables=tables)
    kinds = np.unique(cluster.devices.part[cluster.gpus.host[gpus]])
    server = parts.servers[cluster.parts[cluster.devices.part[cluster.gpus.host[gpus[0]]]]]
    method = f"{options.simulator}, {routing_name(wiring.tiers, routing_used)} routing"

    def results(ranks: NDArray[np.int32], rank_order: str) -> list[CollectiveResult]:
        chosen = replace(options, routing=routing)
        simulated = _simulate(wiring, server, Collective(op, max(sizes), ranks, rank_order), fabric, chosen)
        found = [_result(simulated, server, size, method, options.calibration) for size in sizes]
        return found if len(kinds) == 1 else [replace(r, assumptions=(*r.assumptions, _MIXED)) for r in found]

    found = results(gpus, order_name(options.order, options.seed, *where))
    if options.compare_shuffled and options.order == "fabric":
        shuffled = results(
            rank_gpus(cluster, options.ranks, "shuffled", options.seed, fabric, options.placement),
            order_name("shuffled", options.seed, options.placement),
        )
        slower = abs(shuffled[-1].time_s / found[-1].time_s - 1)
        found += shuffled if slower > SHUFFLE_MATTERS else []
    note = (
        match_note(cluster, options.places, fabric, options.seed, options.placement) if options.places else ""
    )
    return [replace(r, assumptions=(note, *r.assumptions)) for r in found] if note else found


def _check(op: str, sizes: Sequence[int], options: CollectiveOptions) -> None:
    if op not in OPS:
        raise InputError(
            f'operation "{printable(op)}" can\'t be predicted yet; known: {", ".join(OPS)}.{did_you_mean(op, OPS)}'
        )
    if not sizes:
        raise InputError("size: none was given; write --size 8G or --sizes 1M..8G")
    for size in sizes:
        if not 1 <= size <= MAX_MESSAGE_BYTES:
            raise InputError(
                f"size: {size:,} bytes is out of range; allowed is 1 to {format_message_bytes(MAX_MESSAGE_BYTES)}"
            )
    if options.simulator not in SIMULATORS:
        raise InputError(
            f'simulator "{printable(options.simulator)}" is unknown; known: {", ".join(SIMULATORS)}.'
            f"{did_you_mean(options.simulator, SIMULATORS)}"
        )


def _fabric_index(cluster: Cluster, name: str | None) -> int:
    names = [fabric.name for fabric in cluster.fabrics]
    if name is None:
        return 0
    if name not in names:
        raise InputError(
            f'fabric "{printable(name)}" is not in the cluster; it has {", ".join(names)}.{did_you_mean(name, names)}'
        )
    return names.index(name)


def _simulate(
    wiring: Wiring, server: ServerPart, collective: Collective, fabric: int, options: CollectiveOptions
) -> _Ring:
    cluster, graph = wiring.cluster, wiring.graph
    job = lay_job(cluster, wiring.inside, collective.gpus, server.scale_up, fabric)
    nodes = job.nodes
    priced = price_algorithm(
        wiring, job, collective, "ring", options.routing or "adaptive", options.hash_seed, options.simulator
    )
    factor = bus_factor(collective.op, len(job.gpu))
    own_rates, least = node_rates(cluster, nodes.node_of_device, fabric), gpu_rates(graph)[collective.gpus]
    return _Ring(
        rank_order=collective.rank_order,
        ranks=len(collective.gpus),
        nodes=len(nodes),
        line_bytes_per_s=priced.line_bytes_per_s * factor,
        path_latency_s=priced.path_latency_s,
        pcie_inside=server.scale_up.kind == "pcie",
        channels=priced.channels,
        bottleneck=priced.bottleneck,
        cuts=CutRates(
            ranks=len(collective.gpus),
            nodes=len(nodes),
            smallest_node_bytes_per_s=float(own_rates.min()),
            all_nodes_bytes_per_s=float(own_rates.sum()),
            smallest_part_bytes_per_s=smallest_part_rate(cluster, nodes.node_of_device),
            gpu_bytes_per_s=float(least.min()),
            all_gpus_bytes_per_s=float(least.sum()),
            multicast=server.scale_up.multicast,
        ),
    )


def _result(
    simulated: _Ring, server: ServerPart, size: int, method: str, calibration: RingRange | None
) -> CollectiveResult:
    limit: RingLimit = "scale-up" if simulated.nodes == 1 else "scale-out"
    large = calibration.band(limit, max(size, LARGE_BYTES)) if calibration else None
    band = calibration.band(limit, size) if calibration and size >= SMALL_BYTES else None
    line = simulated.line_bytes_per_s * (min(large.quantiles[2], 1.0) if large else 1.0)
    factor = 2 * (simulated.ranks - 1) / simulated.ranks
    ceiling = least_all_reduce_time(simulated.cuts, size)
    shape = simulated.ranks, simulated.nodes, simulated.pcie_inside

    def ring_time(protocol: Protocol) -> float:
        latency = ring_latency_s(protocol, *shape) + simulated.path_latency_s
        return latency + size * factor / protocol_bus_rate(protocol, line, simulated.nodes)

    protocol = min(PROTOCOLS, key=ring_time)
    time = max(ring_time(protocol), ceiling.time_s)
    slower, faster = (
        (band.quantiles[2] / band.quantiles[1], band.quantiles[2] / band.quantiles[3])
        if band
        else (1 / WIDE, WIDE)
    )
    # A tree moves as many bytes over its fullest link as a ring does, so beyond its latency the ring's rate stands for it.
    tree = tree_latency_s(*shape) + size * factor / line
    low = max(min(time * faster, tree), ceiling.time_s)
    wide = (
        "of published measurements of all kinds of clusters" if band else "wide below 1M, from no measurement"
    )
    return CollectiveResult(
        op="all_reduce",
        size_bytes=size,
        gpus=simulated.ranks,
        rank_order=simulated.rank_order,
        time_s=time,
        time_low_s=min(low, time),
        time_high_s=time * slower,
        algbw_bytes_per_s=size / time,
        busbw_bytes_per_s=size / time * factor,
        attainable_busbw_bytes_per_s=simulated.line_bytes_per_s,
        ceiling_busbw_bytes_per_s=size / ceiling.time_s * factor,
        ceiling_name=ceiling.name,
        algorithm="ring",
        protocol=protocol.name,
        channels=simulated.channels,
        library="rccl" if server.scale_up.kind == "mesh" else "nccl",
        bottleneck=simulated.bottleneck,
        method=method,
        assumptions=(*_ASSUMPTIONS, f"range: {wide}"),
    )
