"""Folded Clos with as many tiers as the servers need, leaves filled in server order.

A full three-tier tree of k-port switches at 1:1 is the k-ary fat tree of Al-Fares, Loukissas and Vahdat, "A Scalable, Commodity
Data Center Network Architecture", SIGCOMM 2008, https://doi.org/10.1145/1402958.1402967.
"""

from __future__ import annotations

from gpufabric.topologies.fabric_rows import WiredPlane
from gpufabric.topologies.leaf_groups import group_packed
from gpufabric.topologies.plane_split import FabricSite, wire_clos_planes


def build(site: FabricSite) -> list[WiredPlane]:
    """Wire *site* as a fat tree of two or three tiers.

    Raises
    ------
    UnbuildableError
        If three tiers are too few.
    """
    return wire_clos_planes(site, group_packed)
