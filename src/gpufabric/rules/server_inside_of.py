"""A matrix of ``nvidia-smi topo -m``, tables of AMD's tools, or NCCL's topology file → :class:`ServerInside`."""

from __future__ import annotations

from gpufabric.records.gpu_links import AmdTopology
from gpufabric.records.nccl_topology import NcclTopology
from gpufabric.records.server_inside import ServerInside, SharedUplink
from gpufabric.records.server_topology import ServerTopology
from gpufabric.units import BITS_PER_BYTE

#: Of 130 bits on the wire 128 carry data from generation 3 (PCI Express Base Specification); packet headers take more.
_PCIE_PAYLOAD = 128 / 130


#: Of any GPU up to NVLink 5.
_MOST_NVLINKS = 18
#: PCI vendor ids.
_MAKERS = {"0x10de": "NVIDIA", "0x1002": "AMD"}


def inside_of_matrix(topology: ServerTopology) -> ServerInside | None:
    """Return the inside that a matrix shows; None when it holds no GPU."""
    gpus, nics = topology.rows_of("gpu"), topology.rows_of("nic")
    if not gpus:
        return None
    pairs = tuple(tuple(0 if a == b else topology.nvlinks(a, b) for b in gpus) for a in gpus)
    return ServerInside(
        where=f"{topology.file}:{topology.devices[gpus[0]].line or 1}",
        gpus=tuple(topology.devices[i].name for i in gpus),
        nics=tuple(topology.devices[i].real_name for i in nics),
        paths=tuple(tuple(topology.path(gpu, nic) for nic in nics) for gpu in gpus),
        links=_links(pairs),
        pairs=pairs,
        numa=tuple(topology.devices[i].numa_node for i in gpus),
        nic_bytes_per_s=(0.0,) * len(nics),
        uplinks=(),
        own_memory=any(topology.devices[i].gpu_numa_id >= 0 for i in gpus),
        maker="NVIDIA",
    )


def _links(pairs: tuple[tuple[int, ...], ...]) -> tuple[int, ...]:
    """Return the links of each GPU: their sum over direct links; through switches every pair shows all of them."""
    others = [[count for j, count in enumerate(row) if j != i] for i, row in enumerate(pairs)]
    if any(-1 in row for row in others):
        return (-1,) * len(pairs)
    peers = {count for row in others for count in row}
    most = max((sum(row) for row in others), default=0)
    # Up to four GPUs may be joined pair by pair with equally many links; more links than a GPU has go through switches.
    switched = len(peers) == 1 and (len(pairs) > 4 or most > _MOST_NVLINKS)
    return tuple(max(row, default=0) if switched else sum(row) for row in others)


def inside_of_amd(topology: AmdTopology) -> ServerInside | None:
    """Return the inside that a tool of AMD shows: GPUs, and xGMI links where each goes to another GPU; None without tables."""
    count = len(topology.gpus)
    if count == 0 or not topology.link_types:
        return None
    kinds = {kind for i, row in enumerate(topology.link_types) for j, kind in enumerate(row) if i != j}
    direct = tuple(len(topology.direct_xgmi(gpu)) for gpu in range(count))
    # A full mesh has one link a pair; with fewer neighbours the tables do not tell how many links lead to each.
    known = "XGMI" not in kinds or set(direct) == {count - 1}
    return ServerInside(
        where=f"{topology.file}:1",
        gpus=topology.gpus,
        nics=(),
        paths=((),) * count,
        links=direct if known else (-1,) * count,
        pairs=(),
        numa=topology.numa_nodes or (-1,) * count,
        nic_bytes_per_s=(),
        uplinks=(),
        own_memory=False,
        maker="AMD",
    )


def inside_of_topology(topology: NcclTopology) -> ServerInside | None:
    """Return the inside that a topology file shows; None when no GPU is known in it."""
    gpus, nics = topology.pci_of("gpu"), topology.pci_of("nic")
    if not gpus:
        return None
    dev = {gpu.pci: gpu.dev for gpu in topology.gpus}
    gpus = tuple(sorted(gpus, key=lambda row: (dev.get(row, -1), topology.pci[row].line)))
    of_pci = {gpu.pci: i for i, gpu in enumerate(topology.gpus)}
    rates = tuple(sum(net.bytes_per_s for net in topology.nets if net.pci == nic) for nic in nics)
    names = {net.pci: net.name for net in reversed(topology.nets) if net.name}
    has_links = bool(topology.links)
    return ServerInside(
        where=f"{topology.file}:{topology.pci[gpus[0]].line}",
        gpus=tuple(f"GPU{dev[row]}" if dev.get(row, -1) >= 0 else topology.pci[row].bus_id for row in gpus),
        nics=tuple(names.get(row, topology.pci[row].bus_id) for row in nics),
        paths=tuple(tuple(topology.path(gpu, nic) for nic in nics) for gpu in gpus),
        links=tuple(topology.lanes_of(of_pci[row]) if has_links and row in of_pci else -1 for row in gpus),
        pairs=(),
        numa=tuple(_numa(topology, row) for row in gpus),
        nic_bytes_per_s=rates,
        uplinks=_uplinks(topology, nics),
        own_memory=any(link.kind == "c2c" for link in topology.links),
        maker=_MAKERS.get(topology.pci[gpus[0]].vendor, ""),
    )


def _numa(topology: NcclTopology, row: int) -> int:
    cpu = topology.pci[row].cpu
    return topology.cpus[cpu].numa_node if cpu >= 0 else -1


def _uplinks(topology: NcclTopology, nics: tuple[int, ...]) -> tuple[SharedUplink, ...]:
    below: dict[int, list[int]] = {}
    for i, nic in enumerate(nics):
        above = topology.ancestors(nic)
        if above:
            below.setdefault(above[-1], []).append(i)
    found = []
    for row, members in below.items():
        bridge = topology.pci[row]
        rate = bridge.transfers_per_s * bridge.lanes * _PCIE_PAYLOAD / BITS_PER_BYTE
        if len(members) > 1:
            found.append(SharedUplink(bridge.bus_id, tuple(members), rate))
    return tuple(found)
