"""What ``nvidia-smi topo -m`` says of a server's inside: which GPU and which NIC are how near to each other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from gpufabric.records.file_record import FileRecord

DeviceKind = Literal["gpu", "nic", "unknown"]

#: Path classes from near to far; NVLinks are not among them, they are counted.
PATH_CLASSES = ("X", "PIX", "PXB", "PHB", "NODE", "SYS")


@dataclass(frozen=True, slots=True)
class TopologyDevice:
    """One row of the matrix.

    ``name`` is what the matrix calls it and ``real_name`` what the NIC legend says (else the same); ``cpu_affinity`` and
    ``numa_affinity`` are lists such as ``0-71`` as printed, empty where the file does not say; ``gpu_numa_id`` is the NUMA node
    of the GPU's own memory, -1 where it has none; ``line`` is 0 for a device whose row is missing.
    """

    name: str
    kind: DeviceKind
    real_name: str
    cpu_affinity: str = ""
    numa_affinity: str = ""
    gpu_numa_id: int = -1
    line: int = 0

    @property
    def numa_node(self) -> int:
        """The first NUMA node of the list, which is that of its CPU; -1 when unknown."""
        first = self.numa_affinity.split(",")[0].split("-")[0]
        return int(first) if first.isdigit() else -1


@dataclass(frozen=True, slots=True)
class ServerTopology(FileRecord):
    """The matrix of a server.

    Attributes
    ----------
    devices : tuple of TopologyDevice
        In the order of the columns.
    cells : tuple of tuple of str
        Square, in the order of ``devices``: ``X``, ``NV12`` (12 NVLinks), ``PIX``, ``PXB``, ``PHB``, ``NODE``, ``SYS``; empty
        where the file does not say. Old ``SOC`` is ``SYS``.
    cut : bool
        Whether rows or cells are missing.
    nics_hidden : int
        NICs that the tool found but left out of the matrix.
    """

    devices: tuple[TopologyDevice, ...] = ()
    cells: tuple[tuple[str, ...], ...] = ()
    cut: bool = False
    nics_hidden: int = 0

    def rows_of(self, kind: DeviceKind) -> tuple[int, ...]:
        """Return the rows of the devices of one kind, in the order of the columns."""
        return tuple(i for i, device in enumerate(self.devices) if device.kind == kind)

    def path(self, a: int, b: int) -> str:
        """Return the class of the path between two rows, from whichever of the two halves is known."""
        return self.cells[a][b] or self.cells[b][a]

    def nvlinks(self, a: int, b: int) -> int:
        """Return how many NVLinks join two GPUs; -1 when the file does not say."""
        path = self.path(a, b)
        if path.startswith("NV"):
            return int(path[2:])
        return 0 if path else -1

    def nearest_nics(self, gpu: int, at_most: str = "PXB") -> tuple[int, ...]:
        """Return the NICs nearest to a GPU: those of its best class, if that is no farther than *at_most*."""
        order = {name: i for i, name in enumerate(PATH_CLASSES)}
        far = {nic: order[path] for nic in self.rows_of("nic") if (path := self.path(gpu, nic)) in order}
        best = min(far.values(), default=len(order))
        return tuple(nic for nic, value in far.items() if value == best) if best <= order[at_most] else ()
