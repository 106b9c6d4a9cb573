"""A found fabric and a design → :class:`FabricMatch`."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gpufabric.kernels.connected_components import connected_components
from gpufabric.recognition.designed_places import DesignedPlaces
from gpufabric.recognition.found_slots import FoundSlots
from gpufabric.recognition.guess_places import guess_places
from gpufabric.recognition.links_in_view import links_in_view
from gpufabric.recognition.match_devices import DeviceMatch
from gpufabric.recognition.match_ports import match_ports, place_leftovers
from gpufabric.records.cluster import Cluster
from gpufabric.records.fabric_match import FabricMatch, MatchedBy
from gpufabric.records.found_fabric import FoundFabric
from gpufabric.records.part_lookup import PartLookup
from gpufabric.records.tiers import joins_fabrics

_TIERS = 4


def match_fabric(design: Cluster, found: FoundFabric, parts: PartLookup | None = None) -> FabricMatch:
    """Lay a found fabric over a design.

    Parameters
    ----------
    design
    found
        One or several merged files of the fabric; planes and fabrics of which it has no device are out of scope, and links that
        no file can tell of.
    parts
        Parts by id, for the labels on server chassis.

    Returns
    -------
    FabricMatch
        Devices without a designed one are foreign.
    """
    places, slots = DesignedPlaces(design, parts), FoundSlots(found)
    devices = DeviceMatch(places, slots)
    devices.by_name()
    guessed = guess_places(places, slots) if (devices.device < 0).any() else np.empty(0, np.int64)
    linked = np.bincount(places.device[places.peer >= 0], minlength=len(places.is_switch))
    rows = np.flatnonzero(devices.device >= 0)
    servers = rows[~places.is_switch[devices.device[rows]]]
    slots.rank_server_ports({int(row): int(linked[devices.device[row]]) for row in servers})
    if devices.by_wiring():
        # Slots were a guess: what names of ports stand for is learned now, and the wiring looked at anew, tier by tier.
        slots.slot[guessed] = -1
        for _ in range(_TIERS):
            before = devices.device.copy()
            match_ports(places, slots, devices.device)
            devices.look_again()
            if np.array_equal(before, devices.device):
                break
    port = match_ports(places, slots, devices.device)
    in_scope = _links_in_scope(places, devices.device) & links_in_view(design, found, devices.device)
    sure = place_leftovers(places, slots, devices.device, port, in_scope)
    return FabricMatch(
        device=devices.device.astype(np.int32),
        how=np.where(sure > 0, MatchedBy.WIRING, devices.how).astype(np.int8),
        certainty=np.where(sure > 0, sure, devices.certainty),
        port=port.astype(np.int32),
        in_scope=in_scope,
    )


def _links_in_scope(places: DesignedPlaces, device: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return which designed links a file with these devices can tell of: those of the subnets of its switches.

    Management ports and uplinks into another fabric join no subnets; such a link can be told of where both ends were found.
    """
    design = places.design
    a, b = design.link_device_a, design.link_device_b
    joins = joins_fabrics(design)
    between = places.is_switch[a] & places.is_switch[b] & ~joins
    part = connected_components(len(places.is_switch), a[between], b[between])
    matched = device[device >= 0]
    switches = matched[places.is_switch[matched]]
    seen = np.isin(part, np.unique(part[switches])) & places.is_switch
    no_switch = ~places.is_switch[a] & ~places.is_switch[b]
    both = np.isin(a, matched) & np.isin(b, matched)
    return np.where(no_switch | joins, both, np.where(places.is_switch[b], seen[b], seen[a]))
