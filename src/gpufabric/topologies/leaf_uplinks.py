"""Leaves of one fabric → links to the leaves of another one, such as out-of-band switches to the in-band fabric."""

from __future__ import annotations

import numpy as np

from gpufabric.errors import SpecError, UnbuildableError
from gpufabric.records.cluster_spec import LeafUplinks
from gpufabric.records.parts import CageGroup
from gpufabric.topologies.fabric_rows import WiredPlane
from gpufabric.topologies.free_leaf_ports import take_free_ports
from gpufabric.topologies.plane_split import FabricSite
from gpufabric.topologies.switch_ports import PortBlock, SwitchModes, switch_modes
from gpufabric.units import counted, format_gbps

_SAME_RATE = 1e-6


def connect_uplinks(
    site: FabricSite, uplinks: LeafUplinks, planes: list[WiredPlane], known: dict[str, list[WiredPlane]]
) -> None:
    """Link every leaf of *planes* to leaves of the fabric that *uplinks* names, spread evenly over them.

    The ports are those of a cage group of the switch that is meant for it (four 100 Gb/s cages beside 48 ports of 1 Gb/s), else
    cages after the server ports.

    Raises
    ------
    SpecError
        If the other fabric does not stand earlier in the description.
    UnbuildableError
        If either side has too few ports of this rate.
    """
    others = known.get(uplinks.fabric)
    if others is None:
        earlier = f"; known: {', '.join(known)}" if known else ""
        raise SpecError(
            f'fabric "{site.spec.name}": uplinks name the fabric "{uplinks.fabric}", which does not stand earlier{earlier}'
        )
    leaves = np.concatenate([plane.leaves for plane in planes])
    wanted = len(leaves) * uplinks.links
    block = others[0].leaf_block
    if abs(block.bytes_per_s / uplinks.rate - 1) > _SAME_RATE:
        raise UnbuildableError(
            f'fabric "{site.spec.name}": uplinks run at {format_gbps(uplinks.rate)}, the ports of fabric "{uplinks.fabric}" at '
            f"{format_gbps(block.bytes_per_s)}",
            f"rate: {format_gbps(block.bytes_per_s)}",
        )
    own = _own_ports(site, planes[0].leaf_block, uplinks)
    free = take_free_ports(others, wanted)
    if len(free) < wanted:
        raise UnbuildableError(
            f'fabric "{site.spec.name}": {wanted} uplinks are needed, fabric "{uplinks.fabric}" has {len(free)} free leaf ports',
            f"links: {len(free) // len(leaves)}"
            if len(free) >= len(leaves)
            else "fewer servers a leaf there",
        )
    # Neighbouring ports of the other side lie on different leaves, so that a switch there lost cuts no leaf off.
    order = np.argsort(free.port, kind="stable")
    number = np.tile(np.arange(uplinks.links), len(leaves))
    lower = site.draft.add_ports(
        np.repeat(leaves, uplinks.links),
        cage=own.cage(number),
        lane=own.lane(number),
        lanes_in_cage=own.per_cage,
        bytes_per_s=uplinks.rate,
        fabric=site.fabric,
        plane=free.plane[order],
    )
    upper = site.draft.add_ports(
        free.leaf[order],
        cage=block.cage(free.port[order]),
        lane=block.lane(free.port[order]),
        lanes_in_cage=block.per_cage,
        bytes_per_s=uplinks.rate,
        fabric=site.fabric,
        plane=free.plane[order],
    )
    site.draft.add_links(lower, upper, uplinks.rate)


def _own_ports(site: FabricSite, down: PortBlock, uplinks: LeafUplinks) -> PortBlock:
    """Return the ports of one leaf that its uplinks take."""
    part, reserved = site.switches.leaf, site.spec.leaf.reserved_ports
    modes, rate = switch_modes(part), uplinks.rate
    first = 1
    for group in part.cages:
        if group is not modes.cages and group.purpose == "fabric" and _offers(group, rate):
            return _checked(
                site, SwitchModes(part, group), SwitchModes(part, group).block(uplinks.links, rate, first)
            )
        first += group.count
    held = modes.block(down.count + reserved, down.bytes_per_s)
    return _checked(site, modes, modes.block(uplinks.links, rate, 1 + held.cages), held.cages)


def _offers(group: CageGroup, bytes_per_s: float) -> bool:
    return any(abs(mode.port_bytes_per_s / bytes_per_s - 1) < _SAME_RATE for mode in group.modes)


def _checked(site: FabricSite, modes: SwitchModes, block: PortBlock, taken: int = 0) -> PortBlock:
    room = modes.cages.count - taken
    if block.cages > room:
        most = max(0, room) // block.stride * block.per_cage
        raise UnbuildableError(
            f'fabric "{site.spec.name}": {modes.part.id} has {counted(most, "port")} '
            f"of {format_gbps(block.bytes_per_s)} left for uplinks, "
            f"{block.count} are asked for",
            f"links: {most}" if most else "fewer ports_down of the leaf",
        )
    return block
