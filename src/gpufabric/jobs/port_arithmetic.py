"""Endpoints and ports a switch → what port counts alone would need: floors, beside which the wired counts stand."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class PortFloor:
    """What can't be undercut, by counting ports; None where it says nothing. Nothing here is wired.

    Attributes
    ----------
    ports_per_gpu, ports_per_server : int or None
        Ports that one end of a full mesh needs.
    cables : int or None
        Cables of a full mesh.
    switch_ports : int or None
        Ports that one switch needs to hold everything.
    switches : dict
        Role → switches, all planes.
    most_endpoints : int or None
        Server ports that so many tiers of such switches can hold at 1:1, all planes.
    """

    ports_per_gpu: int | None = None
    ports_per_server: int | None = None
    cables: int | None = None
    switch_ports: int | None = None
    switches: dict[str, int] = field(default_factory=dict)
    most_endpoints: int | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the floor as plain JSON values."""
        return asdict(self)


def mesh_floor(ends: int, end: str) -> PortFloor:
    """Return the floor of a full mesh of *ends* GPUs or servers: each has a port for every other, a cable joins each pair."""
    return PortFloor(
        ports_per_gpu=ends - 1 if end == "gpu" else None,
        ports_per_server=ends - 1 if end == "server" else None,
        cables=ends * (ends - 1) // 2,
    )


def switch_floor(endpoints: int, planes: int, radix: int) -> PortFloor:
    """Return the floor of one switch a plane."""
    return PortFloor(switch_ports=-(-endpoints // planes), most_endpoints=radix * planes)


def clos_floor(endpoints: int, planes: int, radix: int, tiers: int) -> PortFloor:
    """Return the floor of a folded Clos of two or three tiers of equal switches at 1:1.

    A switch below others gives half its ports to each side: two tiers hold radix² / 2 endpoints and three radix³ / 4
    (Al-Fares, Loukissas, Vahdat, SIGCOMM 2008, https://doi.org/10.1145/1402958.1402967). Tier by tier the floor is the
    endpoints over the ports that a switch has for them, rounded up.
    """
    half = max(1, radix // 2)
    each = -(-endpoints // planes)
    below, above = planes * -(-each // half), planes * -(-each // max(1, radix))
    if tiers == 2:
        return PortFloor(switches={"leaf": below, "spine": above}, most_endpoints=planes * radix * half)
    return PortFloor(
        switches={"leaf": below, "spine": below, "core": above}, most_endpoints=planes * radix * half * half
    )
