"""Leaves, spines and cores of one fabric, plane by plane: leaf-spine, fat tree, rail-optimized and multi-plane are all this."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gpufabric.records.cluster import DeviceKind, Role
from gpufabric.topologies.clos_design import ClosDesign, size_plane
from gpufabric.topologies.clos_sizing import ClosSizes
from gpufabric.topologies.cluster_draft import ClusterDraft
from gpufabric.topologies.leaf_groups import GroupLeaves, LeafGroups, rank_in_group
from gpufabric.topologies.server_endpoints import Endpoints
from gpufabric.topologies.switch_ports import PortBlock, SwitchModes, switch_modes


@dataclass(frozen=True, slots=True)
class ClosPlane:
    """What one wired plane consists of: device indices by tier, and the free down ports that a full leaf still has."""

    leaves: NDArray[np.int32]
    leaf_used: NDArray[np.int64]
    leaf_block: PortBlock
    tiers: int


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
            spines = self._add_spines(sizes, -(-groups.count // sizes.pod_leaves), plane)
            self._connect_leaves(sizes, leaves, spines, plane, block)
            if sizes.tiers > 2:
                self._add_and_connect_cores(sizes, spines, plane)
        elif sizes.leaf_up:
            self._reserve_uplinks(sizes.leaf_up, leaves, plane, block)
        return ClosPlane(leaves, used, block, sizes.tiers)

    def _add_switches(
        self, role: int, count: int, plane: int, **columns: NDArray[np.integer]
    ) -> NDArray[np.int32]:
        part = {
            Role.LEAF: self._design.parts.leaf,
            Role.SPINE: self._design.parts.spine,
            Role.CORE: self._design.parts.core,
        }
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
    def _spine_reserve(self) -> int:
        return self._design.spine_reserve

    @property
    def _planes(self) -> int:
        return self._design.spec.planes or 1

    def _connect_servers(
        self,
        endpoints: Endpoints,
        groups: LeafGroups,
        leaves: NDArray[np.int32],
        plane: int,
        block: PortBlock,
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
        self,
        device: NDArray[np.int32],
        port: NDArray[np.integer],
        block: PortBlock,
        plane: int,
        **columns: NDArray[np.integer] | bool,
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

    def _add_spines(self, sizes: ClosSizes, pods: int, plane: int) -> NDArray[np.int32]:
        pod = np.repeat(np.arange(pods), sizes.spines) if sizes.tiers > 2 else np.full(sizes.spines, -1)
        return self._add_switches(Role.SPINE, pods * sizes.spines, plane, pod=pod)

    def _up_block(self, modes: SwitchModes, count: int, below: PortBlock, reserved: int) -> PortBlock:
        held = modes.block(below.count + reserved, below.bytes_per_s)
        return modes.block(count, self._design.up_bytes_per_s, 1 + held.cages)

    def _connect_leaves(
        self,
        sizes: ClosSizes,
        leaves: NDArray[np.int32],
        spines: NDArray[np.int32],
        plane: int,
        block: PortBlock,
    ) -> None:
        leaf, uplink, spine_in_pod = spread_uplinks(sizes.leaves, sizes.leaf_up, sizes.spines)
        spine = leaf // sizes.pod_leaves * sizes.spines + spine_in_pod
        leaf_modes = switch_modes(self._design.parts.leaf)
        up = self._up_block(leaf_modes, sizes.leaf_up, block, self._design.spec.leaf.reserved_ports)
        port = rank_in_group(spine)
        wired = leaf < len(leaves)
        lower = self._switch_ports(leaves[leaf[wired]], uplink[wired], up, plane)
        down = switch_modes(self._design.parts.spine).block(
            self._spine_down(sizes), self._design.up_bytes_per_s
        )
        upper = self._switch_ports(spines[spine[wired]], port[wired], down, plane)
        self._draft.add_links(lower, upper, self._design.up_bytes_per_s)
        # What leaves to come will be plugged into stays free; the spines of pods to come are bought with them.
        held = ~wired & (spine < len(spines))
        self._switch_ports(spines[spine[held]], port[held], down, plane, reserved=True)
        self._hold(spines, down, self._spine_reserve, plane)

    @staticmethod
    def _spine_down(sizes: ClosSizes) -> int:
        return -(-sizes.pod_leaves * sizes.leaf_up // sizes.spines)

    def _add_and_connect_cores(self, sizes: ClosSizes, spines: NDArray[np.int32], plane: int) -> None:
        cores = self._add_switches(Role.CORE, sizes.spines * sizes.cores, plane)
        grown = sizes.pods * sizes.spines
        spine, uplink, core_in_group = spread_uplinks(grown, sizes.spine_up, sizes.cores, sizes.spines)
        core = spine % sizes.spines * sizes.cores + core_in_group
        rate = self._design.up_bytes_per_s
        modes = switch_modes(self._design.parts.spine)
        below = modes.block(self._spine_down(sizes), rate)
        up = self._up_block(modes, sizes.spine_up, below, self._spine_reserve)
        wired = spine < len(spines)
        port = rank_in_group(core)
        lower = self._switch_ports(spines[spine[wired]], uplink[wired], up, plane)
        down = switch_modes(self._design.parts.core).block(int(np.bincount(core).max()), rate)
        upper = self._switch_ports(cores[core[wired]], port[wired], down, plane)
        self._draft.add_links(lower, upper, rate)
        self._switch_ports(cores[core[~wired]], port[~wired], down, plane, reserved=True)
        self._hold(cores, down, self._design.spec.core.reserved_ports, plane)

    def _hold(self, switches: NDArray[np.int32], block: PortBlock, count: int, plane: int) -> None:
        """Reserve the *count* ports after a block of down ports."""
        port = np.tile(np.arange(block.count, block.count + count), len(switches))
        self._switch_ports(np.repeat(switches, count), port, block, plane, reserved=True)

    def _reserve_uplinks(self, count: int, leaves: NDArray[np.int32], plane: int, block: PortBlock) -> None:
        up = self._up_block(
            switch_modes(self._design.parts.leaf), count, block, self._design.spec.leaf.reserved_ports
        )
        leaf = np.repeat(leaves, count)
        self._switch_ports(leaf, np.tile(np.arange(count), len(leaves)), up, plane, reserved=True)


def spread_uplinks(
    switches: int, uplinks: int, uppers: int, stride: int = 1
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return, for each uplink of each switch, the switch, the uplink's number and the upper switch (of *uppers*) it goes to.

    Where *uppers* divides *uplinks*, neighbouring uplinks go to the same upper switch, so that both ports of a twin-port cage
    end in one cage. Otherwise the remainder rotates over the switches (counted in steps of *stride*), so that all upper switches
    get
    equally many links to within one.
    """
    switch = np.repeat(np.arange(switches), uplinks)
    uplink = np.tile(np.arange(uplinks), switches)
    if uplinks % uppers == 0:
        return switch, uplink, uplink // (uplinks // uppers)
    return switch, uplink, (switch // stride * uplinks + uplink) % uppers


def _pods(sizes: ClosSizes, leaf: NDArray[np.int64]) -> NDArray[np.int64]:
    return leaf // sizes.pod_leaves if sizes.tiers > 2 else np.full(len(leaf), -1)
