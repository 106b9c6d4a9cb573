"""Folded Clos in which NIC *i* of every server of a scalable unit is on the same leaf.

NVIDIA DGX SuperPOD reference architectures describe it: traffic between equal GPU numbers of a unit crosses one switch.
"""

from __future__ import annotations

from gpufabric.topologies.fabric_rows import WiredPlane
from gpufabric.topologies.leaf_groups import group_by_rail
from gpufabric.topologies.plane_split import FabricSite, wire_clos_planes


def build(site: FabricSite) -> list[WiredPlane]:
    """Wire *site* rail by rail. With ``tiers: 1`` the rails meet only inside the servers.

    Raises
    ------
    UnbuildableError
        If the server part names no rails, or three tiers are too few.
    """
    return wire_clos_planes(site, group_by_rail)
