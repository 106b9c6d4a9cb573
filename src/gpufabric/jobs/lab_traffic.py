"""Run real all_reduces on a small part of an Ethernet fabric and set them beside what is predicted: ``gpufabric lab traffic``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from itertools import combinations
from statistics import fmean, median
from typing import Any

from gpufabric.collectives.bus_factors import bus_factor
from gpufabric.errors import InputError
from gpufabric.jobs.lab_ip import LabIpOptions, scaled_fabric
from gpufabric.jobs.lab_ip_checks import LabNetwork, losable_links, routes_check
from gpufabric.jobs.ring_on_ways import RingPrediction, Ways, predict_ring, slowed_between
from gpufabric.lab.connection_ways import connection_ways, ring_connections
from gpufabric.lab.find_torch import find_torch
from gpufabric.lab.host_networks import LaidNetwork, laid_network
from gpufabric.lab.scale_down import ScaledFabric, ScaleLimits
from gpufabric.lab.torch_ranks import RankPlace, RankTeam, connect, interleaved_ranks, torch_ranks
from gpufabric.lab.traffic_shaping import shape
from gpufabric.records.cluster_spec import ClusterSpec
from gpufabric.records.findings import Finding
from gpufabric.units import format_gigabytes_per_s, format_message_bytes, percent_text

TOLERANCE = 0.15
_APART = 0.20
_OVERSUBSCRIBED = 0.5
_ROUTES_S = 60.0
_RUN_S = 120.0
_SOURCE = "gloo, gloo/allreduce.cc, https://github.com/pytorch/gloo/blob/main/gloo/allreduce.cc"
SMALL = ScaleLimits(leaves=2, spines=2, cores=4, leaf_hosts=4)
SIZES = (1 << 20, 4 << 20, 16 << 20)
_ASSUMPTIONS = (
    "Gloo's default all_reduce: a ring in which each rank sends to the one before; one rank a server",
    "predicted by fluid simulation of the links that the kernels' hashes choose, less the headers of TCP, IPv4 and Ethernet; no "
    "latency and no filling of buffers, so it is meant for large messages",
    "healthy, oversubscribed and with a lost link: of several sets of connections the one that is spread best; with "
    "collisions: the one that is spread worst",
    "processors forward the packets: rates are small, losses and queues are those of Linux",
)


@dataclass(frozen=True, slots=True)
class LabTrafficOptions:
    """What to run: which fabric and part of it, sizes in bytes, timed calls of each, and sets of connections to choose from."""

    fabric: str | None = None
    plane: int = 1
    limits: ScaleLimits = field(default_factory=lambda: SMALL)
    sizes: tuple[int, ...] = SIZES
    iterations: int = 2
    groups: int = 16


@dataclass(frozen=True, slots=True)
class TrafficRow:
    """One size in one situation; ``error`` is measured over predicted bus bandwidth, less 1; ``wrong`` counts wrong elements."""

    size_bytes: int
    time_s: float
    algbw_bytes_per_s: float
    busbw_bytes_per_s: float
    wrong: int
    predicted_busbw_bytes_per_s: float
    error: float


@dataclass(frozen=True, slots=True)
class Situation:
    """One state of the network; ``by_chance_*``: least, median and most predicted over all sets of connections."""

    name: str
    what: str
    bottleneck: str
    by_chance_low_bytes_per_s: float
    by_chance_median_bytes_per_s: float
    by_chance_high_bytes_per_s: float
    rows: tuple[TrafficRow, ...]


@dataclass(frozen=True, slots=True)
class LabTrafficResult:
    """What was measured and predicted; the field names are those of the JSON output."""

    cluster: str
    fabric: str
    plane: int
    planes: int
    scale: tuple[str, ...]
    op: str
    ranks: int
    rank_hosts: tuple[str, ...]
    situations: tuple[Situation, ...]
    findings: tuple[Finding, ...]
    assumptions: tuple[str, ...] = _ASSUMPTIONS

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain JSON values."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class LabJob:
    """Ranks that run on a laid network, connected with each other several times; ``ends`` as the ranks say them."""

    net: LaidNetwork
    lab: LabNetwork
    team: RankTeam
    places: tuple[RankPlace, ...]
    ends: Sequence[Sequence[Sequence[Sequence[str]]]]

    def ways(self) -> list[Ways]:
        """Return the ways of the ring of each set of connections, as the network is now."""
        groups = [ring_connections([own[group] for own in self.ends]) for group in range(len(self.ends[0]))]
        flat = connection_ways(self.net, [one for group in groups for one in group])
        count = len(self.places)
        return [flat[first : first + count] for first in range(0, len(flat), count)]


@contextmanager
def lab_job(scaled: ScaledFabric, groups: int) -> Iterator[LabJob]:
    """Lay a network, wait for its routing, and keep ranks on it while the block lasts.

    Raises
    ------
    InputError
        If something that it needs is missing, or routing does not get ready.
    """
    find_torch()
    with laid_network(scaled) as net:
        lab = LabNetwork.of(net, False)
        places = interleaved_ranks(net)
        _wait_for_routes(lab, frozenset())
        with torch_ranks(net, places) as team:
            yield LabJob(net, lab, team, places, connect(team, groups))


def _wait_for_routes(lab: LabNetwork, without: frozenset[int]) -> None:
    check, _ = routes_check(lab, "routes", without, _ROUTES_S)
    if check.verdict == "fail":
        raise InputError(
            f"routes: not all ways were there within {_ROUTES_S:.0f} s ({check.found}); see gpufabric lab ip"
        )


def lab_traffic(spec: ClusterSpec, options: LabTrafficOptions | None = None) -> LabTrafficResult:
    """Measure all_reduce in four situations beside its prediction.

    Parameters
    ----------
    spec
    options

    Raises
    ------
    InputError
        If something asked for does not exist, we are not root, or a program is missing, fails or takes too long.
    UnbuildableError
        If the cluster can't be built.
    """
    options = options or LabTrafficOptions()
    scaled = scaled_fabric(spec, LabIpOptions(options.fabric, options.plane, options.limits))
    with lab_job(scaled, options.groups) as job:
        hosts = tuple(place.host for place in job.places)
        situations = tuple(_situations(job, scaled, options))
    return LabTrafficResult(
        cluster=scaled.cluster.name,
        fabric=scaled.fabric,
        plane=scaled.domain,
        planes=scaled.domains,
        scale=scaled.rules,
        op="all_reduce",
        ranks=len(hosts),
        rank_hosts=hosts,
        situations=situations,
        findings=tuple(judge_situations(situations)),
    )


def _situations(job: LabJob, scaled: ScaledFabric, options: LabTrafficOptions) -> Iterator[Situation]:
    ways = job.ways()
    yield _situation(job, scaled, ways, options, ("healthy", "all links up, connections spread best"))
    yield _situation(
        job, scaled, ways, options, ("hash collisions", "all links up, connections spread worst"), worst=True
    )
    slowed = slowed_between(scaled, _OVERSUBSCRIBED)
    rates = slowed.cluster.links.bytes_per_s.tolist()
    slow_ends = [
        replace(end, bytes_per_s=rate) for pair, rate in zip(job.net.ends, rates, strict=True) for end in pair
    ]
    shape(job.net.machine, slow_ends)
    yield _situation(
        job, slowed, ways, options, ("oversubscribed 2:1", "links between switches at half their rate")
    )
    shape(job.net.machine, [end for pair in job.net.ends for end in pair])
    used = [link for link in losable_links(job.lab) if any((link, 0) in way for way in ways[0])]
    for link in used[:1]:
        lower, upper = job.net.ends[link]
        job.net.cut(link)
        _wait_for_routes(job.lab, frozenset({link}))
        name = f"{lower.device} – {upper.device} is down"
        yield _situation(job, scaled, job.ways(), options, ("link down", name))


def _situation(
    job: LabJob,
    scaled: ScaledFabric,
    ways: Sequence[Ways],
    options: LabTrafficOptions,
    said: tuple[str, str],
    worst: bool = False,
) -> Situation:
    """Predict all sets of connections, and measure the one that is spread best, or worst."""
    found = [predict_ring(scaled, way, max(options.sizes)) for way in ways]
    chances = [one.busbw_bytes_per_s for one in found]
    group = (min if worst else max)(range(len(found)), key=chances.__getitem__)
    rows = _measured(job, group, options, found[group])
    return Situation(*said, found[group].bottleneck, min(chances), median(chances), max(chances), rows)


def _measured(
    job: LabJob, group: int, options: LabTrafficOptions, predicted: RingPrediction
) -> tuple[TrafficRow, ...]:
    answers = job.team.ask(
        "all_reduce",
        _RUN_S,
        group=group,
        sizes=list(options.sizes),
        warmup=1,
        iterations=options.iterations,
    )
    factor, rows = bus_factor("all_reduce", len(job.places)), []
    for number, size in enumerate(options.sizes):
        time_s = fmean(float(answer[number]["time_s"]) for answer in answers)
        busbw = size / time_s * factor
        rows.append(
            TrafficRow(
                size_bytes=size,
                time_s=time_s,
                algbw_bytes_per_s=size / time_s,
                busbw_bytes_per_s=busbw,
                wrong=sum(int(answer[number]["wrong"]) for answer in answers),
                predicted_busbw_bytes_per_s=predicted.busbw_bytes_per_s,
                error=busbw / predicted.busbw_bytes_per_s - 1,
            )
        )
    return tuple(rows)


def judge_situations(situations: Sequence[Situation]) -> Iterator[Finding]:
    """Yield what is wrong at the largest size: elements, rates far from the prediction, and situations in another order."""
    for one in situations:
        row = one.rows[-1]
        expected, found = (
            format_gigabytes_per_s(rate) for rate in (row.predicted_busbw_bytes_per_s, row.busbw_bytes_per_s)
        )
        if any(each.wrong for each in one.rows):
            yield _finding("lab-traffic-wrong", one.name, "elements of the result are wrong", "0", str(row.wrong))  # fmt: skip
        if abs(row.error) > TOLERANCE:
            what = f"{format_message_bytes(row.size_bytes)} ran {percent_text(abs(row.error))} off the prediction"
            yield _finding("lab-traffic-off", one.name, what, expected, found)
    for a, b in combinations(situations, 2):
        slow, fast = sorted((a, b), key=lambda one: one.rows[-1].predicted_busbw_bytes_per_s)
        apart = fast.rows[-1].predicted_busbw_bytes_per_s / slow.rows[-1].predicted_busbw_bytes_per_s - 1
        if apart >= _APART and slow.rows[-1].busbw_bytes_per_s >= fast.rows[-1].busbw_bytes_per_s:
            what = f"was as fast as {fast.name}, which is predicted {percent_text(apart)} faster"
            yield _finding("lab-traffic-order", slow.name, what, f"slower than {fast.name}", "not slower")


def _finding(rule: str, where: str, what: str, expected: str, found: str) -> Finding:
    return Finding(
        rule,
        "error",
        where,
        what,
        expected=expected,
        found=found,
        fix="run it again on an idle machine, with a lower --rate; if it stays, look at the links with tc -s qdisc",
        source=_SOURCE,
    )
