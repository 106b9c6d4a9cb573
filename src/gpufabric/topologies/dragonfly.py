"""Groups of switches: a full mesh inside each group, links between all pairs of groups.

Kim, Dally, Scott, Abts, "Technology-Driven, Highly-Scalable Dragonfly Topology", ISCA 2008,
https://doi.org/10.1109/ISCA.2008.19: *p* server links, *a* switches a group, *h* global links a switch; balanced when
a = 2p = 2h; at most a·h + 1 groups.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gpufabric.errors import UnbuildableError
from gpufabric.topologies.clos_design import link_rates
from gpufabric.topologies.fabric_rows import WiredPlane
from gpufabric.topologies.flat_wiring import FlatPlan, check_size, wire_flat_planes
from gpufabric.topologies.plane_split import FabricSite
from gpufabric.topologies.server_endpoints import Endpoints
from gpufabric.topologies.switch_ports import switch_modes
from gpufabric.units import counted


@dataclass(frozen=True, slots=True)
class DragonflyShape:
    """Groups, switches of a group (a), server links (p) and global links (h) of a switch."""

    groups: int
    group_switches: int
    switch_servers: int
    global_links: int

    @property
    def links_a_pair(self) -> int:
        """Links between each two groups: as many as all pairs can have alike."""
        return self.group_switches * self.global_links // max(1, self.groups - 1)


def build(site: FabricSite) -> list[WiredPlane]:
    """Wire *site* as a dragonfly with the fewest groups that hold its servers, unless the description gives its shape.

    Servers fill switch after switch in their order. One group alone is a full mesh of as many switches as the servers need.

    Raises
    ------
    UnbuildableError
        If there are more groups than global links reach, or a switch has too few ports.
    """
    return wire_flat_planes(site, lambda endpoints: _plan(site, endpoints))


def _plan(site: FabricSite, endpoints: Endpoints) -> FlatPlan:
    shape = _shape(site, len(endpoints))
    switches = shape.groups * shape.group_switches
    between = shape.group_switches - 1 + shape.global_links
    check_size(site, shape.switch_servers, between, switches)
    local = _local_links(shape)
    far = _global_links(shape)
    return FlatPlan(
        np.arange(len(endpoints)) // shape.switch_servers,
        shape.switch_servers,
        np.arange(switches) // shape.group_switches,
        np.concatenate([local[0], far[0]]),
        np.concatenate([local[1], far[1]]),
    )


def _shape(site: FabricSite, links: int) -> DragonflyShape:
    asked = site.spec.dragonfly
    given = (
        asked.model_dump()
        if asked
        else dict.fromkeys(("groups", "group_switches", "switch_servers", "global_links"))
    )
    _, rate = link_rates(site.spec, float(site.endpoints.nic_bytes_per_s.min()))
    # A balanced switch has p + (a − 1) + h = 4h − 1 ports.
    radix = switch_modes(site.switches.leaf).radix(rate, site.spec.leaf.reserved_ports)
    far = (
        given["global_links"]
        or given["switch_servers"]
        or ((given["group_switches"] or 0) + 1) // 2
        or (radix + 1) // 4
    )
    servers = given["switch_servers"] or far
    if not servers:
        raise UnbuildableError(
            f"switch {site.switches.leaf.id} has {counted(radix, 'port')}, a dragonfly needs 3 or more",
            "a switch with more ports",
        )
    inside = given["group_switches"] or 2 * far
    groups = given["groups"] or -(-links // (inside * servers))
    if groups == 1 and given["group_switches"] is None:
        inside = -(-links // servers)
    shape = DragonflyShape(groups, inside, servers, far if groups > 1 else 0)
    _check(shape, links)
    return shape


def _check(shape: DragonflyShape, links: int) -> None:
    most = shape.group_switches * shape.global_links + 1
    if shape.groups > most:
        raise UnbuildableError(
            f"{counted(shape.groups, 'group')} need {counted(shape.groups - 1, 'link')} to "
            f"other groups each; {counted(shape.group_switches, 'switch', 'switches')} with "
            f"{shape.global_links} global links have {most - 1:,}",
            f"{counted(most, 'group')}, or more global_links",
        )
    room = shape.groups * shape.group_switches * shape.switch_servers
    if links > room:
        raise UnbuildableError(
            f"{counted(shape.groups, 'group')} of {counted(shape.group_switches, 'switch', 'switches')} "
            f"with {shape.switch_servers} server links have room for "
            f"{counted(room, 'link')}, {links:,} are needed",
            counted(-(-links // (shape.group_switches * shape.switch_servers)), "group"),
        )


def _local_links(shape: DragonflyShape) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    low, high = np.triu_indices(shape.group_switches, 1)
    first = np.repeat(np.arange(shape.groups) * shape.group_switches, len(low))
    return first + np.tile(low, shape.groups), first + np.tile(high, shape.groups)


def _global_links(shape: DragonflyShape) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the ends of the links between groups, parallel ones on different switches as far as the shape allows."""
    groups, copies = shape.groups, shape.links_a_pair
    low, high = np.triu_indices(groups, 1)
    low, high = np.repeat(low, copies), np.repeat(high, copies)
    copy = np.tile(np.arange(copies), groups * (groups - 1) // 2)
    used = copies * max(1, groups - 1)

    def switch(own: NDArray[np.int64], peer: NDArray[np.int64]) -> NDArray[np.int64]:
        slot = copy * (groups - 1) + (peer - own - 1) % groups
        switches: NDArray[np.int64] = own * shape.group_switches + slot * shape.group_switches // used
        return switches

    return switch(low, high), switch(high, low)
