"""A description → the ladder of tests that accepts the cluster, with what each should reach."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from gpufabric.errors import InputError
from gpufabric.jobs.collective import CollectiveOptions, predict_collective
from gpufabric.jobs.compare_runs import leaves_of_hosts
from gpufabric.jobs.judge_tables import Designed, design
from gpufabric.records.acceptance import MAX_TESTS, AcceptancePlan, AcceptanceTest, ExpectedRate, Step
from gpufabric.records.calibration import Calibration
from gpufabric.records.cluster_spec import ClusterSpec
from gpufabric.records.names import device_names
from gpufabric.records.rank_places import RankPlaces
from gpufabric.rules.measured_busbw import expectation
from gpufabric.units import counted

_LONGEST_SHAPE = 255
#: What ``-b 256M -e 8G -f 2`` runs: from there on the range is narrow enough to tell.
SIZES = tuple(256 << 20 << step for step in range(6))
_Server = tuple[str, int]


@dataclass(frozen=True, slots=True)
class _Kinds:
    """What tells servers apart: name → part, where there are several; name → scale-up domain, where that spans servers."""

    part: Mapping[str, str]
    domain: Mapping[str, int]

    def of(self, names: Sequence[str]) -> str:
        """Return what a shape is called beside its counts: the parts, and how many domains it is in."""
        parts = dict.fromkeys(self.part[name] for name in names if name in self.part)
        domains = len({self.domain[name] for name in names if name in self.domain})
        return "".join(
            [*(f"-{part}" for part in parts), f"-{domains}d" if domains and len(names) > 1 else ""]
        )


def plan_acceptance(
    spec: ClusterSpec,
    hosts: Sequence[str] = (),
    op: str = "all_reduce",
    calibration: Calibration | None = None,
) -> AcceptancePlan:
    """Return the tests: each server alone, pairs below one leaf, each unit, pairs and then all across the halves, all.

    Every step rests on the one before: a server that is slow alone is slow in every pair, and a pair in every unit.

    Parameters
    ----------
    spec
        The cluster as designed.
    hosts
        Names of the servers where the tests run, in the order of the description; none: the description's.
    op
        The collective that is run.
    calibration
        What is expected is predicted with; None: the shipped one.

    Raises
    ------
    InputError, PartError, SpecError, UnbuildableError
        If the cluster can't be wired, or *hosts* are not as many as its servers.
    """
    designed = design(spec, calibration)
    servers = _servers(designed)
    if hosts and len(hosts) != len(servers):
        raise InputError(
            f"hosts: {counted(len(hosts), 'name')} for {counted(len(servers), 'server')} with GPUs; give one a server, in order"
        )
    names = dict(zip((name for name, _ in servers), hosts or [name for name, _ in servers], strict=True))
    tests = list(_tests(designed, servers, names))
    if len(tests) > MAX_TESTS:
        raise InputError(
            f"the ladder has {len(tests):,} tests; at most {MAX_TESTS:,} are planned; describe a part of the cluster"
        )
    expected: dict[str, tuple[ExpectedRate, ...]] = {}
    assumptions: dict[str, None] = dict.fromkeys(designed.assumptions)
    for test in tests:
        if test.shape not in expected:
            expected[test.shape], said = _expected(designed, test, op)
            assumptions.update(dict.fromkeys(said))
    return AcceptancePlan(
        name=spec.name,
        op=op,
        gpu=_one_gpu(designed),
        tests=tuple(tests),
        expected=expected,
        assumptions=tuple(assumptions),
    )


def _servers(designed: Designed) -> list[_Server]:
    """Return name and GPUs of every server with GPUs, in the order of the description."""
    rows, counts = np.unique(designed.cluster.gpus.host, return_counts=True)
    return list(zip(device_names(designed.cluster, rows).tolist(), counts.tolist(), strict=True))


def _tests(
    designed: Designed, servers: Sequence[_Server], names: Mapping[str, str]
) -> Iterator[AcceptanceTest]:
    kinds = _kinds(designed)

    def test(step: Step, number: int, group: Sequence[_Server]) -> AcceptanceTest:
        ranks = tuple(count for _, count in group)
        devices = tuple(name for name, _ in group)
        even = len(set(ranks)) == 1
        shape = (
            f"{step}-{len(group)}x{ranks[0]}"
            if even
            else f"{step}-{'-'.join(map(str, ranks[:16]))}-{sum(ranks)}"
        )
        shape = f"{shape}{kinds.of(devices)}"[:_LONGEST_SHAPE]
        hosts = tuple(names[name] for name in devices)
        return AcceptanceTest(
            id=f"{step}-{number:04d}", step=step, devices=devices, hosts=hosts, ranks=ranks, shape=shape
        )

    for i, server in enumerate(servers):
        if server[1] > 1:
            yield test("server", i + 1, [server])
    groups = _below_one_leaf(designed, servers)
    pairs = [pair for group in groups for pair in _pairs(group)]
    for i, pair in enumerate(pairs):
        yield test("pair", i + 1, pair)
    units = [*_domains(servers, kinds), *groups]
    units = [
        group for i, group in enumerate(units) if 2 < len(group) < len(servers) and group not in units[:i]
    ]
    for i, group in enumerate(units):
        yield test("unit", i + 1, group)
    if len(groups) > 1:
        half = len(servers) // 2
        for i in range(half):
            yield test("bisection", i + 1, [servers[i], servers[i + half]])
        if half > 1:
            crossing = [server for i in range(half) for server in (servers[i], servers[i + half])]
            yield test("bisection", half + 1, crossing)
    if len(servers) > 2 or (len(servers) == 2 and not pairs):
        yield test("all", 1, servers)


def _kinds(designed: Designed) -> _Kinds:
    cluster = designed.cluster
    rows, first = np.unique(cluster.gpus.host, return_index=True)
    names = device_names(cluster, rows).tolist()
    parts = [cluster.parts[part].rpartition(":")[2] for part in cluster.devices.part[rows].tolist()]
    domains = cluster.gpus.domain[first].tolist()
    several = len(set(parts)) > 1
    spanning = len(set(domains)) < len(domains)
    return _Kinds(
        dict(zip(names, parts, strict=True)) if several else {},
        dict(zip(names, domains, strict=True)) if spanning else {},
    )


def _domains(servers: Sequence[_Server], kinds: _Kinds) -> list[list[_Server]]:
    """Return the servers of each scale-up domain that spans several, together."""
    found: dict[int, list[_Server]] = {}
    for server in servers:
        if server[0] in kinds.domain:
            found.setdefault(kinds.domain[server[0]], []).append(server)
    return list(found.values())


def _one_gpu(designed: Designed) -> str:
    """Return the GPU of all servers, empty where they differ: a test may then be of either."""
    cluster = designed.cluster
    parts = np.unique(cluster.devices.part[np.unique(cluster.gpus.host)])
    gpus = {designed.parts.servers[cluster.parts[part]].gpu for part in parts}
    return gpus.pop() if len(gpus) == 1 else ""


def _below_one_leaf(designed: Designed, servers: Sequence[_Server]) -> list[list[_Server]]:
    """Return the servers that hang on the same leaves, together; all of them where there are no leaves."""
    leaves = leaves_of_hosts(designed.cluster)
    groups: dict[tuple[str, ...], list[_Server]] = {}
    for server in servers:
        groups.setdefault(tuple(sorted(leaves.get(server[0], ()))), []).append(server)
    return list(groups.values())


def _pairs(group: Sequence[_Server]) -> Iterator[list[_Server]]:
    """Yield neighbours, so that each server is in a pair: the last of an odd group with the first."""
    for i in range(0, len(group) - 1, 2):
        yield [group[i], group[i + 1]]
    if len(group) % 2 and len(group) > 1:
        yield [group[-1], group[0]]


def _expected(
    designed: Designed, test: AcceptanceTest, op: str
) -> tuple[tuple[ExpectedRate, ...], tuple[str, ...]]:
    places = RankPlaces("acceptance", test.devices, test.ranks, (0,) * len(test.devices))
    options = CollectiveOptions(
        ranks=sum(test.ranks),
        order="hostfile",
        places=places,
        calibration=designed.options.calibration,
        hash_seed=designed.options.hash_seed,
        queue_pairs=designed.options.queue_pairs,
        polarised=designed.options.polarised,
        in_network=designed.options.in_network,
        library=designed.options.library,
    )
    results = predict_collective(designed.cluster, designed.parts, op, SIZES, options)
    rates = []
    for result in results:
        said = expectation(result)
        # Without published measurements of the kind there is no upper limit short of the ceiling.
        high = min(said.limit_high_bytes_per_s, said.ceiling_bytes_per_s)
        rates.append(
            ExpectedRate(
                size_bytes=said.size_bytes,
                busbw_bytes_per_s=said.busbw_bytes_per_s,
                low_bytes_per_s=said.low_bytes_per_s,
                high_bytes_per_s=said.high_bytes_per_s,
                limit_low_bytes_per_s=said.limit_low_bytes_per_s,
                limit_high_bytes_per_s=high,
                ceiling_bytes_per_s=said.ceiling_bytes_per_s,
                ceiling_name=said.ceiling_name,
            )
        )
    return tuple(rates), tuple(dict.fromkeys(a for result in results for a in result.assumptions))
