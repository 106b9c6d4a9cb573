"""A switch part → how many ports it offers at which rate, and in which cage each of them lies."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, floor

import numpy as np
from numpy.typing import NDArray

from gpufabric.errors import UnbuildableError
from gpufabric.records.parts import CageGroup, SplitMode, SwitchPart
from gpufabric.units import format_gbps

_SAME_RATE = 1e-6
MOST_SLOWER = 4  # a port is not advised to run at less than a quarter of its rate


@dataclass(frozen=True, slots=True)
class PortBlock:
    """Equal ports in neighbouring cages: ``count`` ports of ``bytes_per_s``, ``per_cage`` a cage, from cage ``first_cage``.

    ``stride`` is the distance between the cages used (2 where a split disables the next cage).
    """

    count: int
    bytes_per_s: float
    per_cage: int
    first_cage: int
    stride: int = 1

    @property
    def cages(self) -> int:
        """Cages taken, those disabled by a split included."""
        return ceil(self.count / self.per_cage) * self.stride

    def cage(self, port: NDArray[np.integer]) -> NDArray[np.integer]:
        """Cage number of each port of the block (ports counted from 0)."""
        return self.first_cage + port // self.per_cage * self.stride

    def lane(self, port: NDArray[np.integer]) -> NDArray[np.integer]:
        """Lane, from 1, of each port of the block."""
        return 1 + port % self.per_cage


@dataclass(frozen=True, slots=True)
class SwitchModes:
    """The fabric cages of a switch and how it can offer one rate."""

    part: SwitchPart
    cages: CageGroup

    def mode(self, bytes_per_s: float) -> tuple[SplitMode, int]:
        """Return the split mode with the most ports of this rate, and the distance between the cages that it uses.

        Raises
        ------
        UnbuildableError
            If no mode has this rate.
        """
        fitting = [
            (mode, self._stride(mode))
            for mode in self.cages.modes
            if abs(mode.port_bytes_per_s / bytes_per_s - 1) < _SAME_RATE
        ]
        if not fitting:
            rates = sorted({m.port_bytes_per_s for m in self.cages.modes}, reverse=True)
            slower = [r for r in rates if bytes_per_s / MOST_SLOWER <= r < bytes_per_s]
            raise UnbuildableError(
                f"switch {self.part.id} has no {format_gbps(bytes_per_s)} ports; "
                f"its ports do {', '.join(map(format_gbps, rates))}",
                f"links of {format_gbps(slower[0])} (link_rate, uplink_rate), or another switch"
                if slower
                else "another switch",
            )
        return max(fitting, key=lambda pair: pair[0].ports / pair[1])

    def _stride(self, mode: SplitMode) -> int:
        if mode.disables_next_cage:
            return 2
        if self.part.logical_port_limit is not None:
            cages, ports = self.part.logical_port_limit
            return max(1, ceil(mode.ports / max(1, ports // cages)) if mode.ports * cages > ports else 1)
        return 1

    def radix(self, bytes_per_s: float, reserved: int = 0) -> int:
        """Return how many ports the switch has when all its cages run at one rate, less the reserved ones."""
        mode, stride = self.mode(bytes_per_s)
        return max(0, ceil(self.cages.count / stride) * mode.ports - reserved)

    def block(self, count: int, bytes_per_s: float, first_cage: int = 1) -> PortBlock:
        """Return a block of *count* ports of one rate from *first_cage* on."""
        mode, stride = self.mode(bytes_per_s)
        return PortBlock(count, bytes_per_s, mode.ports, first_cage, stride)

    def fits(self, down: int, down_bytes_per_s: float, up: int, up_bytes_per_s: float) -> bool:
        """Whether the cages hold *down* ports of one rate and *up* ports of another."""
        lower, upper = self.block(down, down_bytes_per_s), self.block(up, up_bytes_per_s)
        return lower.cages + upper.cages <= self.cages.count


def switch_modes(part: SwitchPart) -> SwitchModes:
    """Return the fabric cages of a switch (its first group that is for the fabric)."""
    for group in part.cages:
        if group.purpose == "fabric":
            return SwitchModes(part, group)
    raise UnbuildableError(f"switch {part.id} has management ports only", "a switch with fabric ports")


def up_ports_for(down: int, down_bytes_per_s: float, up_bytes_per_s: float, ratio: float) -> int:
    """Return the fewest up ports with which capacity down : capacity up is at most *ratio*."""
    return max(1, ceil(down * down_bytes_per_s / (ratio * up_bytes_per_s) - 1e-9))


def split_ports(
    modes: SwitchModes, down_bytes_per_s: float, up_bytes_per_s: float, ratio: float, reserved: int
) -> tuple[int, int]:
    """Return the largest number of down ports, with their up ports, that a switch offers at *ratio*.

    Reserved ports are down ports that stay free: they count against the cages.

    Raises
    ------
    UnbuildableError
        If not even one port down and one up fit.
    """
    down = floor(modes.radix(down_bytes_per_s, reserved))
    while down > 0:
        up = up_ports_for(down, down_bytes_per_s, up_bytes_per_s, ratio)
        if modes.fits(down + reserved, down_bytes_per_s, up, up_bytes_per_s):
            return down, up
        down -= 1
    raise UnbuildableError(
        f"switch {modes.part.id} has too few ports for one link down and one up at {ratio:g}:1 with {reserved} reserved",
        "a switch with more ports, or fewer reserved ports",
    )
