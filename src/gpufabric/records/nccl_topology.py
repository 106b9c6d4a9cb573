"""What NCCL's topology and graph files (``NCCL_TOPO_FILE``, ``NCCL_GRAPH_FILE``) say of a server's inside."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from gpufabric.records.file_record import FileRecord

PciKind = Literal["gpu", "nic", "bridge", "nvswitch", "other", "unknown"]


@dataclass(frozen=True, slots=True)
class CpuNode:
    """A CPU (NUMA node); ``numa_node`` is -1 when unknown, ``affinity`` hex words of 32 bits as printed."""

    numa_node: int
    arch: str
    vendor: str
    model: str
    affinity: str
    line: int


@dataclass(frozen=True, slots=True)
class PciDevice:
    """A PCI element.

    ``parent`` is the row of the PCI element that holds it, -1 directly under a CPU; ``cpu`` the row of that CPU, -1 when none;
    ``kind`` follows from the class, or from what the element holds; ``transfers_per_s`` (GT/s × 10⁹) and ``lanes`` are 0 when
    the file does not say; ``made_up`` says that the bus id is one of no real device (ffff:…).
    """

    bus_id: str
    kind: PciKind
    parent: int
    cpu: int
    vendor: str
    device: str
    transfers_per_s: float
    lanes: int
    made_up: bool
    line: int


@dataclass(frozen=True, slots=True)
class GpuNode:
    """A GPU: ``pci`` is its row; ``dev`` and ``rank`` as NCCL numbers them, -1 when unknown; ``sm`` as written."""

    pci: int
    dev: int
    rank: int
    sm: int
    arch: str
    gdr: bool | None
    line: int


@dataclass(frozen=True, slots=True)
class NetPort:
    """A network port: ``pci`` is the row of its card, -1 when none; ``bytes_per_s`` 0 when unknown; ``port`` -1 when unknown."""

    pci: int
    name: str
    dev: int
    port: int
    bytes_per_s: float
    guid: str
    gdr: bool | None
    line: int


@dataclass(frozen=True, slots=True)
class GpuLink:
    """NVLinks, xGMI links or a C2C link from a GPU to what stands at ``target``; ``count`` links together."""

    gpu: int
    kind: Literal["nvlink", "xgmi", "c2c"]
    target: str
    count: int
    target_kind: PciKind
    line: int


@dataclass(frozen=True, slots=True)
class NcclTopology(FileRecord):
    """A topology file; ``classes_known`` is False when no PCI element says what it is, so that GPUs can't be counted."""

    version: int = -1
    cpus: tuple[CpuNode, ...] = ()
    pci: tuple[PciDevice, ...] = ()
    gpus: tuple[GpuNode, ...] = ()
    nets: tuple[NetPort, ...] = ()
    links: tuple[GpuLink, ...] = ()
    cut: bool = False

    @property
    def classes_known(self) -> bool:
        """Whether at least one PCI element says what it is."""
        return any(device.kind != "unknown" for device in self.pci)

    def pci_of(self, kind: PciKind) -> tuple[int, ...]:
        """Return the rows of the PCI elements of one kind, in the order of the file."""
        return tuple(i for i, device in enumerate(self.pci) if device.kind == kind)

    def ancestors(self, row: int) -> tuple[int, ...]:
        """Return the rows above a PCI element, nearest first."""
        found = []
        row = self.pci[row].parent
        while row >= 0:
            found.append(row)
            row = self.pci[row].parent
        return tuple(found)

    def path(self, a: int, b: int) -> str:
        """Return how two PCI elements see each other: PIX (below one bridge), PXB (one in common), PHB (a CPU), else SYS."""
        if self.pci[a].parent == self.pci[b].parent and self.pci[a].parent >= 0:
            return "PIX"
        if set(self.ancestors(a)) & set(self.ancestors(b)):
            return "PXB"
        return "PHB" if self.pci[a].cpu == self.pci[b].cpu and self.pci[a].cpu >= 0 else "SYS"

    def nearest_nics(self, gpu: int) -> tuple[int, ...]:
        """Return the rows of the NICs below the same bridge as a GPU's row, else below one in common; empty when none is."""
        paths = {nic: self.path(gpu, nic) for nic in self.pci_of("nic")}
        for wanted in ("PIX", "PXB"):
            near = tuple(nic for nic, path in paths.items() if path == wanted)
            if near:
                return near
        return ()

    def lanes_of(self, gpu: int) -> int:
        """Return how many NVLinks or xGMI links a GPU (row of ``gpus``) has in the file."""
        return sum(link.count for link in self.links if link.gpu == gpu and link.kind != "c2c")


@dataclass(frozen=True, slots=True)
class GraphChannel:
    """One channel: GPUs in order (``dev`` numbers or ranks) and the network devices at its ends; names as written."""

    gpus: tuple[str, ...]
    nets: tuple[str, ...]
    line: int


@dataclass(frozen=True, slots=True)
class SearchedGraph:
    """What NCCL's search found for one pattern.

    ``pattern`` is ``ring``, ``tree``, ``split_tree``, ``balanced_tree``, ``nvls`` or ``collnet_direct``; ``intra_bytes_per_s``
    and ``inter_bytes_per_s`` are per channel in NCCL's own model, 0 when unknown.
    """

    id: int
    pattern: str
    cross_nic: int
    channels_said: int
    intra_bytes_per_s: float
    inter_bytes_per_s: float
    type_intra: str
    type_inter: str
    channels: tuple[GraphChannel, ...]
    line: int


@dataclass(frozen=True, slots=True)
class NcclGraphs(FileRecord):
    """A graph file."""

    version: int = -1
    graphs: tuple[SearchedGraph, ...] = ()
    cut: bool = False
