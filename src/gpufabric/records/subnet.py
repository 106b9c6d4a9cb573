"""An InfiniBand subnet as a netlist tells it: nodes with numbered ports, and the cables between them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

MAX_UNICAST_LIDS = 0xBFFF
"""LIDs 0x0001 to 0xBFFF are unicast (InfiniBand Architecture Specification, volume 1, section 4.1.3)."""
MAX_NODE_PORTS = 254
"""Port numbers are one byte, and 255 says that there is no way."""


@dataclass(frozen=True, slots=True)
class Subnet:
    """Nodes and links of one subnet. N nodes, L links; the subnet manager runs on node 0.

    Attributes
    ----------
    names : tuple of str, N
        Unique.
    is_switch : bool array, N
    ports : int16 array, N
        How many ports each node has; they are numbered from 1.
    guid : int64 array, N
        Node GUIDs. A switch's port GUID is its node GUID, port *p* of an adapter has node GUID + *p*.
    link_node : int32 array, (L, 2)
    link_port : int16 array, (L, 2)
    """

    names: tuple[str, ...]
    is_switch: NDArray[np.bool_]
    ports: NDArray[np.int16]
    guid: NDArray[np.int64]
    link_node: NDArray[np.int32]
    link_port: NDArray[np.int16]

    def __len__(self) -> int:
        return len(self.names)
