"""Predict what a collective costs on a wired cluster: ``gpufabric collective``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from gpufabric.catalog.calibrations import load_collective_calibration
from gpufabric.collectives import ALGORITHMS
from gpufabric.collectives.job_wiring import JobWiring, lay_job
from gpufabric.collectives.rank_order import match_note, order_name, rank_gpus
from gpufabric.errors import GpufabricError, InputError, did_you_mean, printable
from gpufabric.jobs.check_adapters import check_adapters
from gpufabric.jobs.choose_ranks import other_gpus_note
from gpufabric.jobs.choose_route import load_tables, routing_name
from gpufabric.jobs.collective_result import PricedJob, collective_result
from gpufabric.jobs.find_cuts import find_cuts
from gpufabric.jobs.job_library import job_library
from gpufabric.jobs.known_op import known_op
from gpufabric.jobs.lay_wiring import Wiring, lay_wiring
from gpufabric.jobs.library_situation import job_situation, servers_as_nodes
from gpufabric.jobs.lift_wiring_settings import relinked, take_attainable
from gpufabric.jobs.pair_bytes import pair_bytes_of, uneven_note
from gpufabric.jobs.price_menu import RouteChoice, price_menu
from gpufabric.jobs.search_queue_pairs import pairs_to_try, search_queue_pairs
from gpufabric.jobs.table_ceiling import table_ceiling
from gpufabric.jobs.without_peer_access import NOTE, without_peer_access
from gpufabric.libraries.choose import FREE, Forced, candidates_of, choose
from gpufabric.libraries.lifted_limits import setting_of
from gpufabric.libraries.menu import lay_menu
from gpufabric.records.calibration import Calibration
from gpufabric.records.cluster import Cluster
from gpufabric.records.collective import Collective
from gpufabric.records.flow_hashing import FlowHashing
from gpufabric.records.library_model import LibraryModel, LibrarySettings
from gpufabric.records.part_set import PartSet
from gpufabric.records.parts import ServerPart
from gpufabric.records.priced_algorithm import PricedMenu
from gpufabric.records.rank_places import RankPlaces
from gpufabric.records.results import CollectiveResult
from gpufabric.records.spec_fields import Library
from gpufabric.simulators import SIMULATORS
from gpufabric.units import MAX_MESSAGE_BYTES, format_message_bytes

SHUFFLE_MATTERS = 0.05
_ASSUMPTIONS = (
    "the library runs what it expects to end first; no tuner plug-in, no buffers registered with it",
    "cables as long as the floor plan makes them, 10 m where it is silent; switches of unpublished latency take 0.45 µs "
    "(InfiniBand) or 1 µs (Ethernet)",
    "warm: a first call also connects, which takes up to 10 s; nothing else runs",
)
#: Of more ranks only the algorithm that runs in fabric order is laid out in shuffled order, too: the others take seconds more.
MOST_SEARCHED = 1 << 15
_UNSEARCHED = "attainable for shuffled ranks: not told, because of so many other algorithms are not searched"
_MIXED = "servers of several kinds: all visit their GPUs as the server of rank 0 does"


@dataclass(frozen=True, slots=True)
class CollectiveOptions:
    """How to predict.

    ``seed`` is that of the shuffle, ``hash_seed`` that of ECMP. ``ranks`` None means all GPUs; ``routing`` None means the
    fabric's own; ``fabric`` is the name of the fabric that carries the collective, None the first; ``calibration`` None means the
    shipped one. ``compare_shuffled`` adds the results for shuffled ranks where they are more than 5 % off those in fabric order.

    ``library`` None means the newest one that runs on the GPUs, with nothing set; ``forced`` is an algorithm or protocol to show
    whatever the library would do, what-ifs outside of its menu included. ``in_network``: the switches of the fabric add (SHARP).
    ``queue_pairs`` None means what the library's settings say, ``polarised`` that every tier hashes alike. ``pair_shares`` are
    the parts of an all_to_all_v that each rank (row) sends to each other (column), in any unit; without them ``skew`` makes
    some, 0 for even ones.
    """

    ranks: int | None = None
    order: str = "fabric"
    seed: int = 0
    hash_seed: int = 0
    routing: str | None = None
    simulator: str = "fluid"
    fabric: str | None = None
    calibration: Calibration | None = None
    compare_shuffled: bool = False
    placement: str = "packed"
    places: RankPlaces | None = None
    library: Library | None = None
    forced: Forced = FREE
    in_network: bool = False
    queue_pairs: int | None = None
    polarised: bool = False
    pair_shares: NDArray[np.float64] | None = None
    skew: float | None = None


@dataclass(frozen=True, slots=True)
class Asked:
    """What is asked, looked up: the same for every order of the ranks. ``links_off``: NVLink idles, because a setting says so."""

    op: str
    sizes: Sequence[int]
    options: CollectiveOptions
    wiring: Wiring
    server: ServerPart
    fabric: int
    routing: str
    method: str
    model: LibraryModel
    settings: LibrarySettings
    notes: tuple[str, ...]
    links_off: bool = False


def predict_collective(
    cluster: Cluster, parts: PartSet, op: str, sizes: Sequence[int], options: CollectiveOptions | None = None
) -> list[CollectiveResult]:
    """Return the predicted cost of one collective for each message size.

    Every algorithm of the library's menu is laid on the wiring and simulated once; what it takes for a size is estimated from
    that and the calibration, and the library runs the fastest of what it may use.

    Parameters
    ----------
    cluster : Cluster
    parts : PartSet
        As :func:`gpufabric.topologies.resolve_parts` returns it.
    op : str
        ``all_reduce``, ``all_gather`` … or as nccl-tests spells it.
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
        If nothing that the library may run has a way through the fabric.
    """
    options = options or CollectiveOptions()
    asked, gpus = ask(cluster, parts, op, sizes, options)
    found = _in_orders(cluster, asked, gpus)
    domain = asked.server.scale_up.domain_servers
    for other in relinked(options.library, asked.model, asked.settings, domain):
        try:
            lifted, gpus = ask(cluster, parts, op, sizes, replace(options, library=other.library))
            found = take_attainable(found, _in_orders(cluster, lifted, gpus), other.changed)
        except GpufabricError:
            # What the job asks for can't run on the other links, so nothing is to be had there.
            continue
    return found


def _in_orders(cluster: Cluster, asked: Asked, gpus: NDArray[np.int32]) -> list[CollectiveResult]:
    """Return the results in the order of ranks that is asked for, then in shuffled order where that matters."""
    options = asked.options
    fabric, where = asked.fabric, (options.placement, options.places)
    found = _predict(asked, gpus, order_name(options.order, options.seed, *where))
    if options.compare_shuffled and options.order == "fabric":
        shuffled = _predict(
            asked,
            rank_gpus(cluster, options.ranks, "shuffled", options.seed, fabric, options.placement),
            order_name("shuffled", options.seed, options.placement),
            found,
        )
        slower = abs(shuffled[-1].time_s / found[-1].time_s - 1)
        found += shuffled if slower > SHUFFLE_MATTERS else []
    note = (
        match_note(cluster, options.places, fabric, options.seed, options.placement) if options.places else ""
    )
    return [replace(r, assumptions=(note, *r.assumptions)) for r in found] if note else found


def ask(
    cluster: Cluster, parts: PartSet, op: str, sizes: Sequence[int], options: CollectiveOptions
) -> tuple[Asked, NDArray[np.int32]]:
    """Return what is asked, looked up, and the GPU of each rank; raises as :func:`predict_collective` does."""
    op = known_op(op)
    _check(op, sizes, options)
    fabric = _fabric_index(cluster, options.fabric)
    where = options.placement, options.places
    gpus = rank_gpus(cluster, options.ranks, options.order, options.seed, fabric, *where)
    if len(gpus) < 2:
        raise InputError(
            f"ranks: {_article(op)} over 1 rank moves nothing; allowed is 2 or more; {_more_ranks(options)}"
        )
    return _look_up(cluster, parts, op, sizes, (options, fabric, int(gpus[0]))), gpus


def _more_ranks(options: CollectiveOptions) -> str:
    if options.places is not None:
        return f"name more hosts or slots in {options.places.source}"
    return "raise --gpus" if options.ranks == 1 else "describe more servers, or GPUs that the fabric reaches"


def _article(op: str) -> str:
    return f"an {op}" if op[0] == "a" else f"a {op}"


def _check(op: str, sizes: Sequence[int], options: CollectiveOptions) -> None:
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
    algorithm = options.forced.algorithm
    if algorithm is not None and algorithm not in ALGORITHMS[op]:
        raise InputError(
            f'algorithm "{printable(algorithm)}" is unknown for {op}; known: {", ".join(ALGORITHMS[op])}.'
            f"{did_you_mean(algorithm, ALGORITHMS[op])}"
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


def _look_up(
    cluster: Cluster, parts: PartSet, op: str, sizes: Sequence[int], how: tuple[CollectiveOptions, int, int]
) -> Asked:
    options, fabric, first_gpu = how
    server = parts.servers[cluster.parts[cluster.devices.part[cluster.gpus.host[first_gpu]]]]
    model, settings, notes = job_library(options.library, server.gpu)
    check_adapters(model, settings, server)
    settings = replace(settings, queue_pairs=options.queue_pairs or settings.queue_pairs)
    links_off = not settings.peer_to_peer and server.scale_up.kind != "pcie"
    if links_off:
        name = setting_of(model, "peer-to-peer-off")
        parts = without_peer_access(parts, f"{name}={settings.given.get(name, '')}")
        server = parts.servers[server.id]
        cluster, notes = servers_as_nodes(cluster), (*notes, NOTE)
    if server.scale_up.domain_servers > 1 and not (settings.domain and model.domain_since):
        cluster = servers_as_nodes(cluster)
    routing = options.routing or cluster.fabrics[fabric].routing
    tables, routing_used = load_tables(cluster, parts, fabric, routing)
    hashing = FlowHashing(settings.queue_pairs, options.polarised)
    wiring = replace(lay_wiring(cluster, parts), tables=tables, hashing=hashing)
    method = f"{options.simulator}, {routing_name(wiring.tiers, routing_used)} routing"
    notes = (*other_gpus_note(options.places, server.gpu), *notes)
    return Asked(
        op, sizes, options, wiring, server, fabric, routing, method, model, settings, notes, links_off
    )


def _predict(
    asked: Asked,
    gpus: NDArray[np.int32],
    rank_order: str,
    like: Sequence[CollectiveResult] = (),
) -> list[CollectiveResult]:
    """Return a result a size; with *like*, by the algorithm of each of those: a library knows nothing of the ranks' order."""
    job, options = lay_asked(asked, gpus), asked.options
    situation = job_situation(job, asked.server)
    if asked.links_off:
        # Boxes made for PCIe are not how these servers were measured, so no kind of hardware is said.
        situation = replace(situation, scale_up="")
    menu = lay_menu(asked.model, asked.settings, situation, asked.op)
    asked_for = replace(options.forced, by_library=options.forced == FREE)
    ran = [replace(asked_for, algorithm=r.algorithm, protocol=r.protocol) for r in like]
    forced = ran or [options.forced] * len(asked.sizes)
    candidates = candidates_of(menu, options.forced)
    allowed = {c.algorithm for c in candidates if not c.fix}
    table = options.pair_shares, options.skew, options.seed
    pair_bytes = pair_bytes_of(asked.op, max(asked.sizes), len(gpus), *table)
    collective = Collective(asked.op, max(asked.sizes), gpus, rank_order, pair_bytes=pair_bytes)
    route = RouteChoice(asked.routing, options.hash_seed, options.simulator)
    searched = not like or len(gpus) <= MOST_SEARCHED
    names = dict.fromkeys([*(r.algorithm for r in like), *(c.algorithm for c in candidates if searched)])
    priced, refused = price_menu(asked.wiring, job, collective, names, route)
    if not allowed & priced.keys():
        raise next(error for name, error in refused.items() if name in allowed)
    by_queue_pairs, untried = search_queue_pairs(
        asked.wiring, job, collective, priced, route, pairs_to_try(asked.model)
    )
    reach = PricedMenu(priced, by_queue_pairs)
    kinds = np.unique(asked.wiring.cluster.devices.part[asked.wiring.cluster.gpus.host[gpus]])
    mixed = (_MIXED,) if len(kinds) > 1 else ()
    priced_job = PricedJob(
        rank_order=rank_order,
        cuts=find_cuts(asked.wiring, job),
        priced=priced,
        refused=tuple((name, error.reason) for name, error in refused.items()),
        library=f"{asked.model.name} {asked.model.version}",
        method=asked.method,
        assumptions=(
            *uneven_note(pair_bytes),
            *asked.notes,
            *_ASSUMPTIONS,
            *mixed,
            *untried,
            *(() if searched else (_UNSEARCHED,)),
        ),
        table=None if pair_bytes is None else table_ceiling(asked.wiring, job, pair_bytes),
        table_bytes=collective.size_bytes,
    )

    calibration = options.calibration or load_collective_calibration()

    def result(size: int, fixed: Forced) -> CollectiveResult:
        choice = choose(asked.model, asked.settings, situation, reach, calibration, size, fixed)
        return collective_result(priced_job, choice, size, searched)

    return [result(size, fixed) for size, fixed in zip(asked.sizes, forced, strict=True)]


def lay_asked(asked: Asked, gpus: NDArray[np.int32]) -> JobWiring:
    """Return the job of the ranks on the wiring that was looked up."""
    wiring = asked.wiring
    return lay_job(
        wiring.cluster, wiring.inside, gpus, asked.server.scale_up, asked.fabric, asked.options.in_network
    )
