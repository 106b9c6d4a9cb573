"""A found fabric and a design → which found device is which designed one.

Names decide where both have them. What is left is matched by its wiring: a device that is known tells of each of its ports which
designed device should be at the far end, and every neighbour casts such a vote, so that single miscabled links are outvoted.
Where no name is shared, a switch is tried in the place of designed switches, and the place is kept in which most links agree.
"""

from __future__ import annotations

from collections import Counter, defaultdict

import numpy as np
from numpy.typing import NDArray

from gpufabric.recognition.designed_places import DesignedPlaces
from gpufabric.recognition.found_slots import FoundSlots
from gpufabric.records.cluster import UNKNOWN, DeviceKind
from gpufabric.records.fabric_match import MatchedBy

Int = NDArray[np.int64]
_ROUNDS = 16
_TRIED = 24
_GUESS = 0.1  # enough to begin with where there is nothing else, and outvoted by any two that know


class DeviceMatch:
    """The state of matching: for each found device a designed one or -1, and how it was found."""

    def __init__(self, places: DesignedPlaces, slots: FoundSlots) -> None:
        self.places, self.slots = places, slots
        count = len(slots.kind)
        self.device: Int = np.full(count, -1, np.int64)
        self.how = np.zeros(count, np.int8)
        self.certainty = np.zeros(count, np.float64)
        self._ties = 1

    def by_name(self) -> None:
        """Match devices that bear a designed name; of two with one name neither is sure of it, and none is taken."""
        row_of = {name.lower(): row for row, name in enumerate(self.places.device_names)}
        kinds = self.places.design.devices.kind
        times = Counter(self.slots.keys)
        for row, key in enumerate(self.slots.keys):
            designed = row_of.get(key, -1)
            if designed < 0 or times[key] > 1:
                continue
            kind = self.slots.kind[row]
            if kind in (UNKNOWN, kinds[designed]) or (
                kind == DeviceKind.SERVER and kinds[designed] != DeviceKind.SWITCH
            ):
                self.device[row], self.how[row], self.certainty[row] = designed, MatchedBy.NAME, 1.0

    def by_wiring(self) -> bool:
        """Match what has no known name, from what is matched already or from the best seed; say whether there was any."""
        if not (self.device < 0).any() or not (len(self.slots.near) and len(self.places.peer)):
            return False
        if (self.device >= 0).any():
            self._spread()
        else:
            self._spread_from_best_seed()
        return True

    def look_again(self) -> None:
        """Let the neighbours vote anew, now that more slots are known; how many equal ways there are stays as it was found."""
        self._spread()
        self.certainty[self.how == MatchedBy.WIRING] /= self._ties

    def _spread_from_best_seed(self) -> None:
        degree = np.bincount(self.slots.device[self.slots.near], minlength=len(self.device))
        degree[self.slots.kind == DeviceKind.SERVER] = -1
        seed = int(np.argmax(degree))
        best: tuple[int, Int, NDArray[np.float64]] | None = None
        ties = 0
        for place in self._places_for(seed, int(degree[seed])):
            self.device[:], self.certainty[:] = -1, 0
            self.device[seed] = place
            self._spread()
            score = self._agreeing()
            if best is None or score > best[0]:
                best, ties = (score, self.device.copy(), self.certainty.copy()), 1
            elif score == best[0] and not np.array_equal(self.device, best[1]):
                ties += 1
        if best is None:
            return
        self._ties = ties
        self.device[:], self.certainty[:] = best[1], best[2]
        self.how[:] = np.where(self.device >= 0, MatchedBy.WIRING, MatchedBy.NOTHING)

    def _places_for(self, seed: int, degree: int) -> list[int]:
        """Return designed switches that the seed may be, some of each role: those first whose ports lead to ports as found."""
        places = self.places
        linked = places.peer >= 0
        degrees = np.bincount(places.device[linked], minlength=len(places.is_switch))
        own = self.slots.device[self.slots.near] == seed
        numbers, far_numbers = self.slots.slot[self.slots.near[own]], self.slots.slot[self.slots.far[own]]
        switches = np.flatnonzero(places.is_switch)
        fits = np.array([self._fit(int(device), numbers, far_numbers) for device in switches])
        order = np.lexsort((switches, np.abs(degrees[switches] - degree), -fits))
        by_role: dict[int, list[int]] = defaultdict(list)
        for device in switches[order].tolist():
            by_role[int(places.design.devices.role[device])].append(device)
        share = max(_TRIED // max(len(by_role), 1), 1)
        return [device for devices in by_role.values() for device in devices[:share]]

    def _fit(self, device: int, numbers: Int, far_numbers: Int) -> int:
        """Return how many of the ports a designed device has, and how many of them lead to a port of the number found there."""
        port = self.places.find(np.full(len(numbers), device), numbers)
        far = np.where(port >= 0, self.places.peer[port], -1)
        same = (far >= 0) & (far_numbers >= 0) & (self.places.slot[far] == far_numbers)
        return int((port >= 0).sum()) + int(same.sum())

    def _agreeing(self) -> int:
        """Return how many link ends lead to the device that the design has there, and how many to the port there."""
        near, far = self.slots.near, self.slots.far
        port = self._far_port(near)
        expected = self._far_device(port)
        right = (expected >= 0) & (expected == self.device[self.slots.device[far]])
        return int(right.sum()) + int((right & (self.places.slot[port] == self.slots.slot[far])).sum())

    def _far_port(self, port: Int) -> Int:
        designed = self.places.find(self.device[self.slots.device[port]], self.slots.slot[port])
        return np.where(designed >= 0, self.places.peer[designed], -1)

    def _far_device(self, port: Int) -> Int:
        return np.where(port >= 0, self.places.device[port], -1)

    def _spread(self) -> None:
        fixed = self.how == MatchedBy.NAME
        for _ in range(_ROUNDS):
            before = self.device.copy()
            self._vote(fixed)
            if np.array_equal(before, self.device):
                break
        free = ~fixed & (self.device >= 0)
        self.how[free] = MatchedBy.WIRING

    def _vote(self, fixed: NDArray[np.bool_]) -> None:
        slots, places = self.slots, self.places
        port = self._far_port(slots.near)
        named = port >= 0
        voter_far, port = slots.far[named], port[named]
        found, designed = slots.device[voter_far], places.device[port]
        kinds = places.design.devices.kind[designed]
        fits = (slots.kind[found] == UNKNOWN) | (
            (slots.kind[found] == DeviceKind.SWITCH) == (kinds == DeviceKind.SWITCH)
        )
        # A port number that agrees at the far end too makes an accident unlikely.
        weight = 1.0 + (slots.slot[voter_far] == places.slot[port])
        weight[slots.guessed[slots.near[named]]] *= _GUESS
        keep = fits & ~fixed[found]
        key = found[keep] << 32 | designed[keep]
        pairs, inverse = np.unique(key, return_inverse=True)
        votes = np.bincount(inverse, weights=weight[keep], minlength=len(pairs))
        total = np.bincount(found[keep], weights=weight[keep], minlength=len(self.device))
        taken = set(self.device[fixed].tolist())
        new, sure = np.where(fixed, self.device, -1), np.where(fixed, self.certainty, 0.0)
        for at in np.lexsort((pairs, -votes)).tolist():
            row, place = int(pairs[at] >> 32), int(pairs[at] & 0xFFFFFFFF)
            if new[row] >= 0 or (place in taken and not slots.shared[row]):
                continue
            new[row], sure[row] = place, votes[at] / total[row]
            taken.add(place)
        # A seed keeps its place until its neighbours say something of it.
        silent = (total == 0) & (self.device >= 0) & ~np.isin(self.device, list(taken))
        new[silent], sure[silent] = self.device[silent], self.certainty[silent]
        self.device, self.certainty = new, sure
