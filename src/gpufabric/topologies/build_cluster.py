"""A validated description → the wired cluster."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np

from gpufabric.errors import SpecError, UnbuildableError
from gpufabric.records.cluster import Cluster, DeviceKind, Fabric, Role
from gpufabric.records.cluster_spec import ClusterSpec, FabricSpec
from gpufabric.records.part_set import PartSet
from gpufabric.records.parts import InsideNic
from gpufabric.topologies import fat_tree, full_mesh, leaf_spine, multi_plane, rail_optimized, single_switch
from gpufabric.topologies.cabling import assign_assemblies
from gpufabric.topologies.cluster_draft import ClusterDraft
from gpufabric.topologies.folded_clos import ClosPlane
from gpufabric.topologies.plane_split import FabricSite, assign_planes
from gpufabric.topologies.resolve_parts import PartSource, resolve_parts, server_of
from gpufabric.topologies.server_endpoints import PlacedGroup, collect_endpoints, fabric_nics
from gpufabric.topologies.tier_parts import check_nics_speak, tier_parts

TOPOLOGIES: Mapping[str, Callable[[FabricSite], list[ClosPlane]]] = {
    "full-mesh": full_mesh.build,
    "single-switch": single_switch.build,
    "leaf-spine": leaf_spine.build,
    "fat-tree": fat_tree.build,
    "rail-optimized": rail_optimized.build,
    "multi-plane": multi_plane.build,
}
SWITCHLESS = frozenset({"full-mesh"})
WITHOUT_UNITS = frozenset({"full-mesh", "single-switch", "dragonfly", "torus"})
RAILED = frozenset({"rail-optimized", "rail-only"})
MAX_GPUS = 2_000_000


def build_cluster(spec: ClusterSpec, catalog: PartSource) -> Cluster:
    """Return the cluster that *spec* describes, wired and cabled; without a floor plan lengths are those of the description.

    Raises
    ------
    SpecError, PartError
        If the description names what does not exist.
    UnbuildableError
        If the fabric can't be wired; it names the nearest that can.
    """
    parts = resolve_parts(spec, catalog)
    return assign_assemblies(wire_cluster(spec, catalog, parts), spec, parts, catalog)


def wire_cluster(spec: ClusterSpec, catalog: PartSource, parts: PartSet) -> Cluster:
    """Return the cluster that *spec* describes, every port assigned and no cable chosen yet.

    Raises
    ------
    SpecError, PartError
        If the description names what does not exist.
    UnbuildableError
        If the fabric can't be wired; it names the nearest that can.
    """
    if spec.grow_to and all(_grow_to(spec, fabric) is None for fabric in spec.fabrics):
        raise SpecError(
            f"grow_to {spec.grow_to:,} says nothing, because no fabric has scalable units; "
            "allowed beside unit_servers of a fabric; add it or leave grow_to out"
        )
    draft = ClusterDraft(spec.name)
    groups = _add_servers(spec, catalog, draft)
    for fabric in spec.fabrics:
        _add_fabric(spec, fabric, groups, draft, catalog, parts)
    return _with_units(draft.finish())


def _add_servers(spec: ClusterSpec, catalog: PartSource, draft: ClusterDraft) -> list[PlacedGroup]:
    counts = [_count(group.count, group.name) for group in spec.servers]
    servers = [server_of(group.model, catalog) for group in spec.servers]
    gpus = sum(count * len(part.gpus) for count, part in zip(counts, servers, strict=True))
    if gpus > MAX_GPUS:
        raise UnbuildableError(f"{gpus:,} GPUs are more than gpufabric wires", f"{MAX_GPUS:,} GPUs")
    groups = []
    first = 0
    for group, part, count in zip(spec.servers, servers, counts, strict=True):
        kind = DeviceKind.STORAGE if group.purpose == "storage" else DeviceKind.SERVER
        role = Role.STORAGE if group.purpose == "storage" else Role.SERVER
        index = np.arange(first, first + count)
        devices = draft.add_devices(count, kind=kind, role=role, part=draft.part(part.id), index=index)
        draft.add_gpus(devices, len(part.gpus), part.scale_up.domain_servers)
        groups.append(PlacedGroup(group, part, devices))
        first += count
    return groups


def _count(count: int | None, name: str) -> int:
    if count is None:
        raise SpecError(f'servers "{name}": count is missing; write count: N, or units: N beside a preset')
    return count


def _add_fabric(
    spec: ClusterSpec,
    fabric: FabricSpec,
    groups: list[PlacedGroup],
    draft: ClusterDraft,
    catalog: PartSource,
    parts: PartSet,
) -> None:
    build = TOPOLOGIES.get(fabric.topology)
    if build is None:
        raise UnbuildableError(
            f'fabric "{fabric.name}": topology {fabric.topology} is not built yet; known: {", ".join(TOPOLOGIES)}',
            "rail-optimized or fat-tree",
        )
    meshed = fabric.topology in SWITCHLESS
    own = collect_endpoints(groups, fabric, spec.fabrics[0].name, dict(parts.nics))
    if meshed and fabric.planes not in (None, 1):
        raise UnbuildableError(f"a full mesh has one plane, {fabric.planes} are asked for", "planes: 1")
    endpoints, planes = assign_planes(own, 1 if meshed else fabric.planes)
    tiers = None if meshed else tier_parts(fabric, catalog)
    nics = [parts.nics[part] for part in sorted({n.part for g in groups for n in _nics_of(g, fabric, spec)})]
    network = fabric.network or (tiers.leaf.network if tiers else nics[0].networks[0])
    check_nics_speak(network, fabric.name, nics)
    record = Fabric(fabric.name, fabric.topology, network, planes, 0, fabric.routing)
    index = draft.add_fabric(record)
    settled = fabric.model_copy(update={"planes": planes, "grow_to_units": _grow_to(spec, fabric)})
    built = build(FabricSite(draft, index, settled, tiers, endpoints, planes, catalog))
    draft.replace_fabric(index, replace(record, tiers=max((plane.tiers for plane in built), default=0)))


def _grow_to(spec: ClusterSpec, fabric: FabricSpec) -> int | None:
    """Return the units that a fabric must be able to grow to; the cluster's ``grow_to`` is for fabrics with units."""
    if fabric.grow_to_units is not None and fabric.topology in WITHOUT_UNITS:
        raise UnbuildableError(
            f'fabric "{fabric.name}": topology {fabric.topology} has no units to grow by',
            "rail-optimized, leaf-spine or fat-tree with unit_servers, or no grow_to_units",
        )
    has_units = fabric.topology not in WITHOUT_UNITS and (
        fabric.unit_servers is not None or fabric.topology in RAILED
    )
    return fabric.grow_to_units or (spec.grow_to if has_units else None)


def _nics_of(group: PlacedGroup, fabric: FabricSpec, spec: ClusterSpec) -> list[InsideNic]:
    return [group.part.nics[n] for n in fabric_nics(group, fabric, spec.fabrics[0].name)]


def _with_units(cluster: Cluster) -> Cluster:
    """Give each server the unit of the first leaf that it is linked to."""
    upper = cluster.link_device_b
    to_leaf = cluster.devices.role[upper] == Role.LEAF
    unit = cluster.devices.unit.copy()
    unit[cluster.link_device_a[to_leaf][::-1]] = cluster.devices.unit[upper[to_leaf][::-1]]
    return replace(cluster, devices=replace(cluster.devices, unit=unit))
