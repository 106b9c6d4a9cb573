"""Leaves, spines and cores of one fabric, plane by plane: every topology with tiers is this."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gpufabric.records.cluster import Role
from gpufabric.topologies.clos_design import ClosDesign, size_plane
from gpufabric.topologies.clos_sizing import ClosSizes
from gpufabric.topologies.cluster_draft import ClusterDraft
from gpufabric.topologies.fabric_rows import FabricRows, WiredPlane
from gpufabric.topologies.leaf_groups import GroupLeaves, rank_in_group
from gpufabric.topologies.server_endpoints import Endpoints
from gpufabric.topologies.switch_ports import PortBlock, SwitchModes, switch_modes


class ClosWiring:
    """Adds planes of one fabric to a draft."""

    def __init__(self, draft: ClusterDraft, design: ClosDesign, fabric: int) -> None:
        parts = design.parts
        part_of_role = {Role.LEAF: parts.leaf, Role.SPINE: parts.spine, Role.CORE: parts.core}
        self._design = design
        self._rows = FabricRows(draft, fabric, design.spec.planes or 1, part_of_role)

    def add_plane(self, endpoints: Endpoints, plane: int, group: GroupLeaves) -> WiredPlane:
        """Wire the server ports of one plane and return what was built.

        Raises
        ------
        UnbuildableError
            If the plane can't be sized.
        """
        rows = self._rows
        groups = group(endpoints, self._design.leaf_room)
        sizes = size_plane(self._design, groups)
        pod = _pods(sizes, np.arange(groups.count))
        leaves = rows.add_switches(
            Role.LEAF, groups.count, plane, unit=groups.unit, rail=groups.rail, pod=pod
        )
        block = switch_modes(self._design.parts.leaf).block(groups.down, self._design.down_bytes_per_s)
        used = rows.connect_servers(endpoints, groups.leaf, leaves, block, plane)
        rows.hold(leaves, block, self._design.spec.leaf.reserved_ports, plane)
        rail = groups.only_rail
        if sizes.tiers > 1:
            pods = -(-groups.count // sizes.pod_leaves)
            spines = self._add_spines(sizes, pods, plane, rail)
            self._connect_leaves(sizes, leaves, spines, plane, block)
            if sizes.tiers > 2:
                self._add_and_connect_cores(sizes, spines, plane, rail)
        elif sizes.leaf_up:
            self._reserve_uplinks(sizes.leaf_up, leaves, plane, block)
        return WiredPlane(leaves, used, block, sizes.tiers)

    def _add_spines(self, sizes: ClosSizes, pods: int, plane: int, rail: int) -> NDArray[np.int32]:
        pod = np.repeat(np.arange(pods), sizes.spines) if sizes.tiers > 2 else np.full(sizes.spines, -1)
        return self._rows.add_switches(Role.SPINE, pods * sizes.spines, plane, pod=pod, rail=rail)

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
        rows, design = self._rows, self._design
        leaf, uplink, spine_in_pod = spread_uplinks(sizes.leaves, sizes.leaf_up, sizes.spines)
        spine = leaf // sizes.pod_leaves * sizes.spines + spine_in_pod
        leaf_modes = switch_modes(design.parts.leaf)
        up = self._up_block(leaf_modes, sizes.leaf_up, block, design.spec.leaf.reserved_ports)
        port = rank_in_group(spine)
        wired = leaf < len(leaves)
        lower = rows.switch_ports(leaves[leaf[wired]], uplink[wired], up, plane)
        down = switch_modes(design.parts.spine).block(self._spine_down(sizes), design.up_bytes_per_s)
        upper = rows.switch_ports(spines[spine[wired]], port[wired], down, plane)
        rows.link(lower, upper, design.up_bytes_per_s)
        # What leaves to come will be plugged into stays free; the spines of pods to come are bought with them.
        held = ~wired & (spine < len(spines))
        rows.switch_ports(spines[spine[held]], port[held], down, plane, reserved=True)
        rows.hold(spines, down, design.spine_reserve, plane)

    @staticmethod
    def _spine_down(sizes: ClosSizes) -> int:
        return -(-sizes.pod_leaves * sizes.leaf_up // sizes.spines)

    def _add_and_connect_cores(
        self, sizes: ClosSizes, spines: NDArray[np.int32], plane: int, rail: int
    ) -> None:
        rows, design = self._rows, self._design
        cores = rows.add_switches(Role.CORE, sizes.spines * sizes.cores, plane, rail=rail)
        grown = sizes.pods * sizes.spines
        spine, uplink, core_in_group = spread_uplinks(grown, sizes.spine_up, sizes.cores, sizes.spines)
        core = spine % sizes.spines * sizes.cores + core_in_group
        rate = design.up_bytes_per_s
        modes = switch_modes(design.parts.spine)
        below = modes.block(self._spine_down(sizes), rate)
        up = self._up_block(modes, sizes.spine_up, below, design.spine_reserve)
        wired = spine < len(spines)
        port = rank_in_group(core)
        lower = rows.switch_ports(spines[spine[wired]], uplink[wired], up, plane)
        down = switch_modes(design.parts.core).block(int(np.bincount(core).max()), rate)
        upper = rows.switch_ports(cores[core[wired]], port[wired], down, plane)
        rows.link(lower, upper, rate)
        rows.switch_ports(cores[core[~wired]], port[~wired], down, plane, reserved=True)
        rows.hold(cores, down, design.spec.core.reserved_ports, plane)

    def _reserve_uplinks(self, count: int, leaves: NDArray[np.int32], plane: int, block: PortBlock) -> None:
        leaf_modes = switch_modes(self._design.parts.leaf)
        up = self._up_block(leaf_modes, count, block, self._design.spec.leaf.reserved_ports)
        port = np.tile(np.arange(count), len(leaves))
        self._rows.switch_ports(np.repeat(leaves, count), port, up, plane, reserved=True)


def spread_uplinks(
    switches: int, uplinks: int, uppers: int, stride: int = 1
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return, for each uplink of each switch, the switch, the uplink's number and the upper switch (of *uppers*) it goes to.

    Where *uppers* divides *uplinks*, neighbouring uplinks go to the same upper switch, so that both ports of a twin-port cage
    end in one cage. Otherwise the remainder rotates over the switches (counted in steps of *stride*), so that all upper switches
    get equally many links to within one.
    """
    switch = np.repeat(np.arange(switches), uplinks)
    uplink = np.tile(np.arange(uplinks), switches)
    if uplinks % uppers == 0:
        return switch, uplink, uplink // (uplinks // uppers)
    return switch, uplink, (switch // stride * uplinks + uplink) % uppers


def _pods(sizes: ClosSizes, leaf: NDArray[np.int64]) -> NDArray[np.int64]:
    return leaf // sizes.pod_leaves if sizes.tiers > 2 else np.full(len(leaf), -1)
