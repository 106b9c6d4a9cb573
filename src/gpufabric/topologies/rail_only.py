"""One fabric a rail; the rails meet only inside the servers' scale-up domains.

Wang, Ghobadi, Shakeri, Zhang, Hasani, "Rail-only: A Low-Cost High-Performance Network for Training LLMs with Trillion
Parameters", https://arxiv.org/abs/2307.12169.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from gpufabric.errors import UnbuildableError
from gpufabric.topologies.fabric_rows import WiredPlane
from gpufabric.topologies.leaf_groups import group_by_rail
from gpufabric.topologies.plane_split import FabricSite, wire_clos_planes


def build(site: FabricSite) -> list[WiredPlane]:
    """Wire each rail of *site* as a fabric of its own, a plane of the cluster, with as many tiers as its servers need.

    Each rail of each plane of the NIC ports becomes a plane, rail by rail.

    Raises
    ------
    UnbuildableError
        If the server part names no rails, or a rail can't be built.
    """
    ends = site.endpoints
    if (ends.rail < 0).any():
        raise UnbuildableError(
            "a NIC of the server has no rail, so it can't be rail-only", "leaf-spine or fat-tree"
        )
    island = np.unique(ends.rail.astype(np.int64) * site.planes + ends.plane, return_inverse=True)[1]
    islands = int(island.max()) + 1
    own = replace(ends, plane=island.astype(np.int16))
    spec = site.spec.model_copy(update={"planes": islands})
    return wire_clos_planes(replace(site, spec=spec, endpoints=own, planes=islands), group_by_rail)
