"""A found fabric alone → what it was meant to be, how sure that is, and where it is otherwise.

What most devices have in common is taken for the intention: which leaf the same adapter of all servers of a unit leads to, how
many links each leaf has to each spine, and how fast links between two tiers are.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from gpufabric.kernels.connected_components import connected_components
from gpufabric.records.cluster import Cluster, Role
from gpufabric.records.findings import Finding
from gpufabric.units import counted, format_gbps

Int = NDArray[np.int64]
_MAJORITY = 0.6
_LEAST = 3
_SHOWN = 50
_MOST_KINDS = 2000


@dataclass(frozen=True, slots=True)
class InferredDesign:
    """What a fabric seems to be: facts to print, how sure they are (the share of links that agree), and what differs."""

    facts: tuple[tuple[str, str], ...]
    certainty: float
    findings: tuple[Finding, ...]
    links: int
    links_agreeing: int
    bad_links: tuple[int, ...]


def infer_design(cluster: Cluster) -> InferredDesign:
    """Infer the intended design of a fabric.

    Parameters
    ----------
    cluster
        With roles, from :func:`gpufabric.recognition.recognise_roles.with_roles`.
    """
    view = WiringView(cluster)
    units, rails, rail_findings, off = _rails(view)
    findings = [*rail_findings, *_server_links(view), *_bundles(view, bad := set(off))]
    findings += _rates(view, bad)
    total = len(cluster.links)
    certainty = 1 - len(bad) / total if total else 0.0
    roles = np.bincount(view.role, minlength=Role.CORE + 1)
    facts = [
        ("servers", f"{roles[Role.SERVER]:,}"),
        ("tiers", str(int((roles[Role.LEAF : Role.CORE + 1] > 0).sum()))),
        *(
            (f"{name} switches", f"{roles[role]:,}")
            for name, role in (("leaf", Role.LEAF), ("spine", Role.SPINE), ("core", Role.CORE))
            if roles[role]
        ),
        ("units", _sizes(units)),
        ("rails", rails),
        ("links", f"{total:,}"),
    ]
    sure = tuple(_with_confidence(finding, certainty) for finding in findings[:_SHOWN])
    more = len(findings) - _SHOWN
    if more > 0:
        sure = (*sure, Finding("built-unequal-groups", "info", cluster.name, counted(more, "more deviation")))
    return InferredDesign(tuple(facts), certainty, sure, total, total - len(bad), tuple(sorted(bad)))


class WiringView:
    """Columns of a cluster that are asked for often."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self.names, self.ports = cluster.devices.names or (), cluster.ports.names or ()
        self.where = cluster.links.where or ()
        self.role = cluster.devices.role.astype(np.int64)
        self.a, self.b = cluster.link_device_a.astype(np.int64), cluster.link_device_b.astype(np.int64)

    def end(self, port: int) -> str:
        """Return ``device:port``."""
        return f"{self.names[self.cluster.ports.device[port]]}:{self.ports[port]}"

    def between(self, lower: int, upper: int) -> Int:
        """Return the links between two roles."""
        return np.flatnonzero((self.role[self.a] == lower) & (self.role[self.b] == upper))

    def by_roles(self) -> list[Int]:
        """Return the links between each two roles that are linked."""
        code = self.role[self.a] * 16 + self.role[self.b]
        return [np.flatnonzero(code == one) for one in np.unique(code)]


def units_of(view: WiringView) -> dict[int, int]:
    """Return the unit of each server and leaf: servers with mostly the same leaves are one, and so are all without spines."""
    links = view.between(Role.SERVER, Role.LEAF)
    if len(view.between(Role.LEAF, Role.SPINE)):
        return _by_overlap(view, links)
    parts = connected_components(len(view.role), view.a[links], view.b[links])
    return {
        int(device): int(parts[device])
        for device in np.unique(np.concatenate([view.a[links], view.b[links]]))
    }


def _with_confidence(finding: Finding, certainty: float) -> Finding:
    return replace(finding, confidence=min(finding.confidence, certainty))


def _leaves_of(pairs: Iterable[tuple[int, int]]) -> dict[int, list[int]]:
    found: dict[int, list[int]] = defaultdict(list)
    for server, leaf in pairs:
        found[server].append(leaf)
    return found


def _rails(view: WiringView) -> tuple[list[int], str, list[Finding], list[int]]:
    """Return the sizes of units, what is said of rails, and what is off its rail."""
    links = view.between(Role.SERVER, Role.LEAF)
    unit = units_of(view)
    sizes = Counter(unit[server] for server in unit if view.role[server] == Role.SERVER)
    leads: dict[tuple[int, str], Counter[int]] = defaultdict(Counter)
    rows: dict[tuple[int, str], list[int]] = defaultdict(list)
    for link in links.tolist():
        port = int(view.cluster.links.port_a[link])
        key = unit[int(view.a[link])], view.ports[port]
        leads[key][int(view.b[link])] += 1
        rows[key].append(link)
    findings, off, votes, agreeing = [], [], 0, 0
    usual_links = Counter(Counter(view.a[links].tolist()).values()).most_common(1)[0][0] if len(links) else 0
    few = {server for server, count in Counter(view.a[links].tolist()).items() if 2 * count < usual_links}
    has_rails = any(
        len({counts.most_common(1)[0][0] for key, counts in leads.items() if key[0] == one}) > 1
        for one in sizes
    )
    on_leaf = Counter(view.b[links].tolist())
    usual_on_leaf = Counter(on_leaf.values()).most_common(1)[0][0] if on_leaf else 0
    for key, counts in leads.items():
        leaf, most = counts.most_common(1)[0]
        total = sum(counts.values())
        if total < _LEAST or most < _MAJORITY * total:
            continue
        votes, agreeing = votes + total, agreeing + most
        for link in rows[key]:
            if view.b[link] == leaf or int(view.a[link]) in few:
                continue
            # Without rails a server may stand between two leaves: astray is what one leaf has too many and another too few.
            if not has_rails and not on_leaf[leaf] < usual_on_leaf < on_leaf[int(view.b[link])]:
                continue
            off.append(link)
            own, is_on = (
                view.end(int(view.cluster.links.port_a[link])),
                view.end(int(view.cluster.links.port_b[link])),
            )
            findings.append(
                Finding(
                    "built-off-rail",
                    "error",
                    view.where[link] if view.where else own,
                    f"{own} leads to {is_on}; {most} of {total} servers of its unit have this port on {view.names[leaf]}",
                    expected=view.names[leaf],
                    found=is_on,
                    confidence=most / total,
                    fix=f"move it to {view.names[leaf]}; look for the port there that lacks its cable",
                )
            )
    width = Counter(
        len({int(leaf) for key, c in leads.items() if key[0] == one for leaf in [c.most_common(1)[0][0]]})
        for one in sizes
    )
    usual = width.most_common(1)[0][0] if width else 0
    said = (
        f"{usual} a unit ({agreeing / votes:.1%} of server links agree)"
        if votes and usual > 1
        else "none seen"
    )
    return sorted(sizes.values(), reverse=True), said, findings, off


def _by_overlap(view: WiringView, links: Int) -> dict[int, int]:
    """Return units where stray links may join them: servers with mostly the same leaves are one unit."""
    pairs = Counter(zip(view.a[links].tolist(), view.b[links].tolist(), strict=True))
    leaves = _leaves_of(pairs)
    sets = Counter(tuple(sorted(own)) for own in leaves.values())
    known: list[tuple[set[int], int]] = []
    unit: dict[int, int] = {}
    number_of: dict[tuple[int, ...], int] = {}
    for own, _ in sorted(sets.items(), key=lambda item: (-item[1], item[0])):
        mine = set(own)
        hit = next(
            (
                n
                for known_set, n in known
                if len(mine & known_set) > _MAJORITY * min(len(mine), len(known_set))
            ),
            -1,
        )
        if hit < 0:
            hit = len(known)
            known.append((mine, hit))
        number_of[own] = hit
    for server, own_leaves in leaves.items():
        unit[server] = number_of[tuple(sorted(own_leaves))]
    members: dict[int, Counter[int]] = defaultdict(Counter)
    for server, leaf in pairs:
        members[leaf][unit[server]] += 1
    unit |= {leaf: counts.most_common(1)[0][0] for leaf, counts in members.items()}
    return unit


def _server_links(view: WiringView) -> list[Finding]:
    """Return servers with fewer links than most have."""
    links = view.between(Role.SERVER, Role.LEAF)
    count = Counter(view.a[links].tolist())
    if not count:
        return []
    usual, number = Counter(count.values()).most_common(1)[0]
    if number < _MAJORITY * len(count):
        return []
    return [
        _fewer(view.names[server], own, usual, number, len(count))
        for server, own in sorted(count.items())
        if own < usual
    ]


def _fewer(name: str, own: int, usual: int, number: int, total: int) -> Finding:
    """Return what is said of a server with few links: below half of what others have it is another kind of device."""
    said = f"{name} has {counted(own, 'link')}; {number} of {total} servers have {usual}"
    if 2 * own < usual:
        return Finding(
            "built-foreign-device",
            "warning",
            name,
            f"{said}: a manager, or no part of the design",
            found=counted(own, "link"),
            confidence=number / total,
            fix="unplug it where it is neither meant nor a manager",
        )
    return Finding(
        "built-missing-link",
        "error",
        name,
        said,
        expected=counted(usual, "link"),
        found=counted(own, "link"),
        confidence=number / total,
        fix="plug the missing cable in, or find where it went",
    )


def _bundles(view: WiringView, bad: set[int]) -> list[Finding]:
    """Return switches with other numbers of links to those above than most."""
    findings = []
    for lower, upper in ((Role.LEAF, Role.SPINE), (Role.SPINE, Role.CORE)):
        links = view.between(lower, upper)
        pairs = Counter(zip(view.a[links].tolist(), view.b[links].tolist(), strict=True))
        usual, agreeing = Counter(pairs.values()).most_common(1)[0] if pairs else (0, 0)
        if not pairs or agreeing < _MAJORITY * len(pairs):
            continue
        expected = _expected_above(pairs, usual)
        for low, above in sorted(expected.items()):
            count = sum(pairs.get((low, high), 0) for high in above)
            if count < usual * len(above):
                lacking = {high: usual - pairs.get((low, high), 0) for high in sorted(above)}
                findings.append(_few_uplinks(view, low, count, usual * len(above), lacking))
                continue
            findings += [
                _unequal(view, (low, high), pairs.get((low, high), 0), usual)
                for high in sorted(above)
                if pairs.get((low, high), 0) < usual
            ]
        for (low, high), count in sorted(pairs.items()):
            if count > usual:
                rows = links[(view.a[links] == low) & (view.b[links] == high)].tolist()
                bad.update(rows[usual:])
                findings.append(_unequal(view, (low, high), count, usual, rows[-1]))
    return findings


def _expected_above(pairs: Counter[tuple[int, int]], usual: int) -> dict[int, set[int]]:
    """Return the switches above that each lower one should have: those that most of its peers have.

    Peers are switches whose upper switches are mostly the same. A whole group of several links is no accident: one that any peer
    has is expected of all.
    """
    own = {low: frozenset(highs) for low, highs in _leaves_of(pairs).items()}
    kinds = Counter(own.values())
    if len(kinds) > _MOST_KINDS:
        return {low: set(highs) for low, highs in own.items()}
    grouped: dict[frozenset[int], set[int]] = defaultdict(set)
    for low, highs in own.items():
        grouped[highs] |= {high for high in highs if 1 < usual <= pairs[low, high]}
    expected: dict[frozenset[int], set[int]] = {}
    for mine in kinds:
        peers = {other: n for other, n in kinds.items() if 2 * len(mine & other) > min(len(mine), len(other))}
        votes: Counter[int] = Counter()
        for other, number in peers.items():
            votes.update(dict.fromkeys(other, number))
        total = sum(peers.values())
        wanted = {high for high, count in votes.items() if 2 * count > total}
        wanted = wanted.union(*(grouped[other] for other in peers))
        expected[mine] = wanted if total >= _LEAST else set(mine)
    return {low: expected[highs] for low, highs in own.items()}


def _few_uplinks(view: WiringView, device: int, count: int, usual: int, lacking: dict[int, int]) -> Finding:
    short = ", ".join(f"{number} to {view.names[high]}" for high, number in lacking.items() if number > 0)
    return Finding(
        "built-missing-uplinks",
        "error",
        view.names[device],
        f"{view.names[device]} has {counted(count, 'link')} up; with what its peers have it would be {usual}; it lacks {short}",
        expected=counted(usual, "link"),
        found=counted(count, "link"),
        fix="plug the missing cables in, or find where they went",
    )


def _unequal(view: WiringView, pair: tuple[int, int], count: int, usual: int, link: int = -1) -> Finding:
    names = f"{view.names[pair[0]]} and {view.names[pair[1]]}"
    return Finding(
        "built-unequal-groups",
        "warning",
        view.where[link] if view.where and link >= 0 else names,
        f"{counted(count, 'link')} between {names} where most pairs have {usual}",
        expected=counted(usual, "link"),
        found=counted(count, "link"),
        fix="compare with the plan: a cable of one group stands in another one",
    )


def _rates(view: WiringView, bad: set[int]) -> list[Finding]:
    rate = view.cluster.links.bytes_per_s
    findings = []
    for group in view.by_roles():
        rows = group[~np.isnan(rate[group])]
        if not len(rows):
            continue
        usual, number = Counter(rate[rows].tolist()).most_common(1)[0]
        if number < _MAJORITY * len(rows):
            continue
        for row in rows[rate[rows] < usual].tolist():
            bad.add(row)
            ends = (
                view.end(int(port[row])) for port in (view.cluster.links.port_a, view.cluster.links.port_b)
            )
            findings.append(
                Finding(
                    "built-wrong-rate",
                    "error",
                    view.where[row] if view.where else view.names[view.a[row]],
                    f"the link between {' and '.join(ends)} runs at {format_gbps(float(rate[row]))}",
                    expected=format_gbps(usual),
                    found=format_gbps(float(rate[row])),
                    confidence=number / len(rows),
                    fix="reseat the cable; check that it is of the part in the plan, then the settings of both ports",
                )
            )
    return findings


def _sizes(units: list[int]) -> str:
    if not units:
        return "none seen"
    alike = Counter(units)
    return ", ".join(
        f"{count} of {counted(size, 'server')}" for size, count in sorted(alike.items(), reverse=True)
    )
