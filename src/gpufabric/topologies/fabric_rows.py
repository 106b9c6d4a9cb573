"""Switches, ports and server links of one fabric → rows of the draft; what trees and flat topologies have in common."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gpufabric.records.cluster import DeviceKind, Role
from gpufabric.records.parts import SwitchPart
from gpufabric.topologies.cluster_draft import ClusterDraft
from gpufabric.topologies.leaf_groups import rank_in_group
from gpufabric.topologies.server_endpoints import Endpoints
from gpufabric.topologies.switch_ports import PortBlock


@dataclass(frozen=True, slots=True)
class WiredPlane:
    """One wired plane: the devices of its leaves, how many ports of their down block are taken, and the tiers.

    ``leaf_used`` is a tally that grows while managers and uplinks of other fabrics take free ports.
    """

    leaves: NDArray[np.int32]
    leaf_used: NDArray[np.int64]
    leaf_block: PortBlock
    tiers: int


class FabricRows:
    """Adds rows of one fabric, numbering its switches by role over all planes."""

    def __init__(
        self, draft: ClusterDraft, fabric: int, planes: int, part_of_role: Mapping[int, SwitchPart]
    ) -> None:
        self._draft = draft
        self._fabric = fabric
        self._planes = planes
        self._part_of_role = part_of_role
        self._switches = dict.fromkeys((Role.LEAF, Role.SPINE, Role.CORE), 0)

    def add_switches(
        self, role: int, count: int, plane: int, **columns: NDArray[np.integer] | int
    ) -> NDArray[np.int32]:
        """Append *count* switches of one role and plane and return their devices."""
        first = self._switches[role]
        self._switches[role] += count
        return self._draft.add_devices(
            count,
            kind=DeviceKind.SWITCH,
            role=role,
            part=self._draft.part(self._part_of_role[role].id),
            fabric=self._fabric,
            plane=plane if self._planes > 1 else -1,
            index=np.arange(first, first + count),
            **columns,
        )

    def switch_ports(
        self,
        device: NDArray[np.int32],
        port: NDArray[np.integer],
        block: PortBlock,
        plane: int,
        **columns: NDArray[np.integer] | bool,
    ) -> NDArray[np.int32]:
        """Append ports (numbered from 0 within *block*) of switches and return their rows."""
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

    def connect_servers(
        self,
        endpoints: Endpoints,
        leaf: NDArray[np.integer],
        leaves: NDArray[np.int32],
        block: PortBlock,
        plane: int,
    ) -> NDArray[np.int64]:
        """Link each endpoint to the next free port of its leaf (``leaf`` indexes ``leaves``); return the links of each leaf."""
        server_port = self._draft.add_ports(
            endpoints.server,
            cage=endpoints.cage,
            lane=endpoints.lane,
            lanes_in_cage=endpoints.lanes_in_cage,
            nic=endpoints.nic,
            bytes_per_s=block.bytes_per_s,
            fabric=self._fabric,
            plane=plane,
            rail=endpoints.rail,
            bond=endpoints.bond,
        )
        port = rank_in_group(leaf)
        leaf_port = self.switch_ports(leaves[leaf], port, block, plane, rail=endpoints.rail)
        self.link(server_port, leaf_port, block.bytes_per_s)
        return np.bincount(leaf, minlength=len(leaves))

    def link(self, lower: NDArray[np.int32], upper: NDArray[np.int32], bytes_per_s: float) -> None:
        """Append links between equally many ports."""
        self._draft.add_links(lower, upper, bytes_per_s)

    def hold(self, switches: NDArray[np.int32], block: PortBlock, count: int, plane: int) -> None:
        """Reserve the *count* ports after a block of down ports."""
        port = np.tile(np.arange(block.count, block.count + count), len(switches))
        self.switch_ports(np.repeat(switches, count), port, block, plane, reserved=True)
