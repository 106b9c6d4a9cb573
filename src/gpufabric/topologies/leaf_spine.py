"""Two tiers, every leaf linked to every spine; all NICs of a server on the same leaf (or the next)."""

from __future__ import annotations

from dataclasses import replace

from gpufabric.topologies.fabric_rows import WiredPlane
from gpufabric.topologies.leaf_groups import group_packed
from gpufabric.topologies.plane_split import FabricSite, wire_clos_planes


def build(site: FabricSite) -> list[WiredPlane]:
    """Wire *site* as leaves and spines; one leaf alone needs no spine.

    Raises
    ------
    UnbuildableError
        If the leaves outnumber the ports of a spine.
    """
    if site.spec.tiers == "auto":
        site = replace(site, spec=site.spec.model_copy(update={"tiers": 2}))
    return wire_clos_planes(site, group_packed)
