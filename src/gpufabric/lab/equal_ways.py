"""Links between switches → the next hops of each to each leaf on equal shortest ways, as multipath BGP should choose them."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping

#: For a switch, each neighbour and the interface that leads there.
Neighbours = Mapping[str, Mapping[str, str]]


def neighbours_of(links: Iterable[tuple[str, str, str, str]]) -> dict[str, dict[str, str]]:
    """Return the neighbours of each switch.

    Parameters
    ----------
    links
        Switch, its interface, the other switch, and its interface.
    """
    found: dict[str, dict[str, str]] = {}
    for a, interface_a, b, interface_b in links:
        found.setdefault(a, {})[b] = interface_a
        found.setdefault(b, {})[a] = interface_b
    return found


def equal_ways(neighbours: Neighbours, target: str) -> dict[str, frozenset[str]]:
    """Return for each switch that reaches *target* the interfaces that begin a shortest way there."""
    distance = {target: 0}
    waiting = deque([target])
    while waiting:
        here = waiting.popleft()
        for peer in neighbours.get(here, {}):
            if peer not in distance:
                distance[peer] = distance[here] + 1
                waiting.append(peer)
    return {
        switch: frozenset(
            interface
            for peer, interface in neighbours[switch].items()
            if distance.get(peer, -1) == distance[switch] - 1
        )
        for switch in distance
        if switch != target
    }
