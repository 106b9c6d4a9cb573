"""A description with room to grow → the cluster that it grows into, and what that one fixes today: places and cable kinds."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from gpufabric.catalog.load import Catalog
from gpufabric.errors import SpecError, UnbuildableError
from gpufabric.floorplan import keep_places, measure
from gpufabric.jobs.fill_racks import fill_racks
from gpufabric.jobs.match_ports import PortMatch, match_ports
from gpufabric.jobs.pair_links import matched_rows, pair_links
from gpufabric.records.cluster import Cluster, Role
from gpufabric.records.cluster_spec import ClusterSpec, FabricSpec, ServerGroup
from gpufabric.records.floor_plan import FloorPlan, LinkLengths, RackPurpose
from gpufabric.records.names import device_names
from gpufabric.records.part_set import PartSet
from gpufabric.topologies import CabledAlike, cabled_alike, wire_cluster
from gpufabric.units import counted


@dataclass(frozen=True, slots=True)
class GrownCluster:
    """The grown cluster in its racks, and the row in it of every device of today's."""

    spec: ClusterSpec
    cluster: Cluster
    plan: FloorPlan
    match: PortMatch
    rows: NDArray[np.int64]


def grown_cluster(
    spec: ClusterSpec, wired: Cluster, catalog: Catalog, parts: PartSet
) -> tuple[GrownCluster | None, tuple[str, ...]]:
    """Return the cluster that *wired* grows into, placed; None where there is no growth or no place can be kept, and why.

    Parameters
    ----------
    spec
    wired
        Built from *spec*.
    catalog
    parts
        Parts of *wired*; those of the grown cluster are the same.
    """
    grown, units = grown_spec(spec, wired)
    if grown is None:
        return None, ()
    refusal = f"racks for growth to {counted(units, 'unit')} are not reserved"
    try:
        cluster = wire_cluster(grown, catalog, parts)
    except (SpecError, UnbuildableError) as error:
        return None, (f"{refusal}: the grown cluster can't be wired: {error}",)
    match = match_ports(wired, cluster)
    found, rows = matched_rows(match.old_device, match.new_device)
    missing = np.setdiff1d(np.arange(len(wired.devices)), found)
    if len(missing):
        first = device_names(wired, missing[:1])[0]
        return None, (
            f"{refusal}: {counted(len(missing), 'device')} of today, such as {first}, will have another name",
        )
    plan = fill_racks(cluster, grown, parts, catalog).plan
    return GrownCluster(grown, cluster, plan, match, rows), ()


def reserved_plan(grown: GrownCluster) -> FloorPlan:
    """Return the floor plan of today's devices in the places of the grown cluster, and say so in its assumptions."""
    plan = keep_places(grown.plan, grown.rows)
    kept = int(np.count_nonzero(plan.racks.purpose == RackPurpose.RESERVED))
    note = f"growth: places are those of the grown cluster; {counted(kept, 'rack place')} stay free for it"
    return replace(plan, assumptions=(*plan.assumptions, note))


def kinds_as_grown(
    grown: GrownCluster, today: Cluster, lengths: LinkLengths, described: tuple[ClusterSpec, PartSet]
) -> CabledAlike:
    """Return what cages of *today* have to be cabled alike for: the ways to devices to come count too.

    Parameters
    ----------
    grown
    today
    lengths
        The ways of today's links. They decide alone for links that the grown cluster doesn't have.
    described
        Description and parts of today's cluster.
    """
    spec, parts = described
    ways = measure(grown.cluster, grown.plan, spec.room)
    own, later = (
        cabled_alike(today, spec, parts, lengths),
        cabled_alike(grown.cluster, grown.spec, parts, ways),
    )
    pairs = pair_links(today, grown.cluster, grown.match)
    longest, paired = own.longest_m.copy(), own.paired.copy()
    longest[pairs.old_kept] = later.longest_m[pairs.new_kept]
    paired[pairs.old_kept] = later.paired[pairs.new_kept]
    return CabledAlike(longest, paired)


def grown_spec(spec: ClusterSpec, wired: Cluster) -> tuple[ClusterSpec | None, int]:
    """Return the description of the grown cluster, without room for more, and its units; None and 0 where it has no room.

    Its main group of servers fills the units but for the server whose place the managers take.

    Parameters
    ----------
    spec
    wired
        Built from *spec*: which fabrics keep room, and for how many units.
    """
    main = next((i for i, group in enumerate(spec.servers) if group.purpose == "compute"), 0)
    group = spec.servers[main]
    at = _growing_fabric(spec, wired, group)
    if at is None:
        return None, 0
    fabric, units = spec.fabrics[at], wired.fabrics[at].grow_units
    taken = 1 if fabric.managers is not None and fabric.managers.takes_server else 0
    unit = fabric.unit_servers or _unit_servers(wired, taken)
    count = units * unit - taken
    if count <= (group.count or 0):
        return None, 0
    servers = list(spec.servers)
    servers[main] = group.model_copy(update={"count": count})
    fabrics = tuple(f.model_copy(update={"grow_to_units": None}) for f in spec.fabrics)
    return spec.model_copy(
        update={"servers": tuple(servers), "fabrics": fabrics, "units": None, "grow_to": None}
    ), units


def _growing_fabric(spec: ClusterSpec, wired: Cluster, group: ServerGroup) -> int | None:
    """Return the fabric with room whose units count: that of the main group's first, or else the first of all."""
    named = [i for i, fabric in enumerate(spec.fabrics) if _names(group, fabric)]
    order = [*named, *(i for i in range(len(spec.fabrics)) if i not in named)]
    return next((i for i in order if wired.fabrics[i].grow_units), None)


def _names(group: ServerGroup, fabric: FabricSpec) -> bool:
    return fabric.name in (group.fabrics or {})


def _unit_servers(wired: Cluster, taken: int) -> int:
    """Return the servers of a unit where the description leaves them to the leaf: those of the largest unit.

    A single unit is also the last one, which gives *taken* places to the managers.
    """
    unit = wired.devices.unit[(wired.devices.role == Role.SERVER) & (wired.devices.unit >= 0)]
    size = np.bincount(unit)
    return int(size.max(initial=1)) + (taken if len(size) == 1 else 0)
