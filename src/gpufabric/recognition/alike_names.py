"""A match → switches that bear one name: which of them stands where, so that the others can be renamed."""

from __future__ import annotations

import re
from collections import defaultdict

import numpy as np
from numpy.typing import NDArray

from gpufabric.recognition.designed_places import DesignedPlaces
from gpufabric.recognition.found_slots import FoundSlots
from gpufabric.records.cluster import DeviceKind
from gpufabric.records.fabric_match import CablingFault

#: How readers tell nodes of one name apart.
_TOLD_APART = re.compile(r"(.+) \((0x[0-9a-f]{16}|lid \d+)\)")


def duplicate_names(
    places: DesignedPlaces, slots: FoundSlots, device: NDArray[np.int64]
) -> list[CablingFault]:
    """Return a mistake for each name that several switches have and that one of them has in the design.

    Parameters
    ----------
    places, slots
    device : int64 array, F
        Designed device of each found one, or -1.
    """
    groups: dict[str, list[tuple[int, str]]] = defaultdict(list)
    for row in np.flatnonzero(slots.kind == DeviceKind.SWITCH).tolist():
        told = _TOLD_APART.fullmatch(slots.names[row])
        if told is not None:
            groups[told[1]].append((row, told[2]))
    faults = []
    for name, rows in sorted(groups.items()):
        standing = [
            (identity, places.device_names[device[row]]) for row, identity in rows if device[row] >= 0
        ]
        wrong = [(identity, place) for identity, place in standing if place.lower() != name.lower()]
        if len(rows) < 2 or not wrong or len(wrong) == len(standing):
            continue  # factory names are nobody's
        said = ", ".join(f"{identity} stands in the place of {place}" for identity, place in wrong)
        faults.append(
            CablingFault(
                "duplicate-name",
                slots.names[rows[0][0]],
                f"{len(rows)} switches are called {name}: {said}",
                "a name of its own for each",
                name,
                "; ".join(f"rename {identity} to {place}" for identity, place in wrong),
                devices=(name, *(place for _, place in wrong)),
            )
        )
    return faults
