"""A judged table, the wired cluster and everything read → the causes of its rate, with what-ifs priced where they may tell."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from gpufabric.diagnosis.diagnose import diagnose
from gpufabric.errors import GpufabricError
from gpufabric.graphs.fabric_links import fabric_links
from gpufabric.graphs.tier_ratios import worst_ratio
from gpufabric.jobs.collective import CollectiveOptions, predict_collective
from gpufabric.jobs.gather_files import DESCRIPTION
from gpufabric.records.cluster import Cluster, Role
from gpufabric.records.findings import Finding
from gpufabric.records.job_evidence import DescribedJob, FileEvidence, JobEvidence, WhatIf
from gpufabric.records.measurements import MeasuredTable
from gpufabric.records.part_set import PartSet
from gpufabric.records.results import CollectiveResult
from gpufabric.records.spec_fields import Library
from gpufabric.records.tiers import link_fabrics
from gpufabric.records.verdicts import Cause, SizeVerdict, Verdict

_FORCING = ("NCCL_ALGO", "NCCL_PROTO")
Settings = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class WiredJob:
    """Where a table's ranks run and how they were predicted.

    ``gpus`` are the GPU of each rank; ``options`` those of the prediction, with the number of ranks.
    """

    cluster: Cluster
    parts: PartSet
    gpus: NDArray[np.int32]
    options: CollectiveOptions


@dataclass(frozen=True, slots=True)
class PricedJob:
    """What the prediction says of a job at one size: the same for every log of the same shape."""

    job: DescribedJob
    what_ifs: tuple[WhatIf, ...] = ()
    configured_bytes_per_s: float = 0.0


def price_job(wired: WiredJob, op: str, size: int, healthy: bool, settings: Mapping[str, str]) -> PricedJob:
    """Return what the job is predicted to reach as it is and otherwise.

    Parameters
    ----------
    wired
    op, size
        Of the half row that the verdict rests on.
    healthy
        Then only what could be gained is priced.
    settings
        Of the library, as files say them.
    """
    result = _predict(wired, op, size, wired.options)
    job = _described(wired, result)
    if result is None or (healthy and job.routing != "ecmp"):
        return PricedJob(job)
    return PricedJob(
        job, tuple(_what_ifs(wired, op, size, job, settings)), _configured(wired, op, size, settings)
    )


def find_causes(
    table: MeasuredTable,
    file: str,
    verdict: Verdict,
    price: Callable[[str, int, bool, Settings], PricedJob] | None,
    files: FileEvidence,
    reference: str = "",
    suspects: tuple[Finding, ...] = (),
) -> tuple[Cause, ...]:
    """Return possible causes of the rate of *table*, the likeliest first.

    Parameters
    ----------
    table
    file
        What findings call its file.
    verdict
        What was said of it.
    price
        Operation, size, whether it is healthy and settings → what :func:`price_job` says of this job; None when it can't be
        predicted: only what files show is then named.
    files
        Everything that was read.
    reference
        A log of several servers given beside it that is not slow; empty when there is none.
    suspects
        Places of this job that the slow ones of several runs have in common.
    """
    best = deciding(verdict)
    priced = None
    if price and best and table.op:
        healthy = verdict.verdict == "healthy"
        priced = price(table.op, best.size_bytes, healthy, said_by_files(files))
    evidence = JobEvidence(
        table,
        file,
        verdict.verdict,
        best,
        priced.job if priced else None,
        priced.what_ifs if priced else (),
        files,
        priced.configured_bytes_per_s if priced else 0.0,
        reference,
        suspects,
    )
    return diagnose(evidence)


def said_by_files(files: FileEvidence) -> Settings:
    """Return the settings that files say and the description does not."""
    return tuple(
        sorted((name, value) for name, (value, where) in files.settings.items() if where != DESCRIPTION)
    )


def deciding(verdict: Verdict) -> SizeVerdict | None:
    """Return the half row of the largest size that the verdict rests on."""
    telling = [size for size in verdict.sizes if size.verdict == verdict.verdict] or list(verdict.sizes)
    return max(telling, key=lambda s: (s.size_bytes, s.measured_bytes_per_s), default=None)


def _predict(wired: WiredJob, op: str, size: int, options: CollectiveOptions) -> CollectiveResult | None:
    try:
        return predict_collective(wired.cluster, wired.parts, op, [size], options)[0]
    except GpufabricError:
        return None


def _configured(wired: WiredJob, op: str, size: int, settings: Mapping[str, str]) -> float:
    """Return what is predicted with the settings that files say; 0 when none of them is new or acted on."""
    result = _predict(wired, op, size, _with_settings(wired.options, settings)) if settings else None
    return result.busbw_bytes_per_s if result is not None else 0.0


def _described(wired: WiredJob, result: CollectiveResult | None) -> DescribedJob:
    cluster, options = wired.cluster, wired.options
    hosts = np.unique(cluster.gpus.host[wired.gpus])
    server = wired.parts.servers[cluster.parts[cluster.devices.part[hosts[0]]]]
    fabric = _fabric(cluster, options)
    linked = np.concatenate([cluster.links.port_a, cluster.links.port_b])
    rate = np.tile(cluster.links.bytes_per_s, 2)
    mine = (cluster.ports.device[linked] == hosts[0]) & (cluster.ports.fabric[linked] == fabric)
    nics = len(np.unique(cluster.ports.nic[linked[mine]]))
    several = len(hosts) > server.scale_up.domain_servers
    crossed = several and _below_different_leaves(cluster, hosts, fabric)
    pcie = server.pcie[0].bytes_per_s if server.pcie else 0.0
    return DescribedJob(
        nodes=len(hosts) if several else 1,
        ranks=len(wired.gpus),
        gpus_per_server=len(server.gpus),
        nics_per_server=nics if several else 0,
        nic_bytes_per_s=float(rate[mine].sum() / nics) if several and nics else 0.0,
        network=cluster.fabrics[fabric].network if several else "",
        routing=options.routing or cluster.fabrics[fabric].routing,
        oversubscription=_oversubscription(cluster, fabric) if crossed else 1.0,
        switches_crossed=crossed,
        rank_order=options.order,
        scale_up=server.scale_up.kind,
        multicast=server.scale_up.multicast,
        library=result.library if result else "",
        algorithm=result.algorithm if result else "",
        protocol=result.protocol if result else "",
        bottleneck=result.bottleneck if result else "",
        attainable_bytes_per_s=(result.attainable_busbw_bytes_per_s or 0.0) if result else 0.0,
        attainable_settings=result.attainable_settings if result else (),
        gpu_bytes_per_s=float(server.scale_up.gpu_bytes_per_s),
        gpu_pcie_bytes_per_s=float(pcie) if server.scale_up.kind == "pcie" else 0.0,
    )


def _fabric(cluster: Cluster, options: CollectiveOptions) -> int:
    names = [fabric.name for fabric in cluster.fabrics]
    return names.index(options.fabric) if options.fabric in names else 0


def _below_different_leaves(cluster: Cluster, hosts: NDArray[np.int32], fabric: int) -> bool:
    """Say whether the servers of a job hang on different leaves, so that its traffic goes higher."""
    on = link_fabrics(cluster) == fabric
    a, b = cluster.link_device_a[on], cluster.link_device_b[on]
    joins = np.isin(a, hosts) & (cluster.devices.role[b] == Role.LEAF)
    pairs = np.unique(np.stack([a[joins], b[joins]], axis=1), axis=0)
    if not len(pairs):
        return False
    leaves = len(np.unique(pairs[:, 1]))
    return bool(len(pairs) < leaves * len(np.unique(pairs[:, 0])))


def _oversubscription(cluster: Cluster, fabric: int) -> float:
    links = fabric_links(cluster, fabric)
    return max(worst_ratio(links, tier) for tier in (1, 2, 3))


def _what_ifs(
    wired: WiredJob, op: str, size: int, job: DescribedJob, settings: Mapping[str, str]
) -> Iterator[WhatIf]:
    for cause, what, options in _variants(wired, job, settings):
        result = _predict(wired, op, size, options)
        if result is not None:
            yield WhatIf(cause, what, result.busbw_bytes_per_s)


def _variants(
    wired: WiredJob, job: DescribedJob, settings: Mapping[str, str]
) -> Iterator[tuple[str, str, CollectiveOptions]]:
    """Yield cause, words and options of what is worth pricing for this job."""
    options = wired.options
    if job.switches_crossed:
        if options.order == "fabric" and options.places is None:
            shuffled = replace(options, order="shuffled", compare_shuffled=False)
            yield "oversubscription", "a shuffled order of the ranks", shuffled
            if job.routing != "static":
                hashed = replace(shuffled, routing="ecmp")
                yield "ecmp-collisions", "hashing with shuffled ranks", hashed
                if job.routing == "adaptive":
                    yield "adaptive-routing-off", "hashing with shuffled ranks", hashed
        if job.routing == "adaptive":
            hashed = replace(options, routing="ecmp")
            yield "ecmp-collisions", "hashing instead of adaptive routing", hashed
            yield "adaptive-routing-off", "hashing instead of adaptive routing", hashed
        elif job.routing == "ecmp":
            yield "adaptive-routing-gain", "adaptive routing", replace(options, routing="adaptive")
            yield "ecmp-collisions", "hashing alike in every tier", replace(options, polarised=True)
    if job.multicast:
        yield "nvls-missing", "without NVLS", _with_settings(options, {"NCCL_NVLS_ENABLE": "0"})
    forcing = {name: settings[name] for name in _FORCING if name in settings}
    if forcing:
        words = " ".join(f"{name}={value}" for name, value in forcing.items())
        yield "algorithm-forced", words, _with_settings(options, forcing)


def _with_settings(options: CollectiveOptions, settings: Mapping[str, str]) -> CollectiveOptions:
    library = options.library or Library.model_validate({})
    return replace(options, library=library.model_copy(update={"settings": {**library.settings, **settings}}))
