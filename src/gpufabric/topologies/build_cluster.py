"""A validated description → the wired cluster."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np

from gpufabric.errors import SpecError, UnbuildableError
from gpufabric.records.cluster import Cluster, DeviceKind, Fabric, Role
from gpufabric.records.cluster_spec import ClusterSpec, FabricSpec
from gpufabric.records.part_set import PartSet
from gpufabric.topologies import (
    collapsed_spine,
    dragonfly,
    fat_tree,
    full_mesh,
    leaf_spine,
    multi_plane,
    rail_only,
    rail_optimized,
    single_switch,
    torus,
)
from gpufabric.topologies.cabling import assign_assemblies
from gpufabric.topologies.cluster_draft import ClusterDraft
from gpufabric.topologies.fabric_rows import WiredPlane
from gpufabric.topologies.leaf_uplinks import connect_uplinks
from gpufabric.topologies.management_ports import management_endpoints
from gpufabric.topologies.plane_split import FabricSite, assign_planes
from gpufabric.topologies.port_bonds import bond_ports
from gpufabric.topologies.resolve_parts import PartSource, resolve_parts, server_of
from gpufabric.topologies.server_endpoints import PlacedGroup, collect_endpoints, fabric_nics, home_fabrics
from gpufabric.topologies.switch_ports import switch_modes
from gpufabric.topologies.tier_parts import TierParts, check_nics_speak, tier_parts

TOPOLOGIES: Mapping[str, Callable[[FabricSite], list[WiredPlane]]] = {
    "full-mesh": full_mesh.build,
    "single-switch": single_switch.build,
    "leaf-spine": leaf_spine.build,
    "fat-tree": fat_tree.build,
    "rail-optimized": rail_optimized.build,
    "rail-only": rail_only.build,
    "multi-plane": multi_plane.build,
    "collapsed-spine": collapsed_spine.build,
    "dragonfly": dragonfly.build,
    "torus": torus.build,
}
SWITCHLESS = frozenset({"full-mesh"})
OUT_OF_BAND = "out-of-band"
WITHOUT_UNITS = frozenset({"full-mesh", "single-switch", "collapsed-spine", "dragonfly", "torus"})
RAILED = frozenset({"rail-optimized", "rail-only"})
MAX_GPUS = 2_000_000
_KIND_AND_ROLE = {
    "compute": (DeviceKind.SERVER, Role.SERVER),
    "storage": (DeviceKind.STORAGE, Role.STORAGE),
    "management": (DeviceKind.MANAGER, Role.MANAGER),
}


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
    _check_groups_are_connected(spec, groups)
    wired: dict[str, list[WiredPlane]] = {}
    for index, fabric in enumerate(spec.fabrics):
        site = _site(spec, fabric, groups, draft, (catalog, parts))
        planes = _wire(site, wired)
        wired[fabric.name] = planes
        room = site.spec.grow_to_units or 0
        record = Fabric(fabric.name, fabric.topology, site.network, len(planes) or 1, 0, fabric.routing, room)
        draft.replace_fabric(index, replace(record, tiers=max((p.tiers for p in planes), default=0)))
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
        kind, role = _KIND_AND_ROLE[group.purpose]
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


def _check_groups_are_connected(spec: ClusterSpec, groups: list[PlacedGroup]) -> None:
    homes = home_fabrics(spec)
    if OUT_OF_BAND in homes:
        return
    for group in groups:
        if group.spec.fabrics is None and not any(
            fabric_nics(group, fabric, homes) for fabric in spec.fabrics
        ):
            name = f'servers "{group.spec.name}"'
            if not group.part.nics:
                raise SpecError(
                    f"{name}: no fabric connects them, because {group.part.id} has no NIC; add nics to the server, "
                    "or leave them out of every fabric with fabrics: {}"
                )
            raise SpecError(
                f"{name}: no fabric connects them (purpose {group.spec.purpose}); "
                "name their NICs under fabrics: {FABRIC: [...]}, give a fabric this purpose, or leave them out with fabrics: {}"
            )


def _site(
    spec: ClusterSpec,
    fabric: FabricSpec,
    groups: list[PlacedGroup],
    draft: ClusterDraft,
    sources: tuple[PartSource, PartSet],
) -> FabricSite:
    """Return what the fabric's topology needs: its server ports with their planes and bonds, and its switches."""
    catalog, parts = sources
    meshed = fabric.topology in SWITCHLESS
    tiers = None if meshed else tier_parts(fabric, catalog)
    homes = home_fabrics(spec)
    if fabric.purpose == OUT_OF_BAND:
        network = _check_out_of_band(spec, fabric, tiers)
        rate = fabric.link_rate or switch_modes(tiers.leaf).cages.modes[0].port_bytes_per_s if tiers else 0.0
        own = management_endpoints(draft, fabric, rate)
    else:
        own = collect_endpoints(groups, fabric, homes, dict(parts.nics))
        used = sorted({g.part.nics[n].part for g in groups for n in fabric_nics(g, fabric, homes)})
        nics = [parts.nics[part] for part in used]
        network = fabric.network or (tiers.leaf.network if tiers else nics[0].networks[0])
        check_nics_speak(network, fabric.name, nics)
    if meshed and fabric.planes not in (None, 1):
        raise UnbuildableError(f"a full mesh has one plane, {fabric.planes} are asked for", "planes: 1")
    endpoints, planes = assign_planes(own, 1 if meshed else fabric.planes)
    endpoints = bond_ports(endpoints, fabric.bond, network)
    index = draft.add_fabric(Fabric(fabric.name, fabric.topology, network, planes, 0, fabric.routing))
    settled = fabric.model_copy(update={"planes": planes, "grow_to_units": _grow_to(spec, fabric)})
    return FabricSite(draft, index, settled, tiers, endpoints, planes, catalog, network)


def _check_out_of_band(spec: ClusterSpec, fabric: FabricSpec, tiers: TierParts | None) -> str:
    later = spec.fabrics[spec.fabrics.index(fabric) + 1 :]
    if any(other.purpose != OUT_OF_BAND for other in later):
        raise SpecError(
            f'fabric "{fabric.name}": an out-of-band fabric connects the switches of the others; write it after them'
        )
    if tiers is None or tiers.leaf.network != "ethernet":
        raise UnbuildableError(
            f'fabric "{fabric.name}": management ports are Ethernet and need switches',
            "leaf-spine with switch: sn2201",
        )
    return tiers.leaf.network


def _wire(site: FabricSite, wired: dict[str, list[WiredPlane]]) -> list[WiredPlane]:
    planes = TOPOLOGIES[site.spec.topology](site)
    if site.spec.uplinks:
        connect_uplinks(site, site.spec.uplinks, planes, wired)
    return planes


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


def _with_units(cluster: Cluster) -> Cluster:
    """Give each server the unit of the first leaf that it is linked to."""
    lower, upper = cluster.link_device_a, cluster.link_device_b
    kind = cluster.devices.kind
    to_leaf = (cluster.devices.role[upper] == Role.LEAF) & (kind[lower] != DeviceKind.SWITCH)
    unit = cluster.devices.unit.copy()
    unit[lower[to_leaf][::-1]] = cluster.devices.unit[upper[to_leaf][::-1]]
    return replace(cluster, devices=replace(cluster.devices, unit=unit))
