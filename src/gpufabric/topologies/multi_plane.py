"""Several separate folded Clos fabrics side by side; a NIC, or a port of a NIC, belongs to one of them.

DeepSeek's cluster has one plane for each GPU–NIC pair: "Insights into DeepSeek-V3", ISCA 2025, https://arxiv.org/abs/2505.09343.
"""

from __future__ import annotations

from gpufabric.errors import UnbuildableError
from gpufabric.topologies.fabric_rows import WiredPlane
from gpufabric.topologies.leaf_groups import group_packed
from gpufabric.topologies.plane_split import FabricSite, wire_clos_planes


def build(site: FabricSite) -> list[WiredPlane]:
    """Wire *site* plane by plane.

    Raises
    ------
    UnbuildableError
        If there is one plane only, or a plane can't be built.
    """
    if site.planes < 2:
        raise UnbuildableError(
            "multi-plane needs planes: 2 or more, and the NIC ports of this server are on one plane",
            "fat-tree, or planes: 8 with eight NICs",
        )
    return wire_clos_planes(site, group_packed)
