"""What ``nvidia-smi topo -p2p`` says: which GPUs the driver lets reach each other."""

from __future__ import annotations

from dataclasses import dataclass

from gpufabric.records.file_record import FileRecord

#: Cell → what it means, as the tool's own legend has it.
PEER_CELLS = {
    "OK": "allowed",
    "CNS": "chipset not supported",
    "GNS": "GPU not supported",
    "TNS": "topology not supported",
    "NS": "not supported",
    "DR": "disabled by a registry key",
    "U": "unknown",
}


@dataclass(frozen=True, slots=True)
class PeerAccess(FileRecord):
    """The matrix: ``cells[i][j]`` is a key of :data:`PEER_CELLS`, ``X`` on the diagonal, empty where cut."""

    gpus: tuple[str, ...] = ()
    cells: tuple[tuple[str, ...], ...] = ()
