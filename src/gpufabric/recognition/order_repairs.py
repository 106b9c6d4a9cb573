"""Mistakes → the steps that mend them, in an order in which every port is free when a cable comes to it.

Names are exchanged first, because the places of all other steps are those of the plan. Cables that are moved in a circle need one
to be held aside. Among steps that could come next, those in one rack follow each other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from heapq import heappop, heappush

from gpufabric.recognition.designed_places import DesignedPlaces
from gpufabric.records.as_built import Repair, RepairAction
from gpufabric.records.fabric_match import CableMove, CablingFault, FaultKind

_ACTIONS: dict[FaultKind, RepairAction] = {
    "exchanged-devices": "exchange",
    "foreign-device": "unplug",
    "extra-link": "unplug",
    "missing-link": "plug",
    "missing-uplinks": "plug",
    "dark-port": "reseat",
    "wrong-rate": "reseat",
    "wrong-cable": "replace",
    "missing-device": "power",
    "duplicate-name": "rename",
}
_ORDER: tuple[RepairAction, ...] = (
    "rename",
    "exchange",
    "unplug",
    "move",
    "plug",
    "power",
    "replace",
    "reseat",
)


def order_repairs(
    faults: Sequence[CablingFault], places: DesignedPlaces, rack_of: Callable[[str], str]
) -> tuple[Repair, ...]:
    """Return the steps, numbered from 1.

    Parameters
    ----------
    faults
        From :func:`gpufabric.recognition.diagnose_cabling.diagnose_cabling`.
    places
        Of the design.
    rack_of
        From the name of a device to that of its rack; empty where it is not known.
    """
    steps: dict[RepairAction, list[Repair]] = {action: [] for action in _ORDER}
    for fault in faults:
        action = _ACTIONS.get(fault.kind)
        if action is not None:
            steps[action] += _plain(fault, action, places)
    for action, repairs in steps.items():
        if action != "move":
            repairs.sort(
                key=lambda step: (rack_of(_device(step.to_port or step.cable)), step.to_port, step.cable)
            )
    moves = [(move, f"built-{fault.kind}") for fault in faults for move in fault.moves]
    steps["move"] = list(_in_order(moves, rack_of))
    ordered = (step for action in _ORDER for step in steps[action])
    return tuple(
        replace(
            step,
            step=number,
            from_rack=rack_of(_device(step.from_port or (step.cable if step.to_port else ""))),
            to_rack=rack_of(_device(step.to_port)),
        )
        for number, step in enumerate(ordered, 1)
    )


def _device(port: str) -> str:
    return port.rpartition(":")[0] or port


def _plain(fault: CablingFault, action: RepairAction, places: DesignedPlaces) -> Iterator[Repair]:
    """Yield the steps of a mistake that needs no re-plug: one a link, or one for a whole device."""
    rule = f"built-{fault.kind}"
    if action in {"exchange", "unplug", "power", "rename"} or not fault.links:
        yield Repair(0, action, f"{fault.message}: {fault.fix}", rule, cable=" and ".join(fault.devices))
        return
    for link in fault.links:
        lower, upper = (
            places.label(int(ends[link])) for ends in (places.design.links.port_a, places.design.links.port_b)
        )
        yield Repair(0, action, f"{lower} – {upper}: {fault.fix}", rule, lower, "", upper)


def _in_order(moves: Sequence[tuple[CableMove, str]], rack_of: Callable[[str], str]) -> Iterator[Repair]:
    at = {move.from_port: row for row, (move, _) in enumerate(moves)}
    waiting: dict[int, list[int]] = {}
    ready: list[tuple[str, str, int]] = []

    def key(row: int) -> tuple[str, str, int]:
        to_port = moves[row][0].to_port
        return rack_of(_device(to_port)), to_port, row

    for row, (move, _) in enumerate(moves):
        blocker = at.get(move.to_port, row)
        if blocker == row:
            heappush(ready, key(row))
        else:
            waiting.setdefault(blocker, []).append(row)
    done: set[int] = set()
    held: set[int] = set()
    for start in sorted(range(len(moves)), key=key):
        yield from _all_ready(moves, ready, waiting, done)
        if start not in done and start not in held:
            # Everything that is left is moved in circles: one cable is taken out, and the port that it leaves starts the rest.
            held.add(start)
            yield _hold(moves[start])
            for row in waiting.pop(start, []):
                heappush(ready, key(row))
    yield from _all_ready(moves, ready, waiting, done)


def _all_ready(
    moves: Sequence[tuple[CableMove, str]],
    ready: list[tuple[str, str, int]],
    waiting: dict[int, list[int]],
    done: set[int],
) -> Iterator[Repair]:
    while ready:
        *_, row = heappop(ready)
        done.add(row)
        yield _move(moves[row])
        for after in waiting.pop(row, []):
            heappush(ready, ("", moves[after][0].to_port, after))


def _move(told: tuple[CableMove, str]) -> Repair:
    move, rule = told
    message = f"move the cable of {move.fixed_end} from {move.from_port} to {move.to_port}"
    return Repair(0, "move", message, rule, move.fixed_end, move.from_port, move.to_port)


def _hold(told: tuple[CableMove, str]) -> Repair:
    move, rule = told
    message = f"take the cable of {move.fixed_end} out of {move.from_port} and hold it aside"
    return Repair(0, "hold", message, rule, move.fixed_end, move.from_port, "")


def count_moves(repairs: Iterable[Repair]) -> int:
    """Return how many cables are re-plugged."""
    return sum(repair.action == "move" for repair in repairs)
