"""A description → the wired cluster in its racks, with cables as long as their ways."""

from __future__ import annotations

from dataclasses import dataclass, replace

from gpufabric.catalog.load import Catalog
from gpufabric.floorplan import device_power, measure, with_power, with_racks
from gpufabric.jobs.fill_racks import fill_racks
from gpufabric.jobs.grown_cluster import grown_cluster, kinds_as_grown, reserved_plan
from gpufabric.jobs.load_parts import replaced_parts
from gpufabric.records.cluster import Cluster
from gpufabric.records.cluster_spec import ClusterSpec
from gpufabric.records.floor_plan import FloorPlan
from gpufabric.records.part_set import PartSet
from gpufabric.topologies import assign_assemblies, resolve_parts, wire_cluster, with_cables

# Transceivers depend on cable lengths, and lengths on how full racks are: a second round nearly always settles both.


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

    With room for growth, devices stand where they will in the grown cluster, and cables are of the kinds that they will be there.

    Raises
    ------
    SpecError, PartError
        If the description names what does not exist.
    UnbuildableError
        If the fabric can't be wired, or not with the cables asked for.
    """
    parts = resolve_parts(spec, catalog)
    wired = wire_cluster(spec, catalog, parts)
    grown, refused = grown_cluster(spec, wired, catalog, parts)
    if grown:
        plan = reserved_plan(grown)
        racked = with_racks(wired, plan)
        lengths = measure(racked, plan, spec.room)
        alike = kinds_as_grown(grown, racked, lengths, (spec, parts))
        cluster = assign_assemblies(racked, spec, parts, catalog, lengths, alike)
    else:
        filled = fill_racks(wired, spec, parts, catalog)
        plan, lengths, cluster = filled.plan, filled.lengths, filled.cluster
    bought = with_cables(parts, cluster, catalog)
    measured = replace(plan, lengths=lengths, assumptions=(*plan.assumptions, *refused))
    powered = with_power(measured, device_power(cluster, bought))
    return RackedCluster(cluster, powered, bought, replaced_parts(catalog, bought))
