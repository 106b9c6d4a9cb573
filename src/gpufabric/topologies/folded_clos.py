"""Leaves, spines and cores of one fabric, plane by plane: leaf-spine, fat tree, rail-optimized and multi-plane are all this."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gpufabric.errors import UnbuildableError
from gpufabric.records.cluster import DeviceKind, Role
from gpufabric.records.cluster_spec import FabricSpec
from gpufabric.topologies.clos_sizing import ClosSizes, Radix, size_three_tiers, size_two_tiers
from gpufabric.topologies.cluster_draft import ClusterDraft
from gpufabric.topologies.leaf_groups import GroupLeaves, LeafGroups, rank_in_group
from gpufabric.topologies.server_endpoints import Endpoints
from gpufabric.topologies.switch_ports import PortBlock, SwitchModes, split_ports, switch_modes, up_ports_for
from gpufabric.topologies.tier_parts import TierParts
from gpufabric.units import format_gbps


@dataclass(frozen=True, slots=True)
class ClosDesign:
    """How one fabric is to be built, the same for each of its planes.

    Attributes
    ----------
    down_bytes_per_s, up_bytes_per_s : float
        Rate of the links to servers and of the links between switches.
    leaf_down, leaf_up : int or None
        Ports of a full leaf; up ports only where the description fixes them.
    """

    spec: FabricSpec
    parts: TierParts
    down_bytes_per_s: float
    up_bytes_per_s: float
    leaf_down: int
    leaf_up: int | None

    def uplinks(self, down: int) -> int:
        """Up ports of a leaf that uses *down* ports."""
        ratio = self.spec.leaf.oversubscription or self.spec.oversubscription
        return self.leaf_up or up_ports_for(down, self.down_bytes_per_s, self.up_bytes_per_s, ratio)


@dataclass(frozen=True, slots=True)
class ClosPlane:
    """What one wired plane consists of: device indices by tier, and the free down ports that a full leaf still has."""

    leaves: NDArray[np.int32]
    leaf_used: NDArray[np.int64]
    leaf_block: PortBlock
    tiers: int


def design_clos(spec: FabricSpec, parts: TierParts, nic_bytes_per_s: float) -> ClosDesign:
    """Return the design that *spec* asks for.

    Raises
    ------
    UnbuildableError
        If the leaf switch can't offer the ports.
    """
    down_rate = spec.link_rate or nic_bytes_per_s
    if down_rate > nic_bytes_per_s * (1 + 1e-9):
        raise UnbuildableError(*_faster_than_nic(down_rate, nic_bytes_per_s))
    up_rate = spec.uplink_rate or down_rate
    modes = switch_modes(parts.leaf)
    reserved = spec.leaf.reserved_ports
    if spec.tiers == 1 and spec.leaf.ports_up is None:
        down, up = modes.radix(down_rate, reserved), None
        return ClosDesign(spec, parts, down_rate, up_rate, min(down, spec.leaf.ports_down or down), up)
    down = spec.leaf.ports_down
    if down is None:
        ratio = spec.leaf.oversubscription or spec.oversubscription
        down = split_ports(modes, down_rate, up_rate, ratio, reserved)[0]
        while spec.leaf.ports_up is not None and not modes.fits(down + reserved, down_rate, spec.leaf.ports_up, up_rate):
            down -= 1
    design = ClosDesign(spec, parts, down_rate, up_rate, down, spec.leaf.ports_up)
    if down < 1 or not modes.fits(down + reserved, down_rate, design.uplinks(down), up_rate):
        raise UnbuildableError(
            f"leaf switch {parts.leaf.id} can't hold {down} ports down and {design.uplinks(max(down, 1))} up with {reserved} reserved",
            f"{split_ports(modes, down_rate, up_rate, spec.oversubscription, reserved)[0]} ports down",
        )
    return design


def _faster_than_nic(asked: float, nic: float) -> tuple[str, str]:
    return (
        f"link_rate {format_gbps(asked)} is more than the NIC ports do ({format_gbps(nic)})",
        f"link_rate {format_gbps(nic)}",
    )


def size_plane(design: ClosDesign, groups: LeafGroups) -> ClosSizes:
    """Return tiers, spines and cores for the leaves of one plane.

    Raises
    ------
    UnbuildableError
        If the tiers asked for can't reach every leaf.
    """
    spec = design.spec
    leaf_up = design.uplinks(groups.down)
    if groups.count == 1 or spec.tiers == 1:
        return ClosSizes(1, groups.count, 0 if spec.leaf.ports_up is None else leaf_up, 1, groups.count, 0, 0, 0)
    rate = design.up_bytes_per_s
    spine_modes = switch_modes(design.parts.spine)
    alone = min(spec.spine.ports_down or 10**9, spine_modes.radix(rate, spec.spine.reserved_ports))
    if spec.tiers == 2 or (spec.tiers == "auto" and groups.count <= alone):
        return size_two_tiers(groups.count, leaf_up, Radix(alone, alone, 0), spec.spine.count)
    ratio = spec.spine.oversubscription or spec.oversubscription
    down = spec.spine.ports_down or split_ports(spine_modes, rate, rate, ratio, spec.spine.reserved_ports)[0]
    core = switch_modes(design.parts.core).radix(rate, spec.core.reserved_ports + spec.reserved_cores)
    pod = spec.pod_leaves or max(down // groups.leaves_per_unit * groups.leaves_per_unit, down if groups.leaves_per_unit > down else 1)

    def spine_up_of(used: int) -> int:
        return spec.spine.ports_up or up_ports_for(used, rate, rate, ratio)

    return size_three_tiers(
        groups.count, leaf_up, Radix(alone, down, core), pod, spine_up_of, (spec.spine.count, spec.core.count)
    )


class ClosWiring:
    """Adds planes of one fabric to a draft."""

    def __init__(self, draft: ClusterDraft, design: ClosDesign, fabric: int) -> None:
        self._draft = draft
        self._design = design
        self._fabric = fabric
        self._switches = {Role.LEAF: 0, Role.SPINE: 0, Role.CORE: 0}

    def add_plane(self, endpoints: Endpoints, plane: int, group: GroupLeaves) -> ClosPlane:
        """Wire the server ports of one plane and return what was built.

        Raises
        ------
        UnbuildableError
            If the plane can't be sized.
        """
        groups = group(endpoints, self._design.leaf_down, self._design.spec.unit_servers)
        sizes = size_plane(self._design, groups)
        leaf_of = np.arange(groups.count)
        leaves = self._add_switches(
            Role.LEAF, groups.count, plane, unit=groups.unit, rail=groups.rail, pod=_pods(sizes, leaf_of)
        )
        block = switch_modes(self._design.parts.leaf).block(groups.down, self._design.down_bytes_per_s)
        used = self._connect_servers(endpoints, groups, leaves, plane, block)
        self._hold(leaves, block, self._design.spec.leaf.reserved_ports, plane)
        if sizes.tiers > 1:
            spines = self._add_spines(sizes, plane)
            self._connect_leaves(sizes, leaves, spines, plane, block)
            if sizes.tiers > 2:
                self._add_and_connect_cores(sizes, spines, plane)
        elif sizes.leaf_up:
            self._reserve_uplinks(sizes.leaf_up, leaves, plane, block)
        return ClosPlane(leaves, used, block, sizes.tiers)

    def _add_switches(self, role: int, count: int, plane: int, **columns: NDArray[np.integer]) -> NDArray[np.int32]:
        part = {Role.LEAF: self._design.parts.leaf, Role.SPINE: self._design.parts.spine, Role.CORE: self._design.parts.core}
        first = self._switches[role]
        self._switches[role] += count
        return self._draft.add_devices(
            count,
            kind=DeviceKind.SWITCH,
            role=role,
            part=self._draft.part(part[role].id),
            fabric=self._fabric,
            plane=plane if self._planes > 1 else -1,
            index=np.arange(first, first + count),
            **columns,
        )

    @property
    def _planes(self) -> int:
        return self._design.spec.planes or 1

    def _connect_servers(
        self, endpoints: Endpoints, groups: LeafGroups, leaves: NDArray[np.int32], plane: int, block: PortBlock
    ) -> NDArray[np.int64]:
        port = rank_in_group(groups.leaf)
        rate = self._design.down_bytes_per_s
        server_port = self._draft.add_ports(
            endpoints.server,
            cage=endpoints.cage,
            lane=endpoints.lane,
            lanes_in_cage=endpoints.lanes_in_cage,
            nic=endpoints.nic,
            bytes_per_s=rate,
            fabric=self._fabric,
            plane=plane,
            rail=endpoints.rail,
        )
        leaf_port = self._switch_ports(leaves[groups.leaf], port, block, plane, rail=endpoints.rail)
        self._draft.add_links(server_port, leaf_port, rate)
        return np.bincount(groups.leaf, minlength=groups.count)

    def _switch_ports(
        self, device: NDArray[np.int32], port: NDArray[np.integer], block: PortBlock, plane: int, **columns: NDArray[np.integer] | bool
    ) -> NDArray[np.int32]:
        return self._draft.add_ports(
            device,
            cage=block.cage(port),
            lane=block.lane(port),
            lanes_in_cage=block.per_cage,
            bytes_per_s=block.bytes_per_s,
            fabric=self._fabric,
            plane=plane,
            **columns,
        )

    def _add_spines(self, sizes: ClosSizes, plane: int) -> NDArray[np.int32]:
        pod = np.repeat(np.arange(sizes.pods), sizes.spines) if sizes.tiers > 2 else np.full(sizes.spines, -1)
        return self._add_switches(Role.SPINE, sizes.pods * sizes.spines, plane, pod=pod)

    def _up_block(self, modes: SwitchModes, count: int, below: PortBlock, reserved: int) -> PortBlock:
        held = modes.block(below.count + reserved, below.bytes_per_s)
        return modes.block(count, self._design.up_bytes_per_s, 1 + held.cages)

    def _connect_leaves(
        self, sizes: ClosSizes, leaves: NDArray[np.int32], spines: NDArray[np.int32], plane: int, block: PortBlock
    ) -> None:
        leaf, uplink, spine_in_pod = spread_uplinks(sizes.leaves, sizes.leaf_up, sizes.spines)
        spine = leaf // sizes.pod_leaves * sizes.spines + spine_in_pod
        leaf_modes = switch_modes(self._design.parts.leaf)
        up = self._up_block(leaf_modes, sizes.leaf_up, block, self._design.spec.leaf.reserved_ports)
        lower = self._switch_ports(leaves[leaf], uplink, up, plane)
        down = switch_modes(self._design.parts.spine).block(self._spine_down(sizes), self._design.up_bytes_per_s)
        upper = self._switch_ports(spines[spine], rank_in_group(spine), down, plane)
        self._draft.add_links(lower, upper, self._design.up_bytes_per_s)
        self._hold(spines, down, self._design.spec.spine.reserved_ports, plane)

    @staticmethod
    def _spine_down(sizes: ClosSizes) -> int:
        return -(-sizes.pod_leaves * sizes.leaf_up // sizes.spines)

    def _add_and_connect_cores(self, sizes: ClosSizes, spines: NDArray[np.int32], plane: int) -> None:
        cores = self._add_switches(Role.CORE, sizes.spines * sizes.cores, plane)
        spine, uplink, core_in_group = spread_uplinks(len(spines), sizes.spine_up, sizes.cores, sizes.spines)
        core = spine % sizes.spines * sizes.cores + core_in_group
        rate = self._design.up_bytes_per_s
        modes = switch_modes(self._design.parts.spine)
        below = modes.block(self._spine_down(sizes), rate)
        up = self._up_block(modes, sizes.spine_up, below, self._design.spec.spine.reserved_ports)
        lower = self._switch_ports(spines[spine], uplink, up, plane)
        down = switch_modes(self._design.parts.core).block(int(np.bincount(core).max()), rate)
        upper = self._switch_ports(cores[core], rank_in_group(core), down, plane)
        self._draft.add_links(lower, upper, rate)
        self._hold(cores, down, self._design.spec.core.reserved_ports + self._design.spec.reserved_cores, plane)

    def _hold(self, switches: NDArray[np.int32], block: PortBlock, count: int, plane: int) -> None:
        """Reserve the *count* ports after a block of down ports."""
        port = np.tile(np.arange(block.count, block.count + count), len(switches))
        self._switch_ports(np.repeat(switches, count), port, block, plane, reserved=True)

    def _reserve_uplinks(self, count: int, leaves: NDArray[np.int32], plane: int, block: PortBlock) -> None:
        up = self._up_block(switch_modes(self._design.parts.leaf), count, block, self._design.spec.leaf.reserved_ports)
        leaf = np.repeat(leaves, count)
        self._switch_ports(leaf, np.tile(np.arange(count), len(leaves)), up, plane, reserved=True)


def spread_uplinks(
    switches: int, uplinks: int, uppers: int, stride: int = 1
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return, for each uplink of each switch, the switch, the uplink's number and the upper switch (of *uppers*) it goes to.

    Where *uppers* divides *uplinks*, neighbouring uplinks go to the same upper switch, so that both ports of a twin-port cage end in
    one cage. Otherwise the remainder rotates over the switches (counted in steps of *stride*), so that all upper switches get
    equally many links to within one.
    """
    switch = np.repeat(np.arange(switches), uplinks)
    uplink = np.tile(np.arange(uplinks), switches)
    if uplinks % uppers == 0:
        return switch, uplink, uplink // (uplinks // uppers)
    return switch, uplink, (switch // stride * uplinks + uplink) % uppers


def _pods(sizes: ClosSizes, leaf: NDArray[np.int64]) -> NDArray[np.int64]:
    return leaf // sizes.pod_leaves if sizes.tiers > 2 else np.full(len(leaf), -1)
