"""A match → the mistakes that explain every link that is not as designed.

Found links lead from lower ports of designed links to upper ones; where they differ, they are a permutation with gaps. Its cycles
of two are swapped pairs, longer cycles within one server a shifted server, open chains cables in wrong ports; what has no found
link at either end is missing.
"""

from __future__ import annotations

from collections import defaultdict
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from gpufabric.recognition.designed_places import DesignedPlaces
from gpufabric.recognition.found_slots import FoundSlots
from gpufabric.records.fabric_match import CableMove, CablingFault, FaultKind
from gpufabric.records.found_fabric import PortState

Int = NDArray[np.int64]


class LinkDiagnosis:
    """Sorts the designed links in scope into good ones and mistakes.

    Attributes
    ----------
    found_at : int64 array, P
        Found port that stands at each designed one; -1 where none does.
    far : int64 array, Q + 1
        Found port at the other end; -1 where there is no link. The last stands for "no port", so that [-1] is -1.
    bad : int64 array
        Designed links in scope that do not join the two ports that they should.
    """

    def __init__(
        self,
        places: DesignedPlaces,
        slots: FoundSlots,
        device: Int,
        port: Int,
        in_scope: NDArray[np.bool_],
    ) -> None:
        self.places, self.slots, self.device, self.port = places, slots, device, port
        self.found_at = np.full(len(places.peer), -1, np.int64)
        known = np.flatnonzero(port >= 0)
        self.found_at[port[known]] = known
        self.far = np.full(len(port) + 1, -1, np.int64)
        self.far[slots.near] = slots.far
        links = places.design.links
        self.a, self.b = links.port_a.astype(np.int64), links.port_b.astype(np.int64)
        at_a, at_b = self.found_at[self.a], self.found_at[self.b]
        self.good = (at_a >= 0) & (at_b >= 0) & (self.far[at_a] == at_b)
        self.bad = np.flatnonzero(in_scope & ~self.good)

    def faults(self, told: set[int]) -> list[CablingFault]:
        """Return the mistakes; links in *told* are explained already, by a missing or foreign device."""
        bad = [link for link in self.bad.tolist() if link not in told]
        step = {link: self._leads_to(link) for link in bad}
        found: list[CablingFault] = []
        done: set[int] = set()
        into = {after for after in step.values() if after is not None}
        for start in [*(link for link in bad if link not in into), *bad]:
            if start in done:
                continue
            chain, link = [start], step.get(start)
            done.add(start)
            while link is not None and link not in done and link in step:
                chain.append(link)
                done.add(link)
                link = step[link]
            if link == start:
                found.append(self._cycle(chain))
            else:
                found += self._chain(chain)
        return found

    def _leads_to(self, link: int) -> int | None:
        """Return the designed link at whose upper port the cable from this link's lower port ends."""
        end = self._designed_far(int(self.a[link]))
        if end < 0:
            return None
        other = int(self.places.link[end])
        return other if other >= 0 and self.b[other] == end and other != link else None

    def _designed_far(self, port: int) -> int:
        """Return the designed port where the cable of a designed port really ends; -1 none or unknown, of foreign devices too."""
        at = self.found_at[port]
        far = self.far[at] if at >= 0 else -1
        return int(self.port[far]) if far >= 0 else -1

    def _cycle(self, chain: list[int]) -> CablingFault:
        lower = [int(self.a[link]) for link in chain]
        device = {int(self.places.device[port]) for port in lower}
        names = [self.places.label(port) for port in lower]
        moves = tuple(self._move(link) for link in chain)
        kind: FaultKind = (
            "swapped-pair" if len(chain) == 2 else "shifted-server" if len(device) == 1 else "wrong-port"
        )
        if kind == "swapped-pair":
            message = f"the cables of {names[0]} and {names[1]} are swapped"
            fix = f"exchange them at {moves[0].from_port} and {moves[0].to_port}"
        elif kind == "shifted-server":
            server = self.places.device_names[next(iter(device))]
            message = f"{len(chain)} cables of {server} are shifted by one place or more"
            fix = f"move the cables of {server} to the ports of the plan"
        else:
            message = f"{len(chain)} cables are interchanged in a circle: {', '.join(names[:4])}{', …' if len(names) > 4 else ''}"
            fix = "move each to its port of the plan"
        return CablingFault(
            kind,
            self._where(chain[0]),
            message,
            "; ".join(
                f"{name} to {self.places.label(int(self.b[link]))}"
                for name, link in zip(names, chain, strict=True)
            ),
            "; ".join(f"{name} to {move.from_port}" for name, move in zip(names, moves, strict=True)),
            fix,
            tuple(chain),
            moves,
        )

    def _chain(self, chain: list[int]) -> list[CablingFault]:
        found = []
        for link in chain:
            a, b = int(self.a[link]), int(self.b[link])
            at_a, at_b = int(self.found_at[a]), int(self.found_at[b])
            leads = at_a >= 0 and self.far[at_a] >= 0
            led = at_b >= 0 and self.far[at_b] >= 0
            if leads or (led and link == chain[0] and self._unplanned(int(self.far[at_b]))):
                found.append(self._wrong_port(link, at_lower=not leads))
            else:
                found.append(self._missing(link))
        return found

    def _unplanned(self, port: int) -> bool:
        """Say whether a found port has no designed link, so that the cable at it must be the one that is missing here."""
        designed = int(self.port[port])
        return designed >= 0 and self.places.peer[designed] < 0

    def _wrong_port(self, link: int, at_lower: bool) -> CablingFault:
        kept, wanted = (self.b, self.a) if at_lower else (self.a, self.b)
        move = self._move(link, at_lower)
        fixed, target = self.places.label(int(kept[link])), self.places.label(int(wanted[link]))
        return CablingFault(
            "wrong-port",
            self._where(link),
            f"the cable of {fixed} is in {move.from_port} instead of {target}",
            target,
            move.from_port,
            f"move it from {move.from_port} to {target}",
            (link,),
            (move,),
        )

    def _missing(self, link: int) -> CablingFault:
        a, b = int(self.a[link]), int(self.b[link])
        ends = [int(self.found_at[end]) for end in (a, b)]
        state = self.slots.found.port_state
        dark = [end for end in ends if end >= 0 and state[end] == PortState.DARK]
        names = f"{self.places.label(a)} and {self.places.label(b)}"
        if dark:
            return CablingFault(
                "dark-port",
                self.slots.label(dark[0]),
                f"there is no light between {names}",
                "a link",
                "port down",
                "check that both transceivers are seated, then the fibre and its polarity",
                (link,),
            )
        return CablingFault(
            "missing-link",
            self._where(link),
            f"there is no link between {names}",
            "a link",
            "none",
            "plug the cable in, or find where it went",
            (link,),
        )

    def _move(self, link: int, at_lower: bool = False) -> CableMove:
        kept, wanted = (self.b, self.a) if at_lower else (self.a, self.b)
        port = int(kept[link])
        far = int(self.far[self.found_at[port]])
        designed = int(self.port[far])
        now = self.places.label(designed) if designed >= 0 else self.label(far)
        return CableMove(self.places.label(port), now, self.places.label(int(wanted[link])))

    def _where(self, link: int) -> str:
        """Return the line of a file that shows the mistake, else the lower end."""
        for end in (int(self.a[link]), int(self.b[link])):
            at = self.found_at[end]
            if at >= 0 and self.far[at] >= 0:
                return self.line_of(int(at))
        return self.places.label(int(self.a[link]))

    def label(self, found_port: int) -> str:
        """Return ``device:port`` of a found port, in the words of the design where it is a numbered port of its switches."""
        on, number = (
            int(self.device[self.slots.device[found_port]]),
            int(self.slots.found.port_number[found_port]),
        )
        if on >= 0 and self.places.is_switch[on] and number > 0 and self.places.design.ports.names is None:
            return self.places.number_label(on, number)
        return self.slots.label(found_port)

    def line_of(self, found_port: int) -> str:
        """Return file:line of the link at a found port."""
        where = self.slots.found.cluster.links.where or ()
        count = len(where)
        row = self._link_rows.get(found_port, -1)
        return where[row] if 0 <= row < count else self.slots.label(found_port)

    @cached_property
    def _link_rows(self) -> dict[int, int]:
        half = len(self.slots.near) // 2
        return {port: row % half for row, port in enumerate(self.slots.near.tolist())}


def links_of_devices(places: DesignedPlaces, links: Int) -> dict[int, list[int]]:
    """Return the given links of each designed device."""
    found: dict[int, list[int]] = defaultdict(list)
    for link in links.tolist():
        for end in (places.design.links.port_a[link], places.design.links.port_b[link]):
            found[int(places.device[end])].append(link)
    return found
