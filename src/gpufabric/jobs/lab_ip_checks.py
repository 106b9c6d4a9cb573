"""A laid network → whether its switches know all ways, its servers reach each other, and it gets over losses of links."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from gpufabric.lab.equal_ways import equal_ways, neighbours_of
from gpufabric.lab.host_networks import LaidNetwork
from gpufabric.lab.host_reach import try_all_pairs
from gpufabric.records.address_plan import Prefix
from gpufabric.records.cluster import DeviceKind
from gpufabric.records.findings import Finding
from gpufabric.units import counted, format_time

_BGP = "FRRouting user guide 8.4, BGP, https://docs.frrouting.org/en/stable-8.4/bgp.html"
_CONVERGED_S = 60.0
_CARRIER_S = 1.0
_HOLD_S = 9.0  # of FRR's profile datacenter
_BFD_S = 0.9  # three times 300 ms, which FRR starts with
_SLACK_S = 1.0
_EXTRA_S = 10.0  # to tell slow from never
_POLL_S = 0.01

Ways = Mapping[str, frozenset[str]]


@dataclass(frozen=True, slots=True)
class LabCheck:
    """One check: ``verdict`` is pass or fail, or skipped where the fabric has nothing to check; ``time_s`` what it took."""

    name: str
    verdict: Literal["pass", "fail", "skipped"]
    expected: str
    found: str
    time_s: float | None = None


@dataclass(frozen=True, slots=True)
class LabNetwork:
    """A laid network as the checks see it.

    Attributes
    ----------
    net
    blocks
        Leaf → the prefix that it advertises, as ``ip route`` writes it.
    between
        Links between switches: row of the small cluster, lower switch and interface, upper switch and interface.
    bfd
        Whether sessions are watched by BFD.
    """

    net: LaidNetwork
    blocks: Mapping[str, str]
    between: tuple[tuple[int, str, str, str, str], ...]
    bfd: bool

    @classmethod
    def of(cls, net: LaidNetwork, bfd: bool) -> LabNetwork:
        """Return what is checked of *net*."""
        cluster, switches = net.scaled.cluster, net.plan.switches
        names = cluster.devices.names or ()
        blocks = {
            names[device]: str(Prefix(first, length))
            for device, first, length in zip(
                switches.device.tolist(), switches.block.tolist(), switches.block_length.tolist(), strict=True
            )
            if length >= 0
        }
        both = (cluster.devices.kind[cluster.link_device_a] == DeviceKind.SWITCH) & (
            cluster.devices.kind[cluster.link_device_b] == DeviceKind.SWITCH
        )
        between = []
        for row in np.flatnonzero(both).tolist():
            lower, upper = net.ends[row]
            between.append((row, lower.device, lower.interface, upper.device, upper.interface))
        return cls(net, blocks, tuple(between), bfd)

    def expected(self, without: frozenset[int] = frozenset()) -> dict[str, dict[str, frozenset[str]]]:
        """Return for each leaf the ways to the prefix of every other leaf, when some links are lost."""
        neighbours = neighbours_of(link[1:] for link in self.between if link[0] not in without)
        found: dict[str, dict[str, frozenset[str]]] = {leaf: {} for leaf in self.blocks}
        for target, prefix in self.blocks.items():
            for switch, ways in equal_ways(neighbours, target).items():
                if switch in found:
                    found[switch][prefix] = ways
        return found

    def seen(self, leaf: str) -> dict[str, frozenset[str]]:
        """Return the ways that a leaf has to prefixes of other leaves."""
        wanted = {prefix for other, prefix in self.blocks.items() if other != leaf}
        return {prefix: ways for prefix, ways in self.net.routes(leaf).items() if prefix in wanted and ways}


def check_network(lab: LabNetwork) -> tuple[tuple[LabCheck, ...], tuple[Finding, ...]]:
    """Check one after the other: all ways known, servers reach each other, carrier lost, mended, and loss without a sign.

    A check that depends on one that failed is skipped.
    """
    checks, findings = [], []
    routes, finding = routes_check(
        lab, "every leaf has every prefix over all equal ways", frozenset(), _CONVERGED_S
    )
    checks.append(routes)
    findings += finding
    if routes.verdict == "fail":
        return tuple(checks), tuple(findings)
    reach, finding = _reach_check(lab)
    checks.append(reach)
    findings += finding
    links = losable_links(lab)
    if not links:
        nothing = LabCheck("a lost link between switches", "skipped", "another way", "no leaf has two ways")
        return (*checks, nothing), tuple(findings)
    limit_s = _BFD_S if lab.bfd else _HOLD_S
    for how, link, limit in (
        ("carrier lost", links[0], _CARRIER_S),
        ("silent loss", links[-1], limit_s + _SLACK_S),
    ):
        found, finding = _loss_check(lab, how, link, limit)
        checks += found
        findings += finding
        if any(check.verdict == "fail" for check in found):
            break
    return tuple(checks), tuple(findings)


def losable_links(lab: LabNetwork) -> list[int]:
    """Return links upwards of leaves without which every other leaf still has a way."""
    found = []
    for row, lower, _, _, _ in lab.between:
        if lower in lab.blocks:
            left = lab.expected(frozenset({row}))
            if all(left[leaf].get(lab.blocks[lower]) for leaf in lab.blocks if leaf != lower):
                found.append(row)
    return found if len(lab.blocks) > 1 else []


def routes_check(
    lab: LabNetwork, name: str, without: frozenset[int], limit_s: float
) -> tuple[LabCheck, list[Finding]]:
    """Wait until every leaf has the ways that it should have, and say whether it got them.

    Parameters
    ----------
    lab
    name
        Of the check.
    without
        Links of the small cluster that are lost.
    limit_s
        Seconds to wait at most.
    """
    expected = lab.expected(without)
    begin = time.monotonic()
    waiting = set(lab.blocks)
    while waiting and time.monotonic() - begin < limit_s:
        waiting = {leaf for leaf in waiting if lab.seen(leaf) != expected[leaf]}
        if waiting:
            time.sleep(_POLL_S)
    # A leaf that was right early may have changed since.
    wrong = {leaf: lab.seen(leaf) for leaf in lab.blocks}
    wrong = {leaf: seen for leaf, seen in wrong.items() if seen != expected[leaf]}
    took = time.monotonic() - begin
    count = sum(len(ways) for prefixes in expected.values() for ways in prefixes.values())
    wanted = f"{counted(count, 'way')} on {counted(len(lab.blocks), 'leaf', 'leaves')}"
    if not wrong:
        return LabCheck(name, "pass", wanted, "all", took), []
    leaf, seen = next(iter(wrong.items()))
    different = _difference(expected[leaf], seen)
    check = LabCheck(name, "fail", wanted, f"{leaf}: {different}", took)
    return check, [
        Finding(
            "lab-routes-missing",
            "error",
            leaf,
            f"{counted(len(wrong), 'leaf', 'leaves')} did not get the ways that the wiring has within {format_time(limit_s)}",
            expected=wanted,
            found=different,
            fix="look at the sessions: gpufabric export --to frr, and show bgp summary on that switch",
            source=_BGP,
        )
    ]


def _difference(expected: Ways, seen: Ways) -> str:
    prefix = next(prefix for prefix in sorted({*expected, *seen}) if expected.get(prefix) != seen.get(prefix))
    have, want = sorted(seen.get(prefix, ())), sorted(expected.get(prefix, ()))
    return f"{prefix} over {', '.join(have) or 'nothing'} instead of {', '.join(want) or 'nothing'}"


def _reach_check(lab: LabNetwork) -> tuple[LabCheck, list[Finding]]:
    name = "every server reaches every other from each of its interfaces"
    begin = time.monotonic()
    reach = try_all_pairs(lab.net)
    took = time.monotonic() - begin
    wanted = counted(reach.pairs, "connection")
    if not reach.failed:
        return LabCheck(name, "pass" if reach.pairs else "skipped", wanted, "all", took), []
    here, there, why = reach.failed[0]
    found = f"{counted(len(reach.failed), 'connection')} failed: {here} to {there}, {why}"
    return LabCheck(name, "fail", wanted, found, took), [
        Finding(
            "lab-servers-cut-off",
            "error",
            here,
            f"{len(reach.failed):,} of {counted(reach.pairs, 'pair')} of addresses do not connect",
            expected=wanted,
            found=found,
            fix="look at ip rule, ip route show table all on the server, and at the route back on its leaf",
            source="ip-rule(8), ip-route(8)",
        )
    ]


def _loss_check(lab: LabNetwork, how: str, link: int, limit_s: float) -> tuple[list[LabCheck], list[Finding]]:
    """Lose a link, see when the other leaves have dropped it for that leaf's prefix, and only for that; mend a cut one."""
    net = lab.net
    _, lower, _, upper, _ = next(one for one in lab.between if one[0] == link)
    name = f"{how}: {lower} – {upper}"
    begin = time.monotonic()
    if how == "carrier lost":
        net.cut(link)
    else:
        net.silence(link)
    check, findings = routes_check(
        lab, f"{name}, the others drop it for that prefix only", frozenset({link}), 3 * limit_s + _EXTRA_S
    )
    took = time.monotonic() - begin
    check = replace(check, expected=f"within {format_time(limit_s)}", time_s=took)
    if check.verdict == "pass":
        check = replace(check, found=format_time(took), verdict="pass" if took <= limit_s else "fail")
        if took > limit_s:
            findings = [_slow(name, limit_s, took)]
    checks = [check]
    if how == "carrier lost":
        net.mend(link)
        mended, more = routes_check(lab, f"mended: {lower} – {upper}, all ways are back", frozenset(), _CONVERGED_S)  # fmt: skip
        checks.append(mended)
        findings += more
    return checks, findings


def _slow(name: str, limit_s: float, took: float) -> Finding:
    return Finding(
        "lab-failover-slow",
        "error",
        name,
        "the fabric needed longer to get over a lost link than its timers say",
        expected=f"within {format_time(limit_s)}",
        found=format_time(took),
        fix="rehearse it again on an idle machine; with --bfd sessions notice silence sooner",
        source=_BGP,
    )
