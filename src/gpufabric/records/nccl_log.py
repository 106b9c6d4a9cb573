"""What an ``NCCL_DEBUG=INFO`` log says: who took part, over what, in which rings and trees, and how it was tuned."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from gpufabric.records.file_record import FileRecord
from gpufabric.records.nccl_topology import SearchedGraph

RingSource = Literal["whole", "local"]
Direction = Literal["send", "receive", ""]


@dataclass(frozen=True, slots=True)
class LoggedRank:
    """A rank: where it runs.

    ``pid`` and ``device`` (CUDA or HIP device) are -1 and texts empty where the log does not say; ``bus_id`` and ``cpu_affinity``
    are as printed; ``local_rank`` is the log's own, else -1.
    """

    rank: int
    host: str
    pid: int
    device: int
    bus_id: str
    local_rank: int
    cpu_affinity: str
    line: int


@dataclass(frozen=True, slots=True)
class LoggedRing:
    """The ring of a channel: ranks in order.

    ``source`` says whether a rank printed it *whole*, or whether it was put together from what each rank said of its neighbours
    (*local*); ``complete`` is False when the log holds only a part of it.
    """

    channel: int
    ranks: tuple[int, ...]
    complete: bool
    source: RingSource
    line: int


@dataclass(frozen=True, slots=True)
class LoggedTree:
    """The tree of a channel: ``up`` is the parent of each rank that said so, -1 for a root."""

    channel: int
    up: tuple[tuple[int, int], ...]
    line: int

    @property
    def roots(self) -> tuple[int, ...]:
        """Ranks without a parent."""
        return tuple(rank for rank, parent in self.up if parent < 0)

    def children(self, rank: int) -> tuple[int, ...]:
        """Return the ranks that name this one as their parent."""
        return tuple(child for child, parent in self.up if parent == rank)


@dataclass(frozen=True, slots=True)
class Connection:
    """A connection of a channel, for rings or trees: the log does not tell which.

    ``transport`` is ``P2P``, ``SHM``, ``NET`` or ``COLLNET``; ``network`` the plugin's name (``IB``, ``Socket``, ``AWS
    Libfabric``), ``device`` its number, -1 where none; ``detail`` what follows (``IPC``, ``CUMEM``, ``GDRDMA``).
    """

    channel: int
    source: int
    target: int
    direction: Direction
    transport: str
    network: str
    device: int
    detail: str
    line: int

    @property
    def gdr(self) -> bool:
        """Whether the NIC reads or writes the GPU's memory itself."""
        return "GDRDMA" in self.detail


def transport_name(transport: str, network: str, detail: str) -> str:
    """Return what connections are counted by, such as ``NET/IB/GDRDMA``."""
    return "/".join(filter(None, (transport, network, "GDRDMA" if "GDRDMA" in detail else "")))


@dataclass(frozen=True, slots=True)
class Communicator:
    """One communicator; ``id`` is the log's own, else made from its size, empty when nothing says which one it is."""

    id: str
    size: int
    nodes: int
    ranks: tuple[LoggedRank, ...]
    rings: tuple[LoggedRing, ...]
    trees: tuple[LoggedTree, ...]
    connections: tuple[Connection, ...]
    channels: tuple[tuple[str, int], ...]
    nvls_heads: int
    multi_node_nvlink: bool | None

    def rank_order(self) -> tuple[tuple[str, int], ...]:
        """Return (host, device) of ranks 0, 1, …; empty unless all are known."""
        known = {rank.rank: (rank.host, rank.device) for rank in self.ranks if rank.host}
        size = self.size if self.size > 0 else len(known)
        return (
            tuple(known[i] for i in range(size))
            if len(known) == size and all(i in known for i in range(size))
            else ()
        )


@dataclass(frozen=True, slots=True)
class LoggedNic:
    """A network device that a host's NCCL uses; ``link`` is ``IB``, ``RoCE``, ``Socket`` or empty; ``port`` -1 when none."""

    host: str
    index: int
    name: str
    port: int
    link: str
    line: int


@dataclass(frozen=True, slots=True)
class LoggedWarning:
    """A warning, or the place in NCCL's source that gave it; ``host`` may be empty."""

    line: int
    host: str
    place: str
    text: str


@dataclass(frozen=True, slots=True)
class TuningCell:
    """What NCCL's own model expects of an algorithm and a protocol; NaN where the table is cut.

    ``max_threads`` is of one channel, 0 where the pair is not used, -1 where the table does not say.
    """

    op: str
    algorithm: str
    protocol: str
    latency_s: float
    bytes_per_s: float
    max_threads: int
    line: int


@dataclass(frozen=True, slots=True)
class TuningChoice:
    """What was chosen for a size; ``channels`` is (first, last) or empty; ``count`` says how often it was logged."""

    op: str
    size_bytes: int
    algorithm: str
    protocol: str
    channels: tuple[int, ...]
    count: int
    line: int


@dataclass(frozen=True, slots=True)
class CollectiveCall:
    """A call as logged; ``datatype`` and ``redop`` are NCCL's numbers as printed; ``times`` says how often."""

    op: str
    count: int
    datatype: str
    redop: str
    root: int
    size: int
    times: int
    line: int


@dataclass(frozen=True, slots=True)
class SystemNode:
    """A node of the system tree that NCCL prints; ``parent`` is -1 at the top.

    ``kind`` is ``CPU``, ``PCI``, ``GPU``, ``NIC``, ``NET``, ``NVS`` or ``DEV``; ``link`` what joins it to its parent (``PCI``,
    ``NVL``, ``XGMI``, ``SYS`` …) with ``bytes_per_s`` in NCCL's model.
    """

    kind: str
    id: str
    parent: int
    link: str
    bytes_per_s: float
    line: int


@dataclass(frozen=True, slots=True)
class NcclLog(FileRecord):
    """A log of NCCL or RCCL.

    Attributes
    ----------
    library, version : str
        ``NCCL`` or ``RCCL``, and its version; empty when the log does not say.
    communicators : tuple of Communicator
        In order of first line.
    nics, networks
        What each host's NCCL uses, and the names of the networks.
    settings : tuple of (name, value)
        Settings by environment or plugin, each pair once; values of names that smell of secrets are removed.
    warnings, warning_count
        The first hundred of them, and how many there are.
    graphs, system
        Results of the search, and the system tree, of the first process that printed them.
    pxn, gdr
        As said when the rings were connected; None when not said.
    lines_other : int
        Lines of NCCL that hold nothing that is read.
    more_connections : tuple of (str, int)
        Connections beyond those that are kept one by one, counted by transport.
    """

    library: str = ""
    version: str = ""
    communicators: tuple[Communicator, ...] = ()
    nics: tuple[LoggedNic, ...] = ()
    networks: tuple[str, ...] = ()
    settings: tuple[tuple[str, str], ...] = ()
    warnings: tuple[LoggedWarning, ...] = ()
    warning_count: int = 0
    tuning: tuple[TuningCell, ...] = ()
    choices: tuple[TuningChoice, ...] = ()
    calls: tuple[CollectiveCall, ...] = ()
    graphs: tuple[SearchedGraph, ...] = ()
    system: tuple[SystemNode, ...] = ()
    init_s: float | None = None
    pxn: bool | None = None
    gdr: bool | None = None
    lines_other: int = 0
    more_connections: tuple[tuple[str, int], ...] = ()

    def transports(self) -> tuple[tuple[str, int], ...]:
        """Return how many connections use each transport, such as (``NET/IB/GDRDMA``, 64), most used first."""
        counts = dict(self.more_connections)
        for communicator in self.communicators:
            for one in communicator.connections:
                name = transport_name(one.transport, one.network, one.detail)
                counts[name] = counts.get(name, 0) + 1
        return tuple(sorted(counts.items(), key=lambda item: (-item[1], item[0])))
