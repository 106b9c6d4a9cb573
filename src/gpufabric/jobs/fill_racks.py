"""A wired cluster → its floor plan, with racks that hold what every device draws with its transceivers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gpufabric.catalog.load import Catalog
from gpufabric.floorplan import kept_power_w, measure, place, with_racks
from gpufabric.records.cluster import Cluster
from gpufabric.records.cluster_spec import ClusterSpec
from gpufabric.records.floor_plan import FloorPlan, LinkLengths
from gpufabric.records.part_set import PartSet
from gpufabric.topologies import assign_assemblies, with_cables
from gpufabric.topologies.cabling import links_alike

ROUNDS = 4


@dataclass(frozen=True, slots=True)
class FilledRacks:
    """A floor plan, the way of every link on it, and the cluster in its racks with cables that long."""

    plan: FloorPlan
    lengths: LinkLengths
    cluster: Cluster


def fill_racks(wired: Cluster, spec: ClusterSpec, parts: PartSet, catalog: Catalog) -> FilledRacks:
    """Return a cluster that has no cables yet in racks, with cables.

    Transceivers depend on the lengths of cables, and lengths on the racks: racks are filled again while a device draws more with
    its transceivers than its rack has kept for it, at most four times.

    Raises
    ------
    UnbuildableError
        If the cables asked for don't fit.
    """
    kept = kept_power_w(wired, parts)
    kinds = links_alike(wired, spec, parts)

    def cabled(kept_w: NDArray[np.float64]) -> FilledRacks:
        plan = place(wired, spec, parts, kept_w)
        racked = with_racks(wired, plan)
        lengths = measure(racked, plan, spec.room)
        return FilledRacks(
            plan, lengths, assign_assemblies(racked, spec, parts, catalog, lengths, kinds=kinds)
        )

    filled = cabled(kept)
    for _ in range(ROUNDS - 1):
        needed = kept_power_w(filled.cluster, with_cables(parts, filled.cluster, catalog))
        if (needed <= kept).all():
            break
        kept = np.maximum(kept, needed)
        filled = cabled(kept)
    return filled
