"""What ``lspci -vvv`` says of links and of ACS."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from gpufabric.records.file_record import FileRecord

FunctionKind = Literal["gpu", "nic", "bridge", "nvswitch", "other"]


@dataclass(frozen=True, slots=True)
class PciFunction:
    """One function.

    Speeds are transfers/s (GT/s × 10⁹) and, like lanes, 0 where the output does not say; ``acs_redirects`` whether ACS sends
    requests or completions up to the root, None where the function has no ACS or the output does not show it; ``numa_node`` is
    -1 when unknown.
    """

    bus_id: str
    kind: FunctionKind
    name: str
    capable_transfers_per_s: float
    capable_lanes: int
    transfers_per_s: float
    lanes: int
    acs_redirects: bool | None
    numa_node: int
    line: int


@dataclass(frozen=True, slots=True)
class PciFunctions(FileRecord):
    """All functions; ``access_denied`` when capabilities are hidden because the command did not run as root."""

    functions: tuple[PciFunction, ...] = ()
    access_denied: bool = False
