"""A design and what a scheduler was told of the network → nodes that are told to be elsewhere than they are.

What the scheduler calls a leaf holds nodes that share leaves in the fabric; where each rail has a leaf of its own, these are
the servers of a unit. A block holds nodes that share a scale-up domain, or leaves where each server is a domain of its own. A
switch of the scheduler may be a part of such a group, as of a rack, but not parts of several.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from gpufabric.records.cluster import Cluster, DeviceKind, Role
from gpufabric.records.findings import Finding, Severity
from gpufabric.records.names import device_names
from gpufabric.records.scheduler_topology import SchedulerBlock, SchedulerSwitch, SchedulerTopology
from gpufabric.units import counted

RULE = "scheduler-misplaced"
_STRAY_SHARE = 0.25
_SHOWN = 20
_NAMED = 3
Group = tuple[int, ...]


def compare_scheduler(
    design: Cluster, told: SchedulerTopology, aliases: Mapping[str, int] | None = None
) -> tuple[Finding, ...]:
    """Return where the file of a scheduler differs from the wiring of a design.

    Parameters
    ----------
    design
    told
    aliases
        Devices of the design by the names that a found fabric gives them.
    """
    names = device_names(design).tolist()
    servers = np.flatnonzero(design.devices.kind == DeviceKind.SERVER).tolist()
    row_of = {_key(names[row]): row for row in servers}
    row_of |= {_key(name): row for name, row in (aliases or {}).items()}
    leaves = _leaves(design)
    groups: list[tuple[Sequence[SchedulerSwitch | SchedulerBlock], dict[int, Group], str]] = [
        (told.switches, leaves, "leaves"),
        (told.blocks, *_domains(design, leaves)),
    ]
    findings: list[Finding] = []
    for items, group_of, what in groups:
        holders = [item for item in items if item.nodes]
        known = {node: row_of[_key(node)] for item in holders for node in item.nodes if _key(node) in row_of}
        if not holders:
            continue
        findings += _strangers(told, holders, known)
        if known:
            findings += _misplaced(told, holders, known, (group_of, what, names))
            findings += _left_out(told, set(known.values()), group_of, names)
    hidden = len(findings) - _SHOWN
    more = [_finding("info", told.file, counted(hidden, "more difference"))] if hidden > 0 else []
    return (*findings[:_SHOWN], *more)


def _key(name: str) -> str:
    return name.lower().split(".", 1)[0]


def _finding(
    severity: Severity, where: str, message: str, fix: str = "", expected: str = "", found: str = ""
) -> Finding:
    return Finding(RULE, severity, where, message, fix=fix, expected=expected, found=found)


def _leaves(design: Cluster) -> dict[int, Group]:
    """Return the leaves that each server is linked with."""
    a, b = design.link_device_a, design.link_device_b
    kind, role = design.devices.kind, design.devices.role
    rows = np.flatnonzero((kind[a] == DeviceKind.SERVER) & (role[b] == Role.LEAF))
    found: dict[int, set[int]] = defaultdict(set)
    for server, leaf in zip(a[rows].tolist(), b[rows].tolist(), strict=True):
        found[server].add(leaf)
    return {server: tuple(sorted(own)) for server, own in found.items()}


def _domains(design: Cluster, leaves: dict[int, Group]) -> tuple[dict[int, Group], str]:
    """Return the scale-up domain of each server where domains span servers, else its leaves; and the word for them."""
    pairs = set(zip(design.gpus.host.tolist(), design.gpus.domain.tolist(), strict=True))
    hosts = Counter(domain for _, domain in pairs)
    if max(hosts.values(), default=0) < 2:
        return leaves, "leaves"
    return {host: (domain,) for host, domain in pairs}, "scale-up domain"


def _strangers(
    told: SchedulerTopology, holders: Sequence[SchedulerSwitch | SchedulerBlock], known: Mapping[str, int]
) -> list[Finding]:
    lost = [(node, item) for item in holders for node in item.nodes if node not in known]
    if not lost:
        return []
    total = sum(len(item.nodes) for item in holders)
    return [
        _finding(
            "warning",
            f"{told.file}:{lost[0][1].line}",
            f"{len(lost):,} of {counted(total, 'node')} are no servers of the design: {_few(node for node, _ in lost)}",
            "give the names that the design has, or a file of the fabric beside it that tells where they are",
        )
    ]


def _misplaced(
    told: SchedulerTopology,
    holders: Sequence[SchedulerSwitch | SchedulerBlock],
    known: Mapping[str, int],
    places: tuple[dict[int, Group], str, list[str]],
) -> list[Finding]:
    group_of, what, names = places
    home: dict[Group, Counter[str]] = defaultdict(Counter)
    usual: dict[int, Counter[Group]] = {}
    for at, item in enumerate(holders):
        usual[at] = Counter(
            group_of[known[node]] for node in item.nodes if node in known and known[node] in group_of
        )
        for group, count in usual[at].items():
            home[group][item.name] += count
    findings = []
    for at, item in enumerate(holders):
        if len(usual[at]) < 2:
            continue
        (main, most), *rest = usual[at].most_common()
        where = f"{told.file}:{item.line}"
        if sum(count for _, count in rest) > _STRAY_SHARE * usual[at].total():
            parts = ", ".join(str(count) for _, count in usual[at].most_common(_NAMED))
            findings.append(
                _finding(
                    "warning",
                    where,
                    f"{item.name} holds nodes of {len(usual[at])} groups that share {what} ({parts}"
                    f"{', …' if len(usual[at]) > _NAMED else ''})",
                    "describe a switch for each of them, and one above",
                    expected=f"nodes with the same {what}",
                    found=f"{len(usual[at])} groups",
                )
            )
            continue
        for node in item.nodes:
            group = group_of.get(known.get(node, -1), main)
            if group != main:
                right = home[group].most_common(1)[0][0]
                findings.append(
                    _finding(
                        "error",
                        where,
                        f"node {node} is under {item.name}, but {most} other nodes there share no {what} with it",
                        f"move it to {right}" if right != item.name else "describe a switch for it",
                        expected=_shown(group, what, names),
                        found=_shown(main, what, names),
                    )
                )
    return findings


def _left_out(
    told: SchedulerTopology, named: set[int], group_of: dict[int, Group], names: list[str]
) -> list[Finding]:
    left = sorted(set(group_of) - named)
    if not left:
        return []
    return [
        _finding(
            "warning",
            told.file,
            f"{counted(len(left), 'server')} of the design are in no switch or block: {_few(names[row] for row in left)}",
            "add them, or no job that asks for few switches runs there",
        )
    ]


def _shown(group: Group, what: str, names: list[str]) -> str:
    return _few(names[row] for row in group) if what == "leaves" else f"{what} {group[0] + 1}"


def _few(names: Iterable[str]) -> str:
    listed = list(names)
    return ", ".join(listed[:_NAMED]) + (", …" if len(listed) > _NAMED else "")
