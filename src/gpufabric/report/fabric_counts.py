"""Cluster → counts of one fabric: switches, links and tiers, all from the wiring arrays and never from a formula."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpufabric.records.cluster import UNKNOWN, Cluster, DeviceKind, Role
from gpufabric.records.link_kinds import OTHER, link_kinds
from gpufabric.records.part_lookup import PartLookup
from gpufabric.records.port_room import PortRoom, port_room
from gpufabric.records.tiers import device_tiers, joins_fabrics, link_fabrics

_CLOS_KINDS = ("server_leaf", "leaf_spine", "spine_core", OTHER)
_TIER_NAMES = {Role.LEAF: "leaf", Role.SPINE: "spine", Role.CORE: "core"}


@dataclass(frozen=True, slots=True)
class TierCounts:
    """Switches of one role and part: ``ports_down`` and ``ports_up`` are those in use on the fullest of them.

    ``oversubscription`` is the worst ratio of capacity down to capacity up among them; None where nothing
    goes up. ``spare_ports`` counts, over all of them, the ports of the rate of their lower links that end no
    link, those in reserve included (None where the part is not known); ``reserved_ports`` those in reserve.
    """

    role: str
    switches: int
    part: str | None
    ports_down: int
    ports_up: int
    oversubscription: float | None
    spare_ports: int | None
    reserved_ports: int

    def to_dict(self) -> dict[str, Any]:
        """Return the tier as plain JSON values."""
        return asdict(self)


def switch_counts(cluster: Cluster, fabric: int) -> dict[str, int]:
    """Return the number of switches by role, over all planes; every Clos role is named, others when they occur."""
    devices = cluster.devices
    chosen = (devices.kind == DeviceKind.SWITCH) & (devices.fabric == fabric)
    counts = dict.fromkeys(_TIER_NAMES.values(), 0)
    for role, count in zip(*np.unique(devices.role[chosen], return_counts=True), strict=True):
        counts[_TIER_NAMES.get(int(role), "unknown")] = int(count)
    return counts


def link_counts(cluster: Cluster, fabric: int) -> dict[str, int]:
    """Return the number of links by kind, over all planes; kinds of a Clos and ``other`` are named at 0 too."""
    codes, names = link_kinds(cluster)
    found = np.bincount(codes[link_fabrics(cluster) == fabric], minlength=len(names))
    counts = dict.fromkeys(_CLOS_KINDS, 0)
    counts |= {name: int(count) for name, count in zip(names, found, strict=True) if count}
    return {name: counts[name] for name in [*(n for n in counts if n != OTHER), OTHER]}


def tier_counts(cluster: Cluster, fabric: int, parts: PartLookup | None = None) -> list[TierCounts]:
    """Return the tiers of switches from the servers upwards, one row a role and part.

    Parameters
    ----------
    cluster
    fabric : int
        Index into ``cluster.fabrics``.
    parts
        Parts by id; spare ports are known only of switches that are in it.
    """
    devices = cluster.devices
    room = port_room(cluster, parts or {})
    inside = np.flatnonzero(link_fabrics(cluster) == fabric)
    ports = _links_up_and_down(cluster, inside, np.ones(len(inside)))
    capacity = _links_up_and_down(cluster, inside, cluster.links.bytes_per_s[inside])
    rows = []
    for role, name in _TIER_NAMES.items():
        of_role = (devices.kind == DeviceKind.SWITCH) & (devices.fabric == fabric) & (devices.role == role)
        for part in np.unique(devices.part[of_role]).tolist():
            chosen = of_role & (devices.part == part)
            rows.append(
                TierCounts(
                    role=name,
                    switches=int(chosen.sum()),
                    part=None if part == UNKNOWN else cluster.parts[part],
                    ports_down=int(ports[0][chosen].max()),
                    ports_up=int(ports[1][chosen].max()),
                    oversubscription=_worst_ratio(capacity[0][chosen], capacity[1][chosen]),
                    spare_ports=_spare(room, chosen),
                    reserved_ports=int(room.reserved[chosen].sum()),
                )
            )
    return rows


def _spare(room: PortRoom, chosen: NDArray[np.bool_]) -> int | None:
    free = room.free[chosen]
    return None if (free < 0).any() else int(free.sum() + room.reserved[chosen].sum())


def _links_up_and_down(
    cluster: Cluster, inside: NDArray[np.intp], weight: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return for each device the weight of its links downwards and upwards."""
    tier = device_tiers(cluster)
    a, b = cluster.link_device_a[inside], cluster.link_device_b[inside]
    lower, upper = np.where(tier[a] <= tier[b], a, b), np.where(tier[a] <= tier[b], b, a)
    slanted = (tier[lower] < tier[upper]) & ~joins_fabrics(cluster)[inside]
    down = np.bincount(upper[slanted], weight[slanted], len(tier)).astype(np.float64)
    up = np.bincount(lower[slanted], weight[slanted], len(tier)).astype(np.float64)
    return down, up


def _worst_ratio(down: NDArray[np.float64], up: NDArray[np.float64]) -> float | None:
    has_up = up > 0
    return float((down[has_up] / up[has_up]).max()) if has_up.any() else None
