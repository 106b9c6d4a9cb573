"""What a library chooses and the ceiling → the predicted cost of one collective of one size."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import isfinite

from gpufabric.collectives.bus_factors import bus_factor
from gpufabric.records.estimate import Considered, Estimate, LibraryChoice
from gpufabric.records.priced_algorithm import PricedAlgorithm
from gpufabric.records.results import CollectiveResult, ConsideredTime
from gpufabric.simulators.ceilings import Ceiling, CutRates, least_time
from gpufabric.units import counted

_EACH_GPU = ("all_to_all", "all_to_all_v", "send_recv")
"""Operations whose bus bandwidth is that of one GPU; that of the others is of all NICs of a node."""


@dataclass(frozen=True, slots=True)
class PricedJob:
    """A job with its priced algorithms: everything about it that does not depend on the size of the message.

    ``refused`` are (algorithm, reason) for what the wiring does not allow. ``table`` is the least time of an all_to_all_v of
    ``table_bytes``, None for other operations.
    """

    rank_order: str
    cuts: CutRates
    priced: dict[str, PricedAlgorithm]
    refused: tuple[tuple[str, str], ...]
    library: str
    method: str
    assumptions: tuple[str, ...]
    table: Ceiling | None = None
    table_bytes: int = 1

    def ceiling(self, op: str, size_bytes: int, algorithm: str) -> Ceiling:
        """Return the least time of a message: that without in-network reduction unless the algorithm adds in the fabric."""
        if self.table is not None:
            return replace(self.table, time_s=self.table.time_s * size_bytes / self.table_bytes)
        return least_time(op, self.cuts, size_bytes, algorithm.startswith("collnet"))


def collective_result(
    job: PricedJob, choice: LibraryChoice, size_bytes: int, searched: bool = True
) -> CollectiveResult:
    """Return the result for one message; no time in it is below its ceiling.

    Parameters
    ----------
    job, choice, size_bytes
    searched : bool, optional
        What is attainable was looked for among all algorithms; it is not told otherwise.
    """
    chosen = choice.configured
    priced = job.priced[chosen.algorithm]
    op, factor = priced.op, bus_factor(priced.op, priced.ranks)
    ceiling = job.ceiling(op, size_bytes, chosen.algorithm)
    best = job.ceiling(op, size_bytes, choice.attainable.algorithm)
    time = max(chosen.time_s, ceiling.time_s)
    attainable = min(max(choice.attainable.time_s, best.time_s), time)
    worth = searched and attainable < time
    plain, added = job.ceiling(op, size_bytes, ""), _in_network(job, op, size_bytes)
    return CollectiveResult(
        op=op,
        size_bytes=size_bytes,
        gpus=priced.ranks,
        rank_order=job.rank_order,
        time_s=time,
        time_low_s=min(max(chosen.low_s, ceiling.time_s), time),
        time_high_s=max(chosen.high_s, time),
        time_slow_s=max(chosen.slow_s, chosen.high_s, time),
        algbw_bytes_per_s=size_bytes / time,
        busbw_bytes_per_s=size_bytes / time * factor,
        attainable_busbw_bytes_per_s=size_bytes / attainable * factor if searched else None,
        ceiling_busbw_bytes_per_s=size_bytes / ceiling.time_s * factor,
        ceiling_name=ceiling.name,
        algorithm=chosen.algorithm,
        protocol=chosen.protocol,
        channels=chosen.channels,
        library=job.library,
        bottleneck=choice.limit.name,
        method=job.method,
        assumptions=(*job.assumptions, _range_text(chosen)),
        attainable_settings=choice.settings if worth else (),
        latency_s=chosen.latency_s,
        wire_s=chosen.wire_s,
        calibration=chosen.calibration,
        clusters=chosen.clusters,
        shares=choice.limit.shares,
        ruled_out=(*choice.ruled_out, *job.refused),
        nodes=priced.nodes,
        line_rate_bytes_per_s=_line_rate(job.cuts, op),
        wired_busbw_bytes_per_s=_finite(priced.line_bytes_per_s * factor),
        considered=_considered(choice),
        in_network_ceiling_busbw_bytes_per_s=size_bytes / added.time_s * factor if added else None,
        in_network_ceiling_name=added.name if added else "",
        plain_ceiling_busbw_bytes_per_s=size_bytes / plain.time_s * factor,
        plain_ceiling_name=plain.name,
        attainable_algorithm=(choice.attainable if worth else chosen).algorithm,
        attainable_ceiling_busbw_bytes_per_s=size_bytes / (best if worth else ceiling).time_s * factor,
        nominal_shares=priced.shares,
        clusters_together=chosen.together,
        changes_rail=priced.changes_rail,
    )


def _line_rate(cuts: CutRates, op: str) -> float | None:
    """Return the rate that a reader compares the bus bandwidth with, None where none is known."""
    if cuts.nodes == 1:
        return _finite(cuts.gpu_bytes_per_s)
    members = cuts.ranks - cuts.far_ranks if op in _EACH_GPU else 1
    return _finite(cuts.smallest_node_bytes_per_s / members)


def _finite(rate: float) -> float | None:
    return rate if isfinite(rate) and rate > 0 else None


def _considered(choice: LibraryChoice) -> tuple[ConsideredTime, ...]:
    """Return each algorithm and protocol once, with the fewest settings that lead to it and the least time of these."""
    least: dict[tuple[str, str], Considered] = {}
    for one in sorted(choice.considered, key=lambda one: (len(one.settings), one.estimate.time_s)):
        least.setdefault((one.estimate.algorithm, one.estimate.protocol), one)
    found = sorted(least.values(), key=lambda one: one.estimate.time_s)
    return tuple(
        ConsideredTime(
            one.estimate.algorithm, one.estimate.protocol, one.estimate.time_s, one.quiet_s, one.settings
        )
        for one in found
    )


def _in_network(job: PricedJob, op: str, size_bytes: int) -> Ceiling | None:
    if op != "all_reduce" or job.cuts.nodes == 1:
        return None
    return least_time(op, job.cuts, size_bytes, True)


def _range_text(chosen: Estimate) -> str:
    if not chosen.clusters:
        return f"range: wide, no published measurement is of this kind ({chosen.calibration})"
    wider = ", widened because they are few" if chosen.widened else ""
    together = "" if chosen.together is None else f", {chosen.together or 'none'} with both kinds of links"
    return f"range: 80 % of published measurements ({chosen.calibration}, {counted(chosen.clusters, 'cluster')}{together}{wider})"
