"""Switches of one tier that are linked to each other, plane by plane: dragonfly, torus and collapsed spine are all this."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gpufabric.errors import UnbuildableError
from gpufabric.records.cluster import Role
from gpufabric.records.cluster_spec import FabricSpec
from gpufabric.topologies.clos_design import link_rates
from gpufabric.topologies.fabric_rows import FabricRows, WiredPlane
from gpufabric.topologies.leaf_groups import rank_in_group
from gpufabric.topologies.managers import connect_managers
from gpufabric.topologies.plane_split import FabricSite
from gpufabric.topologies.server_endpoints import Endpoints
from gpufabric.topologies.switch_ports import switch_modes
from gpufabric.units import counted

MAX_SWITCHES = 1_000_000
MAX_LINKS = 4_000_000
TREE_KEYS = ("spine", "core", "pod_leaves", "reserved_cores", "tiers", "oversubscription")


@dataclass(frozen=True, slots=True)
class FlatPlan:
    """One plane. S switches, E endpoints, N links between switches.

    Attributes
    ----------
    leaf : int64, E
        Switch of each endpoint.
    down : int
        Server ports of a full switch.
    pod : int64, S
        Group of each switch, -1 where there are none.
    low, high : int64, N
        Switches at the two ends of each link.
    """

    leaf: NDArray[np.int64]
    down: int
    pod: NDArray[np.int64]
    low: NDArray[np.int64]
    high: NDArray[np.int64]

    @property
    def ports_between(self) -> int:
        """The most links to other switches that one switch has."""
        ends = np.concatenate([self.low, self.high])
        return int(np.bincount(ends, minlength=1).max())


def wire_flat_planes(
    site: FabricSite, plan: Callable[[Endpoints], FlatPlan], without: Iterable[str] = TREE_KEYS
) -> list[WiredPlane]:
    """Wire each plane of *site* as *plan* says, then its managers.

    Raises
    ------
    UnbuildableError
        If the description asks for what only a tree has (the keys *without*), or a switch has too few ports.
    """
    refuse_keys(site.spec, without)
    rates = link_rates(site.spec, float(site.endpoints.nic_bytes_per_s.min()))
    rows = FabricRows(site.draft, site.fabric, site.planes, {Role.LEAF: site.switches.leaf})
    planes = []
    for plane in range(site.planes):
        endpoints = site.of_plane(plane)
        planes.append(_wire(site, rows, (endpoints, plan(endpoints)), rates, plane))
    if site.spec.managers:
        connect_managers(site.draft, site.spec.managers, site.fabric, planes, rates[0])
    return planes


def check_size(site: FabricSite, down: int, between: int, switches: int) -> None:
    """Check, before anything is laid out, that a switch has the ports and that the plane is of a size that is wired.

    Parameters
    ----------
    down, between : int
        Server links of a full switch, and its links to other switches.
    switches : int
        Switches of one plane.

    Raises
    ------
    UnbuildableError
        If not.
    """
    modes, reserved = switch_modes(site.switches.leaf), site.spec.leaf.reserved_ports
    rates = link_rates(site.spec, float(site.endpoints.nic_bytes_per_s.min()))
    if not modes.fits(down + reserved, rates[0], between, rates[1]):
        raise UnbuildableError(
            f"switch {modes.part.id} can't hold {counted(down, 'server link')}, {counted(reserved, 'reserved port')} "
            f"and {counted(between, 'link')} to other switches",
            "fewer servers a switch, fewer links between switches, or a switch with more ports",
        )
    if switches > MAX_SWITCHES or switches * between > 2 * MAX_LINKS:
        raise UnbuildableError(
            f"{counted(switches, 'switch', 'switches')} with "
            f"{counted(between, 'link')} to others each are more than gpufabric wires",
            f"{MAX_SWITCHES:,} switches with {MAX_LINKS:,} links between them",
        )


def refuse_keys(spec: FabricSpec, keys: Iterable[str]) -> None:
    """Raise UnbuildableError for the first of *keys* that the description sets and this topology has no use for."""
    for key in keys:
        value = getattr(spec, key)
        idle = key == "tiers" and value == 1
        if not idle and value != FabricSpec.model_fields[key].default:
            raise UnbuildableError(
                f'fabric "{spec.name}": {key} says nothing in a {spec.topology}', f"the same without {key}"
            )


def _wire(
    site: FabricSite,
    rows: FabricRows,
    planned: tuple[Endpoints, FlatPlan],
    rates: tuple[float, float],
    plane: int,
) -> WiredPlane:
    endpoints, plan = planned
    modes, reserved = switch_modes(site.switches.leaf), site.spec.leaf.reserved_ports
    between = plan.ports_between
    switches = rows.add_switches(Role.LEAF, len(plan.pod), plane, pod=plan.pod)
    block = modes.block(plan.down, rates[0])
    used = rows.connect_servers(endpoints, plan.leaf, switches, block, plane)
    rows.hold(switches, block, reserved, plane)
    held = modes.block(plan.down + reserved, rates[0])
    up = modes.block(between, rates[1], 1 + held.cages)
    ends = np.stack([plan.low, plan.high], axis=1).ravel()
    ports = rows.switch_ports(switches[ends], rank_in_group(ends), up, plane)
    rows.link(ports[0::2], ports[1::2], rates[1])
    return WiredPlane(switches, used, block, 1)
