"""A description and causes → the files that a slow job would leave, with the numbers that the prediction gives for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from gpufabric.errors import GpufabricError, InputError, did_you_mean, printable
from gpufabric.formats.job_outputs_write import NcclExcerpt, write_nccl_debug
from gpufabric.formats.nccl_tests_write import PROGRAMS, write_nccl_tests
from gpufabric.jobs.collective import CollectiveOptions, predict_collective
from gpufabric.jobs.described_collective import with_description
from gpufabric.jobs.load_parts import catalog_for
from gpufabric.jobs.log_fault_kinds import LOG_FAULTS, Change, HurtJob, inside_files, require_possible
from gpufabric.jobs.racked_cluster import RackedCluster, racked_cluster
from gpufabric.records.cluster import Cluster, Role
from gpufabric.records.cluster_spec import ClusterSpec
from gpufabric.records.names import device_names
from gpufabric.records.part_set import PartSet
from gpufabric.records.rank_places import RankPlaces
from gpufabric.records.spec_fields import Library
from gpufabric.units import counted, percent_text

#: ``-b 256M -e 8G -f 2``, as an acceptance test runs it.
SIZES = tuple(256 << 20 << step for step in range(6))
RANDOM = "random-cause"
PAIRED = "slow-server"
_MOST_SERVERS = 8
_MOST_PAIRS = 64


@dataclass(frozen=True, slots=True)
class LogFaultsOptions:
    """Causes to put in, which of many places they hit, the operation, and over how many GPUs.

    ``gpus`` None: up to eight servers, and one where all causes are of its inside.
    """

    inject: tuple[str, ...]
    seed: int = 0
    op: str = "all_reduce"
    gpus: int | None = None


@dataclass(frozen=True, slots=True)
class InjectedCause:
    """What was put in: kind, words, where, the causes (docs/causes) that name it, and if its cost is predicted or assumed."""

    kind: str
    message: str
    where: str
    causes: tuple[str, ...]
    priced: str


@dataclass(frozen=True, slots=True)
class LogFaultsResult:
    """The files by name, what is wrong, and what is left of the bus bandwidth at the largest size; ``remarks`` are for people."""

    cluster: str
    op: str
    ranks: int
    seed: int
    files: tuple[tuple[str, str], ...]
    mistakes: tuple[InjectedCause, ...]
    left: float
    remarks: tuple[str, ...]
    assumptions: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain JSON values, with the names of the files only."""
        return {
            "cluster": self.cluster,
            "op": self.op,
            "ranks": self.ranks,
            "output": "log",
            "seed": self.seed,
            "files": [name for name, _ in self.files],
            "mistakes": [asdict(mistake) for mistake in self.mistakes],
            "left": self.left,
            "assumptions": [*self.remarks, *self.assumptions],
        }


def inject_log_faults(
    spec: ClusterSpec, options: LogFaultsOptions, racked: RackedCluster | None = None
) -> LogFaultsResult:
    """Return the log of nccl-tests of a job that has these causes all at once, and what tools would print beside it.

    Parameters
    ----------
    spec
        The cluster as designed; its first fabric carries the job.
    options
        ``inject`` are keys of ``LOG_FAULTS`` or ``random-cause``.
    racked
        The cluster that *spec* describes, where it is wired already.

    Returns
    -------
    LogFaultsResult
        The same seed gives the same files.

    Raises
    ------
    InputError
        If a kind is unknown, the job can't have it, or the cluster has no such job.
    UnbuildableError
        If the cluster can't be wired.
    """
    _require_known(options)
    racked = racked or racked_cluster(spec, catalog_for(spec))
    chance = np.random.default_rng(options.seed)
    base = with_description(spec, CollectiveOptions(ranks=_ranks(racked.cluster, options), order="fabric"))
    job = _hurt_job(spec, racked, int(base.ranks or 0), chance)
    kinds = _kinds(options, job, chance)
    change = Change(racked.cluster, excerpt=_excerpt(job))
    for kind in kinds:
        LOG_FAULTS[kind].do(job, change)
    healthy, _ = _times(racked.cluster, racked.parts, options.op, base)
    times, assumed = _changed(racked.parts, change, options.op, base)
    files = {"nccl-tests.txt": _log(options.op, job, job.hosts, times)}
    if change.excerpt is not None and (said := write_nccl_debug(change.excerpt, tuple(change.shown.items()))):
        files["nccl-debug.txt"] = said
    files |= change.files | inside_files(job, change)
    if PAIRED in kinds:
        files |= _pairs(racked, change, job, options.op, base)
    mistakes = [
        InjectedCause(k, LOG_FAULTS[k].words, job.host_name, LOG_FAULTS[k].causes, LOG_FAULTS[k].priced)
        for k in kinds
    ]
    left = healthy[-1][1] / times[-1][1]
    notes = [
        f"what {one.kind} costs is assumed, no published figure is used"
        for one in mistakes
        if one.priced == "assumed"
    ]
    return LogFaultsResult(
        spec.name,
        options.op,
        int(base.ranks or 0),
        options.seed,
        tuple(files.items()),
        tuple(mistakes),
        left,
        (f"{percent_text(left)} of the predicted rate is left at the largest size", *notes),
        assumed,
    )


def _require_known(options: LogFaultsOptions) -> None:
    for kind in options.inject:
        if kind not in LOG_FAULTS and kind != RANDOM:
            raise InputError(
                f'--inject "{printable(kind)}" is unknown; known: {", ".join((*LOG_FAULTS, RANDOM))}.'
                f"{did_you_mean(kind, tuple(LOG_FAULTS))}"
            )
    if options.op not in PROGRAMS:
        raise InputError(
            f'--op "{printable(options.op)}" has no test; known: {", ".join(PROGRAMS)}.{did_you_mean(options.op, PROGRAMS)}'
        )


def _ranks(cluster: Cluster, options: LogFaultsOptions) -> int:
    """Return how many ranks run: whole servers, one where all causes are of its inside."""
    gpus = options.gpus
    if not len(cluster.gpus):
        raise InputError("the description has no GPUs; a log needs some")
    counts = np.unique(cluster.gpus.host, return_counts=True)[1]
    if gpus is None:
        inside = all(kind in LOG_FAULTS and LOG_FAULTS[kind].inside for kind in options.inject)
        return int(counts[: 1 if inside else _MOST_SERVERS].sum())
    if gpus < 2 or gpus > len(cluster.gpus) or gpus not in np.cumsum(counts):
        raise InputError(
            f"--gpus {gpus}: is not a number of whole servers; allowed are multiples of {counts[0]} up to"
            f" {counted(len(cluster.gpus), 'GPU')}"
        )
    return gpus


def _hurt_job(spec: ClusterSpec, racked: RackedCluster, ranks: int, chance: np.random.Generator) -> HurtJob:
    cluster, fabric = racked.cluster, 0
    rows = np.unique(cluster.gpus.host[:ranks])
    names = device_names(cluster, rows).tolist()
    several = len(np.unique(cluster.gpus.domain[:ranks])) > 1
    at = int(chance.integers(len(rows)))
    server = racked.parts.servers[cluster.parts[cluster.devices.part[rows[at]]]]
    ends = cluster.links.port_a, cluster.links.port_b
    near, far = (np.concatenate(pair) for pair in (ends, ends[::-1]))
    ports = cluster.ports
    mine = (ports.device[near] == rows[at]) & (ports.fabric[near] == fabric) & (ports.cage[near] != 0)
    nics = np.unique(ports.nic[near[mine]]) if several else np.empty(0, np.int16)
    nic = int(chance.integers(len(nics))) if len(nics) else 0
    rate = float(np.tile(cluster.links.bytes_per_s, 2)[mine].sum()) / len(nics) if len(nics) else 0.0
    ends_at = far[mine & (ports.nic[near] == nics[nic])] if len(nics) else far[:0]
    leaves = [port for port in ends_at.tolist() if cluster.devices.role[ports.device[port]] != Role.SERVER]
    leaf = (
        (str(device_names(cluster, ports.device[leaves[:1]])[0]), int(ports.cage[leaves[0]]))
        if leaves
        else ("switch", 1)
    )
    gpu = catalog_for(spec).get(server.gpu)
    return HurtJob(
        cluster=cluster,
        fabric=fabric,
        server=server,
        gpu_name=f"{gpu.vendor} {gpu.model}" if gpu is not None else server.gpu,
        hosts=tuple(names),
        host=int(rows[at]),
        host_name=names[at],
        nic=nic,
        nics=len(nics),
        nic_bytes_per_s=rate,
        network=cluster.fabrics[fabric].network if len(nics) else "",
        leaf=leaf,
    )


def _kinds(options: LogFaultsOptions, job: HurtJob, chance: np.random.Generator) -> tuple[str, ...]:
    """Return the kinds with chosen ones in the place of random ones, each once."""
    possible = []
    for kind in LOG_FAULTS:
        try:
            require_possible(kind, job)
        except InputError:
            continue
        possible.append(kind)
    kinds: dict[str, None] = {}
    for asked in options.inject:
        left = [kind for kind in possible if kind not in kinds]
        if asked == RANDOM and not left:
            raise InputError(f"--inject {RANDOM}: no cause is left that this job can have; ask for fewer")
        kind = left[int(chance.integers(len(left)))] if asked == RANDOM else asked
        require_possible(kind, job)
        kinds[kind] = None
    return tuple(kinds)


def _excerpt(job: HurtJob) -> NcclExcerpt:
    other = next((host for host in job.hosts if host != job.host_name), job.host_name)
    link = "IB" if job.network == "infiniband" else "RoCE"
    return NcclExcerpt((job.host_name, other), job.nics, job.gpus, link)


_Times = list[tuple[int, float]]


def _times(
    cluster: Cluster, parts: PartSet, op: str, options: CollectiveOptions
) -> tuple[_Times, tuple[str, ...]]:
    results = predict_collective(cluster, parts, op, SIZES, options)
    said = dict.fromkeys(a for result in results for a in result.assumptions)
    return [(result.size_bytes, result.time_s) for result in results], tuple(said)


def _changed(
    parts: PartSet, change: Change, op: str, options: CollectiveOptions
) -> tuple[_Times, tuple[str, ...]]:
    """Return the times that the prediction gives with all that was changed, over the share that is assumed."""
    library = options.library or Library.model_validate({})
    settings = {**library.settings, **change.settings}
    changed = replace(
        options,
        library=library.model_copy(update={"settings": settings}),
        routing=change.routing or options.routing,
        order=change.order if options.places is None else options.order,
    )
    try:
        times, said = _times(change.cluster, _weaker(parts, change.scale_up), op, changed)
    except GpufabricError as error:
        raise InputError(f"--inject: the job can't run with these causes together: {error}") from error
    return [(size, time / change.share) for size, time in times], said


def _weaker(parts: PartSet, share: float) -> PartSet:
    """Return parts whose servers keep *share* of their scale-up links: all wait for the GPU that has lost them."""
    if share == 1.0:
        return parts
    servers = {}
    for name, server in parts.servers.items():
        up = server.scale_up
        pair = up.pair_bytes_per_s and up.pair_bytes_per_s * share
        less = up.model_copy(update={"gpu_bytes_per_s": up.gpu_bytes_per_s * share, "pair_bytes_per_s": pair})
        servers[name] = server.model_copy(update={"scale_up": less})
    return replace(parts, servers=servers)


def _log(op: str, job: HurtJob, hosts: Sequence[str], times: _Times) -> str:
    return write_nccl_tests(op, [(host, job.gpus) for host in hosts], job.gpu_name, times)


def _pairs(
    racked: RackedCluster, change: Change, job: HurtJob, op: str, options: CollectiveOptions
) -> dict[str, str]:
    """Return logs of pairs, each server in two of them, as an acceptance runs them: the slow ones share one server."""
    hosts = job.hosts[:_MOST_PAIRS]
    half = len(hosts) // 2
    pairs = [(hosts[i], hosts[i + 1]) for i in range(0, len(hosts) - 1, 2)]
    pairs += [(hosts[i], hosts[i + half]) for i in range(half)] if half > 1 else []
    known: dict[tuple[bool, bool], _Times] = {}
    files = {}
    for number, pair in enumerate(pairs, 1):
        shape = (job.host_name in pair, number * 2 <= len(hosts))
        if shape not in known:
            places = RankPlaces("pair", pair, (job.gpus,) * 2, (0, 0))
            asked = replace(options, ranks=2 * job.gpus, order="hostfile", places=places)
            hurt = replace(change, cluster=change.cluster if shape[0] else racked.cluster, excerpt=None)
            known[shape] = _changed(racked.parts, hurt, op, asked)[0]
        files[f"pair-{number:02d}.txt"] = _log(op, job, pair, known[shape])
    return files
