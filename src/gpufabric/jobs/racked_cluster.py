"""A description → the wired cluster in its racks, with cables as long as their ways."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from gpufabric.catalog.load import Catalog
from gpufabric.floorplan import device_power, kept_power_w, measure, place, with_power, with_racks
from gpufabric.jobs.load_parts import replaced_parts
from gpufabric.records.cluster import Cluster
from gpufabric.records.cluster_spec import ClusterSpec
from gpufabric.records.floor_plan import FloorPlan
from gpufabric.records.part_set import PartSet
from gpufabric.topologies import assign_assemblies, resolve_parts, wire_cluster, with_cables

# Transceivers depend on cable lengths, and lengths on how full racks are: a second round nearly always settles both.
_ROUNDS = 4


@dataclass(frozen=True)
class RackedCluster:
    """A cluster, the floor plan that its cable lengths come from, and its parts.

    ``assumptions`` names the shipped parts that the user's own replace in this cluster; every result on it repeats them.
    """

    cluster: Cluster
    floor_plan: FloorPlan
    parts: PartSet
    assumptions: tuple[str, ...] = ()


def racked_cluster(spec: ClusterSpec, catalog: Catalog) -> RackedCluster:
    """Wire the cluster that *spec* describes, place it in racks, measure the ways of its links and choose their cables.

    Racks are filled again while a device draws more with its transceivers than its rack has kept for it.

    Raises
    ------
    SpecError, PartError
        If the description names what does not exist.
    UnbuildableError
        If the fabric can't be wired, or not with the cables asked for.
    """
    parts = resolve_parts(spec, catalog)
    wired = wire_cluster(spec, catalog, parts)
    kept = kept_power_w(wired, parts)
    for _ in range(_ROUNDS):
        plan = place(wired, spec, parts, kept)
        racked = with_racks(wired, plan)
        lengths = measure(racked, plan, spec.room)
        cluster = assign_assemblies(racked, spec, parts, catalog, lengths)
        bought = with_cables(parts, cluster, catalog)
        needed = kept_power_w(cluster, bought)
        if (needed <= kept).all():
            break
        kept = np.maximum(kept, needed)
    plan = with_power(replace(plan, lengths=lengths), device_power(cluster, bought))
    return RackedCluster(cluster, plan, bought, replaced_parts(catalog, bought))
