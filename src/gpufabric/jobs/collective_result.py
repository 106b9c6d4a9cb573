"""What a library chooses and the ceiling → the predicted cost of one collective of one size."""

from __future__ import annotations

from dataclasses import dataclass

from gpufabric.collectives.bus_factors import bus_factor
from gpufabric.records.estimate import Estimate, LibraryChoice
from gpufabric.records.priced_algorithm import PricedAlgorithm
from gpufabric.records.results import CollectiveResult
from gpufabric.simulators.ceilings import CutRates, least_time
from gpufabric.units import counted


@dataclass(frozen=True, slots=True)
class PricedJob:
    """A job with its priced algorithms: everything about it that does not depend on the size of the message.

    ``refused`` are (algorithm, reason) for what the wiring does not allow.
    """

    rank_order: str
    cuts: CutRates
    in_network: bool
    priced: dict[str, PricedAlgorithm]
    refused: tuple[tuple[str, str], ...]
    library: str
    method: str
    assumptions: tuple[str, ...]


def collective_result(job: PricedJob, choice: LibraryChoice, size_bytes: int) -> CollectiveResult:
    """Return the result for one message; no time in it is below its ceiling.

    The ceiling is that without in-network reduction unless the algorithm adds in switches of the fabric.
    """
    chosen = choice.configured
    priced = job.priced[chosen.algorithm]
    op, factor = priced.op, bus_factor(priced.op, priced.ranks)
    ceiling = least_time(op, job.cuts, size_bytes, _adds_in_fabric(chosen))
    best = least_time(op, job.cuts, size_bytes, _adds_in_fabric(choice.attainable))
    time = max(chosen.time_s, ceiling.time_s)
    attainable = min(max(choice.attainable.time_s, best.time_s), time)
    worth = attainable < time
    return CollectiveResult(
        op=op,
        size_bytes=size_bytes,
        gpus=priced.ranks,
        rank_order=job.rank_order,
        time_s=time,
        time_low_s=min(max(chosen.low_s, ceiling.time_s), time),
        time_high_s=max(chosen.high_s, time),
        algbw_bytes_per_s=size_bytes / time,
        busbw_bytes_per_s=size_bytes / time * factor,
        attainable_busbw_bytes_per_s=size_bytes / attainable * factor,
        ceiling_busbw_bytes_per_s=size_bytes / ceiling.time_s * factor,
        ceiling_name=ceiling.name,
        algorithm=chosen.algorithm,
        protocol=chosen.protocol,
        channels=chosen.channels,
        library=job.library,
        bottleneck=_bottleneck(chosen, priced),
        method=job.method,
        assumptions=(*job.assumptions, _range_text(chosen)),
        attainable_settings=choice.settings if worth else (),
        latency_s=chosen.latency_s,
        wire_s=chosen.wire_s,
        calibration=chosen.calibration,
        clusters=chosen.clusters,
        shares=priced.shares,
        ruled_out=(*choice.ruled_out, *job.refused),
    )


def _adds_in_fabric(estimate: Estimate) -> bool:
    return estimate.algorithm.startswith("collnet")


def _bottleneck(chosen: Estimate, priced: PricedAlgorithm) -> str:
    """Return what most of the time goes into: the steps of a short message, the fullest link of a long one."""
    if chosen.latency_s <= chosen.wire_s:
        return priced.bottleneck
    steps = [
        counted(count, "step") + where
        for count, where in ((priced.inside_steps, " inside nodes"), (priced.fabric_steps, " between nodes"))
        if count
    ]
    return f"latency: {' and '.join(steps) or 'start-up'}"


def _range_text(chosen: Estimate) -> str:
    if not chosen.clusters:
        return f"range: wide, no published measurement is of this kind ({chosen.calibration})"
    wider = ", widened because they are few" if chosen.widened else ""
    return f"range: 80 % of published measurements ({chosen.calibration}, {counted(chosen.clusters, 'cluster')}{wider})"
