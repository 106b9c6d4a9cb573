"""What ``nvidia-smi nvlink`` and the tools of AMD say of the links between the GPUs of a server."""

from __future__ import annotations

from dataclasses import dataclass, field

from gpufabric.records.file_record import FileRecord


@dataclass(frozen=True, slots=True)
class NvlinkPort:
    """One NVLink of a GPU.

    ``bytes_per_s`` is per direction as the tool prints it, 0 when the link is inactive and NaN when the output holds only errors;
    ``errors`` are (name, count) as printed, such as (``CRC Errors``, 0).
    """

    number: int
    bytes_per_s: float
    errors: tuple[tuple[str, int], ...]
    line: int


@dataclass(frozen=True, slots=True)
class NvlinkGpu:
    """A GPU with its NVLinks; ``index`` is the tool's."""

    index: int
    name: str
    links: tuple[NvlinkPort, ...]
    line: int

    @property
    def active(self) -> int:
        """How many of its links run."""
        return sum(link.bytes_per_s > 0 for link in self.links)

    @property
    def inactive(self) -> tuple[int, ...]:
        """Numbers of the links that do not run."""
        return tuple(link.number for link in self.links if link.bytes_per_s == 0)


@dataclass(frozen=True, slots=True)
class NvlinkStatus(FileRecord):
    """The NVLinks of a server's GPUs."""

    gpus: tuple[NvlinkGpu, ...] = ()


@dataclass(frozen=True, slots=True)
class AmdTopology(FileRecord):
    """What ``rocm-smi --showtopo`` or ``amd-smi topology`` prints.

    Attributes
    ----------
    gpus : tuple of str
        ``GPU0`` … or bus ids, in the order of the columns.
    weights : tuple of tuple of int
        Square; 15 for each xGMI hop. Empty when the output has no such table, or one that contradicts itself.
    hops : tuple of tuple of int
        As the tool counts them: 1 for all pairs over xGMI, direct or not.
    link_types : tuple of tuple of str
        ``XGMI``, ``PCIE``; ``SELF`` on the diagonal.
    numa_nodes : tuple of int
        NUMA node of each GPU, -1 when unknown.
    other_tables : dict
        Titles of the other tables with their cells as printed.
    """

    gpus: tuple[str, ...] = ()
    weights: tuple[tuple[int, ...], ...] = ()
    hops: tuple[tuple[int, ...], ...] = ()
    link_types: tuple[tuple[str, ...], ...] = ()
    numa_nodes: tuple[int, ...] = ()
    other_tables: dict[str, tuple[tuple[str, ...], ...]] = field(default_factory=dict)

    def direct_xgmi(self, gpu: int) -> tuple[int, ...]:
        """Return the GPUs that one xGMI hop leads to: those whose weight is the least among xGMI pairs."""
        if not self.weights or not self.link_types:
            return ()
        pairs = {
            other: self.weights[gpu][other]
            for other, kind in enumerate(self.link_types[gpu])
            if kind == "XGMI" and other != gpu
        }
        least = min(
            (
                self.weights[a][b]
                for a, row in enumerate(self.link_types)
                for b, kind in enumerate(row)
                if kind == "XGMI" and a != b
            ),
            default=0,
        )
        return tuple(other for other, weight in pairs.items() if weight == least)
