"""Forwarding tables as a subnet manager writes them: for every switch and LID the port that leads there."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

NO_PORT = 255
"""Value of ``out_port`` where a table has no entry."""


@dataclass(frozen=True, slots=True)
class ForwardingTables:
    """Linear forwarding tables of one subnet. S switches, W LIDs counted from 0.

    Attributes
    ----------
    switch_names : tuple of str, S
    switch_guid : int64 array, S
    switch_lid : int32 array, S
    lid_names : tuple of str, W
        Node description of the end port or switch that has each LID; empty where none has it.
    lid_guid : int64 array, W
        Port GUID; 0 where none has the LID.
    lid_is_switch : bool array, W
    out_port : uint8 array, (S, W)
        Port by which each switch sends what is for a LID; 0 is the switch itself, ``NO_PORT`` no entry.
    """

    switch_names: tuple[str, ...]
    switch_guid: NDArray[np.int64]
    switch_lid: NDArray[np.int32]
    lid_names: tuple[str, ...]
    lid_guid: NDArray[np.int64]
    lid_is_switch: NDArray[np.bool_]
    out_port: NDArray[np.uint8]

    @property
    def end_port_lids(self) -> NDArray[np.int64]:
        """LIDs of adapters' ports, ascending."""
        named = np.array([bool(name) for name in self.lid_names], np.bool_)
        return np.flatnonzero(named & ~self.lid_is_switch)
