"""Links between two devices of a design at ports that the design leaves free → cables that nobody planned."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gpufabric.recognition.designed_places import DesignedPlaces
from gpufabric.recognition.diagnose_links import LinkDiagnosis
from gpufabric.recognition.found_slots import FoundSlots
from gpufabric.records.fabric_match import CablingFault

_AGREEING = 0.5


def extra_links(
    places: DesignedPlaces, slots: FoundSlots, links: LinkDiagnosis, device: NDArray[np.int64]
) -> list[CablingFault]:
    """Return a mistake for each link between switches of the design that stands in the place of none.

    A cable with one end at a planned port is a planned one in a wrong port. One with both ends at free ports is counted only
    where most other links are as designed, because ports that are numbered otherwise than in the design look free too.

    Parameters
    ----------
    places, slots, links
        As :func:`gpufabric.recognition.diagnose_cabling.diagnose_cabling` has them, after its other diagnoses.
    device : int64 array, found devices
        Designed device of each; -1 for foreign ones.
    """
    half = len(slots.near) // 2
    near, far = slots.near[:half], slots.far[:half]
    ends = device[slots.device[near]], device[slots.device[far]]
    free = np.ones(half, np.bool_)
    for port, end in ((near, ends[0]), (far, ends[1])):
        designed = links.port[port]
        planned = np.zeros(half, np.bool_)
        planned[designed >= 0] = places.peer[designed[designed >= 0]] >= 0
        on_switch = np.zeros(half, np.bool_)
        on_switch[end >= 0] = places.is_switch[end[end >= 0]]
        free &= ~planned & on_switch
    if not free.any() or links.good.sum() < _AGREEING * half:
        return []
    faults = []
    for row in np.flatnonzero(free).tolist():
        one, other = links.label(int(near[row])), links.label(int(far[row]))
        faults.append(
            CablingFault(
                "extra-link",
                links.line_of(int(near[row])),
                f"a cable joins {one} and {other}, which the design leaves free",
                "no link",
                f"{one} to {other}",
                f"unplug it at {one} and at {other}, or add it to the description",
                devices=(one,),
            )
        )
    return faults
