"""A fabric's description → what a leaf offers, and the sizes of one plane of leaves, spines and cores."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import ceil

from gpufabric.errors import UnbuildableError
from gpufabric.records.cluster_spec import FabricSpec
from gpufabric.topologies.clos_sizing import (
    ClosSizes,
    Radix,
    size_three_tiers,
    size_two_tiers,
    smallest_divisor,
)
from gpufabric.topologies.leaf_groups import LeafGroups, LeafRoom
from gpufabric.topologies.switch_ports import SwitchModes, split_ports, switch_modes, up_ports_for
from gpufabric.topologies.tier_parts import TierParts
from gpufabric.units import counted, format_gbps

MAX_GROWN_PORTS = 4_000_000
WASTEFUL = 1.5


@dataclass(frozen=True, slots=True)
class ClosDesign:
    """How one fabric is to be built, the same for each of its planes.

    Attributes
    ----------
    down_bytes_per_s, up_bytes_per_s : float
        Rate of the links to servers and of the links between switches.
    leaf_down, leaf_up : int or None
        Ports of a full leaf; up ports only where the description fixes them.
    """

    spec: FabricSpec
    parts: TierParts
    down_bytes_per_s: float
    up_bytes_per_s: float
    leaf_down: int
    leaf_up: int | None

    @property
    def spine_reserve(self) -> int:
        """Ports of a spine that stay free, those kept for cores included."""
        return self.spec.spine.reserved_ports + self.spec.reserved_cores

    @property
    def leaf_room(self) -> LeafRoom:
        """What the grouping of server ports to leaves may use: fitted unless something is fixed, or is yet to be plugged in."""
        spec = self.spec
        fixed = spec.leaf.ports_down or spec.leaf.ports_up or spec.grow_to_units or spec.managers
        return LeafRoom(self.leaf_down, spec.unit_servers, fitted=not fixed)

    def uplinks(self, down: int) -> int:
        """Fewest up ports of a leaf that uses *down* ports."""
        return self.leaf_up or up_ports_for(
            down, self.down_bytes_per_s, self.up_bytes_per_s, _leaf_ratio(self.spec)
        )

    def uplinks_for_spines(self, down: int, spines_for: Callable[[int], float]) -> int:
        """Up ports of a leaf that uses *down* ports: more than the fewest where that saves spines.

        Every leaf has equally many links to each spine, so a number of uplinks with awkward divisors (27, 31) costs spines: one
        more uplink may need half of them. Only where the fewest uplinks would buy more than 1.5 times the spines whose ports are
        needed; published designs, which do not do this, stay below that.

        Parameters
        ----------
        down
        spines_for
            Spines, not yet rounded to a divisor, that so many uplinks need.
        """
        fewest = self.uplinks(down)
        best = (smallest_divisor(fewest, spines_for(fewest)) or fewest, fewest)
        if self.leaf_up or self.spec.spine.count or best[0] <= WASTEFUL * ceil(spines_for(fewest)):
            return fewest
        modes, reserved = switch_modes(self.parts.leaf), self.spec.leaf.reserved_ports
        up = fewest + 1
        while modes.fits(down + reserved, self.down_bytes_per_s, up, self.up_bytes_per_s):
            best = min(best, (smallest_divisor(up, spines_for(up)) or up, up))
            up += 1
        return best[1]


def design_clos(spec: FabricSpec, parts: TierParts, nic_bytes_per_s: float) -> ClosDesign:
    """Return the design that *spec* asks for.

    Raises
    ------
    UnbuildableError
        If the leaf switch can't offer the ports.
    """
    down_rate, up_rate = link_rates(spec, nic_bytes_per_s)
    down = spec.leaf.ports_down or _most_down_ports(spec, switch_modes(parts.leaf), down_rate, up_rate)
    design = ClosDesign(spec, parts, down_rate, up_rate, down, spec.leaf.ports_up)
    _check_leaf_ports(design)
    return design


def link_rates(spec: FabricSpec, nic_bytes_per_s: float) -> tuple[float, float]:
    """Return the rate of the links to servers and of those between switches, bytes/s.

    Raises
    ------
    UnbuildableError
        If a link is to be faster than the NIC port.
    """
    down_rate = spec.link_rate or nic_bytes_per_s
    if down_rate > nic_bytes_per_s * (1 + 1e-9):
        raise UnbuildableError(*_faster_than_nic(down_rate, nic_bytes_per_s))
    return down_rate, spec.uplink_rate or down_rate


def _leaf_ratio(spec: FabricSpec) -> float:
    return spec.leaf.oversubscription or spec.oversubscription


def _most_down_ports(spec: FabricSpec, modes: SwitchModes, down_rate: float, up_rate: float) -> int:
    """Return the most down ports a leaf can have beside its uplinks and reserved ports."""
    reserved = spec.leaf.reserved_ports
    if spec.leaf.ports_up is None:
        if spec.tiers == 1:
            return modes.radix(down_rate, reserved)
        return split_ports(modes, down_rate, up_rate, _leaf_ratio(spec), reserved)[0]
    down = modes.radix(down_rate, reserved)
    while down > 1 and not modes.fits(down + reserved, down_rate, spec.leaf.ports_up, up_rate):
        down -= 1
    return down


def _check_leaf_ports(design: ClosDesign) -> None:
    """Raise UnbuildableError if a leaf can't hold its down, reserved and up ports."""
    spec, modes, down = design.spec, switch_modes(design.parts.leaf), design.leaf_down
    reserved = spec.leaf.reserved_ports
    up = design.uplinks(down) if spec.tiers != 1 or spec.leaf.ports_up is not None else 0
    rates = (design.down_bytes_per_s, design.up_bytes_per_s)
    if down < 1 or not modes.fits(down + reserved, rates[0], up, rates[1]):
        raise _too_many_ports("leaf", modes, (down, up, reserved), rates, _leaf_ratio(spec))


def _too_many_ports(
    tier: str, modes: SwitchModes, ports: tuple[int, int, int], rates: tuple[float, float], ratio: float
) -> UnbuildableError:
    """Say that a switch has no room for its ports: down, up and reserved ones; *rates* are those down and up."""
    down, up, reserved = ports
    most_down, most_up = split_ports(modes, *rates, ratio, reserved)
    return UnbuildableError(
        f"{tier} switch {modes.part.id} can't hold {counted(down, 'port')} down and {up} up with {reserved} reserved, "
        "because ports of one cage all go up or all go down",
        f"{counted(most_down, 'port')} down and {most_up} up",
    )


def _faster_than_nic(asked: float, nic: float) -> tuple[str, str]:
    return (
        f"link_rate {format_gbps(asked)} is more than the NIC ports do ({format_gbps(nic)})",
        f"link_rate {format_gbps(nic)}",
    )


def _grown_leaves(spec: FabricSpec, groups: LeafGroups) -> int:
    """Return the leaves of one plane once the fabric has all the units that it must be able to grow to."""
    if spec.grow_to_units is None:
        return groups.count
    if (groups.unit < 0).any():
        raise UnbuildableError(
            f'fabric "{spec.name}" has no scalable units, so it can\'t reserve room for {spec.grow_to_units:,}',
            "the same fabric with unit_servers, or without grow_to",
        )
    present = int(groups.unit.max()) + 1
    if spec.grow_to_units < present:
        raise UnbuildableError(
            f'fabric "{spec.name}" has {counted(present, "unit")} already and shall grow to {spec.grow_to_units:,}',
            f"grow_to: {present}",
        )
    leaves = max(groups.count, spec.grow_to_units * groups.leaves_per_unit)
    if leaves * groups.down > MAX_GROWN_PORTS:
        most = MAX_GROWN_PORTS // (groups.leaves_per_unit * groups.down)
        raise UnbuildableError(
            f"{spec.grow_to_units:,} units are {leaves * groups.down:,} leaf ports a plane, more than gpufabric lays out",
            f"grow_to: {max(present, most)}",
        )
    return leaves


def size_plane(design: ClosDesign, groups: LeafGroups) -> ClosSizes:
    """Return tiers, spines and cores for the leaves of one plane, those that it must be able to grow to included.

    Raises
    ------
    UnbuildableError
        If the tiers asked for can't reach every leaf, or there are no units to grow by.
    """
    spec = design.spec
    leaf_up = design.uplinks(groups.down)
    leaves = _grown_leaves(spec, groups)
    if spec.leaf.count not in (None, leaves):
        raise UnbuildableError(
            f'fabric "{spec.name}": leaf count {spec.leaf.count:,} was asked for, and with {groups.down:,} ports down '
            f"the servers fill {leaves:,} leaves a plane",
            f"leaf: {{count: {leaves}}}, or other ports_down",
        )
    if leaves == 1 or spec.tiers == 1:
        return ClosSizes(1, leaves, 0 if spec.leaf.ports_up is None else leaf_up, 1, leaves, 0, 0, 0)
    rate = design.up_bytes_per_s
    spine_modes = switch_modes(design.parts.spine)
    alone = min(spec.spine.ports_down or 10**9, spine_modes.radix(rate, design.spine_reserve))
    if spec.tiers == 2 or (spec.tiers == "auto" and leaves <= alone):
        leaf_up = design.uplinks_for_spines(groups.down, lambda up: leaves * up / max(alone, 1))
        return size_two_tiers(leaves, leaf_up, Radix(alone, alone, 0), spec.spine.count)
    ratio = spec.spine.oversubscription or spec.oversubscription
    down = spec.spine.ports_down or split_ports(spine_modes, rate, rate, ratio, design.spine_reserve)[0]
    core = switch_modes(design.parts.core).radix(rate, spec.core.reserved_ports)
    pod = spec.pod_leaves or max(
        down // groups.leaves_per_unit * groups.leaves_per_unit, down if groups.leaves_per_unit > down else 1
    )

    leaf_up = design.uplinks_for_spines(groups.down, lambda up: pod * up / down)

    def spine_up_of(used: int) -> int:
        up, held = spec.spine.ports_up or up_ports_for(used, rate, rate, ratio), design.spine_reserve
        if not spine_modes.fits(used + held, rate, up, rate):
            raise _too_many_ports("spine", spine_modes, (used, up, held), (rate, rate), ratio)
        return up

    return size_three_tiers(
        leaves, leaf_up, Radix(alone, down, core), pod, spine_up_of, (spec.spine.count, spec.core.count)
    )
