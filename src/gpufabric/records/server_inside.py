"""The inside of one found server, whichever file it comes from: what rules and the catalogue are held against."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SharedUplink:
    """NICs (rows) below one PCIe uplink of ``bytes_per_s``, one direction, 0 when unknown; ``name`` is its bus id."""

    name: str
    nics: tuple[int, ...]
    bytes_per_s: float


@dataclass(frozen=True, slots=True)
class ServerInside:
    """What a matrix or a topology file says of a server's GPUs and NICs.

    Attributes
    ----------
    where : str
        file:line that it comes from.
    gpus, nics : tuple of str
        Names in the file's order: the GPUs' is that of their numbers.
    paths : tuple of tuple of str
        One row a GPU, one column a NIC: PIX, PXB, PHB, NODE, SYS; empty where unknown.
    links : tuple of int
        NVLinks or xGMI links of each GPU, -1 when unknown.
    pairs : tuple of tuple of int
        Links of each pair of GPUs where the file tells pairs, -1 when unknown; empty when it tells none (through switches).
    numa : tuple of int
        NUMA node of each GPU, -1 when unknown.
    nic_bytes_per_s : tuple of float
        Rate of each NIC, 0 when unknown.
    uplinks : tuple of SharedUplink
        PCIe uplinks with more than one NIC below.
    own_memory : bool
        Whether GPUs are NUMA nodes themselves, as in superchips.
    maker : str
        ``NVIDIA`` or ``AMD``; empty when unknown.
    """

    where: str
    gpus: tuple[str, ...]
    nics: tuple[str, ...]
    paths: tuple[tuple[str, ...], ...]
    links: tuple[int, ...]
    pairs: tuple[tuple[int, ...], ...]
    numa: tuple[int, ...]
    nic_bytes_per_s: tuple[float, ...]
    uplinks: tuple[SharedUplink, ...]
    own_memory: bool
    maker: str

    def near_nics(self, gpu: int) -> tuple[int, ...]:
        """Return the NICs nearest to a GPU without a CPU between: those of its best class among PIX and PXB."""
        for wanted in ("PIX", "PXB"):
            near = tuple(nic for nic, path in enumerate(self.paths[gpu]) if path == wanted)
            if near:
                return near
        return ()
