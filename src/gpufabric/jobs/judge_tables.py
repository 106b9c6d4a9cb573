"""Tables of logs and the cluster as designed → a verdict on each, with what may be its cause."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial

import numpy as np
from numpy.typing import NDArray

from gpufabric.collectives.rank_order import order_name, rank_gpus
from gpufabric.diagnosis.slow_place import SLOW_PLACE, slow_words
from gpufabric.errors import InputError, UnbuildableError
from gpufabric.jobs.choose_ranks import RankChoice, choose_ranks
from gpufabric.jobs.collective import CollectiveOptions, predict_collective
from gpufabric.jobs.compare_runs import leaves_of_hosts, of_job, suspects_of
from gpufabric.jobs.described_collective import with_description
from gpufabric.jobs.find_causes import PricedJob, Settings, WiredJob, find_causes, price_job
from gpufabric.jobs.job_library import fitting_libraries
from gpufabric.jobs.load_parts import catalog_for
from gpufabric.jobs.place_measured import on_so_many_servers
from gpufabric.jobs.racked_cluster import racked_cluster
from gpufabric.jobs.unused_keys import CHECK
from gpufabric.records.calibration import Calibration
from gpufabric.records.cluster import Cluster
from gpufabric.records.cluster_spec import ClusterSpec
from gpufabric.records.findings import Finding
from gpufabric.records.job_evidence import FileEvidence
from gpufabric.records.measurements import MeasuredTable
from gpufabric.records.part_set import PartSet
from gpufabric.records.parts import ServerPart
from gpufabric.records.verdicts import Expectation, Verdict
from gpufabric.rules import RULES, measured_busbw, measured_scope
from gpufabric.rules.fold_alike import fold_alike
from gpufabric.units import counted

_Expect = Callable[[str, int, int, tuple[int, ...]], tuple[dict[int, Expectation], tuple[str, ...]]]

PriceShape = Callable[[int, int, str, int, bool, Settings], PricedJob]


@dataclass(frozen=True, slots=True)
class Designed:
    """The cluster as designed, wired, and how its jobs are predicted; ``errors`` are those of the design itself."""

    cluster: Cluster
    parts: PartSet
    errors: tuple[Finding, ...]
    choice: RankChoice
    options: CollectiveOptions
    assumptions: tuple[str, ...]

    @property
    def server(self) -> ServerPart:
        """The part of the server that holds rank 0."""
        part = self.cluster.devices.part[self.cluster.gpus.host[0]]
        return self.parts.servers[self.cluster.parts[part]]

    def places(self, ranks: int, hosts: int) -> RankChoice:
        """Return where *ranks* ranks run; on *hosts* servers, if that is known (not 0) and they do not fill them."""
        if hosts > 1 and self.choice.places is None and self.choice.order == "fabric":
            return on_so_many_servers(self.cluster, self.choice, hosts, ranks // hosts)
        return self.choice

    def gpus(self, ranks: int, hosts: int) -> NDArray[np.int32]:
        """Return the GPU of each rank, in the order that the description asks for."""
        choice = self.places(ranks, hosts)
        return rank_gpus(
            self.cluster, ranks, choice.order, choice.seed, placement=choice.placement, places=choice.places
        )

    def inside(self, ranks: int, hosts: int) -> bool:
        """Say whether *ranks* GPUs stay inside one scale-up domain."""
        domains = self.cluster.gpus.domain[self.gpus(ranks, hosts)]
        return bool((domains == domains[0]).all())

    def wired(self, ranks: int, hosts: int) -> WiredJob:
        """Return the job as its causes are looked for in it."""
        choice = self.places(ranks, hosts)
        options = replace(self.options, ranks=ranks, places=choice.places)
        return WiredJob(self.cluster, self.parts, self.gpus(ranks, hosts), options)


@dataclass(frozen=True, slots=True)
class Judged:
    """What was said of a table; ``several`` servers took part in it."""

    verdict: Verdict
    findings: tuple[Finding, ...] = ()
    assumptions: tuple[str, ...] = ()
    several: bool = False
    hosts: frozenset[str] = frozenset()


def judge_tables(
    designed: Designed, tables: Sequence[tuple[MeasuredTable, str]], evidence: FileEvidence
) -> tuple[list[Judged], tuple[Finding, ...]]:
    """Judge tables, each with the name of its file, and name what may be the cause of their rates.

    The second of what is returned are the places that the slow ones have in common.

    Parameters
    ----------
    designed
        The cluster as designed.
    tables
    evidence
        Everything else that was read.
    """
    # Tables of one log often have the same ranks and sizes: each pair is predicted once.
    expect = cache(partial(_expected, designed))
    rated = [_by_rate(designed, table, file, expect) for table, file in tables]
    price = price_once(designed)
    tests = frozenset(file for _, file in tables)
    leaves = leaves_of_hosts(designed.cluster) if len(tables) > 1 else {}
    named = [(*tables[i], one.verdict) for i, one in enumerate(rated)]
    suspects = suspects_of(named, evidence, leaves)
    judged = [
        _with_causes(
            (*tables[i], rated),
            i,
            price,
            evidence.beside(tables[i][1], tests),
            of_job(suspects, [host for host, _ in tables[i][0].hosts], leaves),
        )
        for i in range(len(tables))
    ]
    return judged, suspects


def price_once(designed: Designed) -> PriceShape:
    """Return a function that prices each shape of a job once: ranks, hosts, operation, size, whether it is healthy, settings."""

    @cache
    def price(ranks: int, hosts: int, op: str, size: int, healthy: bool, settings: Settings) -> PricedJob:
        return price_job(designed.wired(ranks, hosts), op, size, healthy, dict(settings))

    return price


def _with_causes(
    of: tuple[MeasuredTable, str, Sequence[Judged]],
    row: int,
    price: PriceShape,
    evidence: FileEvidence,
    suspects: tuple[Finding, ...],
) -> Judged:
    table, file, rated = of
    judged = rated[row]
    known = bool(judged.verdict.sizes) and table.ranks is not None
    priced = partial(price, table.ranks or 0, measured_scope.even_hosts(table)) if known else None
    # The same servers, faster at another time, clear nothing: something was changed.
    others = [
        one.verdict
        for one in rated
        if one is not judged and one.several and (not table.hosts or one.hosts != judged.hosts)
    ]
    fine = next((v.what for v in others if v.verdict in {"healthy", "high"}), "")
    causes = find_causes(
        table, file, judged.verdict, priced, evidence, fine if judged.several else "", suspects
    )
    return replace(judged, verdict=with_place(replace(judged.verdict, causes=causes), suspects))


def with_place(verdict: Verdict, suspects: tuple[Finding, ...]) -> Verdict:
    """Return a verdict that is not healthy with the slow place in its words, where one is known."""
    words = slow_words(suspects) if any(cause.id == SLOW_PLACE for cause in verdict.causes) else ""
    return replace(verdict, found=f"{words}; {verdict.found}") if words else verdict


def _by_rate(designed: Designed, table: MeasuredTable, file: str, expect: _Expect) -> Judged:
    server = designed.server
    gpus = len(designed.cluster.gpus)
    ranks = "unknown ranks" if table.ranks is None else counted(table.ranks, "rank")
    what = f"{file}: {table.op or 'unknown operation'} over {ranks}, {table.dtype}"
    libraries = fitting_libraries(server.gpu)
    scope = measured_scope.check(table, server.gpu, gpus, file, libraries)
    reason = measured_scope.other_library(table, libraries) or measured_scope.why_not_judged(
        table, gpus, len(server.gpus)
    )
    sizes = measured_busbw.judged_sizes(table)
    if not reason and not sizes:
        reason = "no row is large enough (16 MiB) and free of contradictions"
    if not reason and any(f.rule == measured_scope.RULE_GPU for f in scope):
        reason = f"the log is of {table.gpu_name}, the description of {server.gpu}"
    expected: dict[int, Expectation] = {}
    assumptions: tuple[str, ...] = ()
    if not reason and table.ranks is not None:
        try:
            expected, assumptions = expect(
                table.op or "", table.ranks, measured_scope.even_hosts(table), tuple(sizes)
            )
        except UnbuildableError as error:
            reason = str(error)
    if reason:
        findings = scope + measured_busbw.wrong_elements(table, file)
        reason = "; ".join(filter(None, (measured_busbw.wrong_results(table), reason)))
        return Judged(measured_busbw.cannot_tell(what, reason), tuple(findings))
    verdict, findings = measured_busbw.check(table, expected, file=file)
    several = not designed.inside(table.ranks or 0, measured_scope.even_hosts(table))
    return Judged(
        replace(verdict, what=what),
        (*scope, *findings),
        assumptions,
        several,
        frozenset(host for host, _ in table.hosts),
    )


def _choice(spec: ClusterSpec) -> RankChoice:
    said = spec.rank_order
    choice = choose_ranks(spec, use=CHECK)
    if said.ranks is None:
        return choice
    note = f"rank_order.ranks {said.ranks:,}: not used, because a log says how many ranks took part"
    return replace(choice, ranks=None, notes=(*choice.notes, note))


def design(spec: ClusterSpec, calibration: Calibration | None) -> Designed:
    """Wire the cluster that *spec* describes.

    Raises
    ------
    InputError, PartError, SpecError
        If the description has no GPUs or names what does not exist.
    UnbuildableError
        If its fabric can't be wired.
    """
    choice = _choice(spec)
    racked = racked_cluster(spec, catalog_for(spec))
    cluster, parts = racked.cluster, racked.parts
    if len(cluster.gpus) == 0:
        raise InputError(
            f"{spec.name}: the description has no GPUs; nothing measured on GPUs can be judged by it"
        )
    findings = fold_alike(finding for rule in RULES.values() for finding in rule(cluster, parts, spec))
    errors = tuple(f for f in findings if f.severity == "error")
    options = with_description(
        spec,
        CollectiveOptions(
            order=choice.order,
            seed=choice.seed,
            calibration=calibration,
            placement=choice.placement,
            places=choice.places,
        ),
    )
    return Designed(cluster, parts, errors, choice, options, racked.assumptions)


def _expected(
    designed: Designed, op: str, ranks: int, hosts: int, sizes: tuple[int, ...]
) -> tuple[dict[int, Expectation], tuple[str, ...]]:
    choice = designed.places(ranks, hosts)
    options = replace(designed.options, ranks=ranks, places=choice.places)
    results = predict_collective(designed.cluster, designed.parts, op, sizes, options)
    servers = len(np.unique(designed.cluster.gpus.host[designed.gpus(ranks, hosts)]))
    order = "in its order" if choice.order == "fabric" else f"{choice.order} with seed {choice.seed}"
    first = f"the first {counted(servers, 'server')} of the description, {order}"
    if choice.places or choice.placement != "packed":
        name = order_name(choice.order, choice.seed, choice.placement, choice.places)
        first = f"{counted(servers, 'server')} as rank_order of the description says ({name})"
    placed = f"{counted(ranks, 'rank')} are on {first}: a log does not say where its servers stand"
    expected = {result.size_bytes: measured_busbw.expectation(result) for result in results}
    return expected, (placed, *dict.fromkeys(a for result in results for a in result.assumptions))
