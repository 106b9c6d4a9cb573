"""One giant switch a plane: every server port on the same switch."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from gpufabric.errors import UnbuildableError
from gpufabric.topologies.fabric_rows import WiredPlane
from gpufabric.topologies.leaf_groups import group_packed
from gpufabric.topologies.plane_split import FabricSite, wire_clos_planes
from gpufabric.topologies.switch_ports import switch_modes
from gpufabric.units import counted


def build(site: FabricSite) -> list[WiredPlane]:
    """Wire *site* as one switch a plane.

    Raises
    ------
    UnbuildableError
        If no switch of the part named has enough ports; it names the largest switch of the catalogue.
    """
    rate = site.spec.link_rate or float(site.endpoints.nic_bytes_per_s.min())
    radix = switch_modes(site.switches.leaf).radix(rate, site.spec.leaf.reserved_ports)
    managers = site.spec.managers.count * site.spec.managers.links if site.spec.managers else 0
    needed = int(np.bincount(site.endpoints.plane).max()) + managers
    if needed > radix:
        raise UnbuildableError(
            f"one {site.switches.leaf.id} has {counted(radix, 'port')}, {needed:,} are needed; {site.largest_switch(rate)}",
            f"leaf-spine with {site.switches.leaf.id}",
        )
    one = replace(site, spec=site.spec.model_copy(update={"tiers": 1, "unit_servers": None}))
    return wire_clos_planes(one, group_packed)
