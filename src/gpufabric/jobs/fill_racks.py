"""A wired cluster → its floor plan, with racks that hold what every device draws with its transceivers."""

from __future__ import annotations

import numpy as np

from gpufabric.catalog.load import Catalog
from gpufabric.floorplan import kept_power_w, measure, place, with_racks
from gpufabric.records.cluster import Cluster
from gpufabric.records.cluster_spec import ClusterSpec
from gpufabric.records.floor_plan import FloorPlan
from gpufabric.records.part_set import PartSet
from gpufabric.topologies import assign_assemblies, with_cables

ROUNDS = 4


def fill_racks(wired: Cluster, spec: ClusterSpec, parts: PartSet, catalog: Catalog) -> FloorPlan:
    """Return the floor plan of a cluster that has no cables yet.

    Transceivers depend on the lengths of cables, and lengths on the racks: racks are filled again while a device draws more with
    its transceivers than its rack has kept for it, at most four times.

    Raises
    ------
    UnbuildableError
        If the cables asked for don't fit.
    """
    kept = kept_power_w(wired, parts)
    plan = place(wired, spec, parts, kept)
    for _ in range(ROUNDS - 1):
        racked = with_racks(wired, plan)
        cluster = assign_assemblies(racked, spec, parts, catalog, measure(racked, plan, spec.room))
        needed = kept_power_w(cluster, with_cables(parts, cluster, catalog))
        if (needed <= kept).all():
            break
        kept = np.maximum(kept, needed)
        plan = place(wired, spec, parts, kept)
    return plan
