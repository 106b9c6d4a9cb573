"""A found fabric alone → servers that seem to be missing: one port without a cable on every leaf of a unit, between others."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

from gpufabric.recognition.infer_design import WiringView
from gpufabric.records.cluster import Role

_NUMBERS = re.compile(r"(\d{1,6})")
_MOST_SHARE = 0.25
_LEAST_SERVERS = 3


@dataclass(frozen=True, slots=True)
class MissingServer:
    """A server that is not there: a name for it, a server that it is like, and its links (own port, leaf, port there)."""

    name: str
    like: int
    links: tuple[tuple[str, int, str], ...]


def missing_servers(view: WiringView, unit: dict[int, int]) -> list[MissingServer]:
    """Return the servers that should stand between others.

    A place counts where every server of the unit has one port number on all of its leaves, and one number in between is used
    nowhere. Places after the last server are room to grow, not servers that are missing.

    Parameters
    ----------
    view
    unit
        Of each server and leaf.
    """
    at: dict[int, dict[int, dict[str, tuple[int, str]]]] = defaultdict(lambda: defaultdict(dict))
    links = view.cluster.links
    for row in view.between(Role.SERVER, Role.LEAF).tolist():
        server, own, far = int(view.a[row]), view.ports[links.port_a[row]], view.ports[links.port_b[row]]
        at[unit.get(server, -1)][server][own] = int(view.b[row]), far
    taken = {(int(device), name.lower()) for device, name in _linked_ports(view)}
    found = []
    for _, servers in sorted(at.items()):
        found += _of_unit(view, servers, taken)
    return found


def _linked_ports(view: WiringView) -> list[tuple[int, str]]:
    links = view.cluster.links
    return [
        (view.cluster.ports.device[port], view.ports[port])
        for ends in (links.port_a, links.port_b)
        for port in ends.tolist()
    ]


def _of_unit(
    view: WiringView, servers: dict[int, dict[str, tuple[int, str]]], taken: set[tuple[int, str]]
) -> list[MissingServer]:
    usual = Counter(frozenset(own) for own in servers.values()).most_common(1)[0][0]
    leaf_of = {
        name: Counter(own[name][0] for own in servers.values() if name in own).most_common(1)[0][0]
        for name in usual
    }
    # One port name on all leaves: the number that says which server of the unit it is.
    place = {
        server: next(iter(names))
        for server, own in servers.items()
        if len(names := {far for _, far in own.values()}) == 1 and set(own) == usual
    }
    if len(place) < max(_LEAST_SERVERS, (1 - _MOST_SHARE) * len(servers)) or len(set(leaf_of.values())) < len(
        usual
    ):
        return []
    order = _ordered(set(place.values()))
    if order is None:
        return []
    positions, name_at = order
    by_position = {positions[far]: server for server, far in place.items()}
    last = max(by_position)
    gaps = [at for at in range(min(by_position) + 1, last) if at not in by_position]
    gaps = [at for at in gaps if not any((leaf, name_at(at).lower()) in taken for leaf in leaf_of.values())]
    if not gaps or len(gaps) > _MOST_SHARE * len(by_position):
        return []
    like = next(iter(place))
    return [
        MissingServer(
            _name_between(view, by_position, at, name_at(at), leaf_of),
            like,
            tuple((own, leaf_of[own], name_at(at)) for own in sorted(usual)),
        )
        for at in gaps
    ]


def _ordered(names: set[str]) -> tuple[dict[str, int], Callable[[int], str]] | None:
    """Return the position of each name and the name of each position, where names differ in one or two numbers; else None."""
    split = {name: _NUMBERS.split(name) for name in names}
    shapes = {tuple(parts[::2]) for parts in split.values()}
    if len(shapes) != 1:
        return None
    (shape,) = shapes
    columns = list(zip(*([int(text) for text in parts[1::2]] for parts in split.values()), strict=True))
    if not columns:
        return None
    lanes = max(columns[-1]) - min(columns[-1]) + 1 if len(columns) > 1 and len(set(columns[-2])) > 1 else 0
    first = min(columns[-1])
    moving = -2 if lanes else -1
    if any(len(set(column)) > 1 for column in columns[:moving]):
        return None

    def position(name: str) -> int:
        numbers = [int(text) for text in split[name][1::2]]
        return numbers[-2] * lanes + numbers[-1] - first if lanes else numbers[-1]

    values = sorted({position(name) for name in names})
    step = math.gcd(*(b - a for a, b in pairwise(values))) or 1
    origin = values[0]
    sample = [int(text) for text in split[next(iter(names))][1::2]]

    def name_at(place: int) -> str:
        number, numbers = origin + place * step, list(sample)
        if lanes:
            numbers[-2], numbers[-1] = number // lanes, number % lanes + first
        else:
            numbers[-1] = number
        return "".join(
            text + (str(numbers[at]) if at < len(numbers) else "") for at, text in enumerate(shape)
        )

    return {name: (position(name) - origin) // step for name in names}, name_at


def _name_between(
    view: WiringView, by_position: dict[int, int], at: int, port: str, leaf_of: dict[str, int]
) -> str:
    """Return the name that the servers before and after suggest, else where it should be."""
    before, after = (
        _NUMBERS.split(view.names[by_position[near]]) if near in by_position else []
        for near in (at - 1, at + 1)
    )
    if len(before) > 1 and before[:-2] == after[:-2] and before[-1] == after[-1]:
        number = int(before[-2]) + 1
        if number == int(after[-2]) - 1:
            name = "".join([*before[:-2], f"{number:0{len(before[-2])}d}", before[-1]])
            if name not in view.names:
                return name
    return f"server at {view.names[min(leaf_of.values())]}:{port}"
