"""Chosen facts → the text that tools print beside a test, for files with a known cause that people and tests learn from.

Layouts are those of NCCL 2.2x with ``NCCL_DEBUG=INFO``, pciutils, infiniband-diags, perftest, ethtool and nvidia-smi; only
the lines that tell something are written.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gpufabric.units import gbps

_MOST_CHANNELS = 32


@dataclass(frozen=True, slots=True)
class NcclExcerpt:
    """What NCCL's log of a job says: NICs used of each server, transport, and settings it was given.

    ``shift`` is by how many NICs the receiving end of a connection is off the sending one; ``virtual`` shows a PCI tree of
    virtual bridges; ``shared_memory`` counts connections inside the server that go through its memory.
    """

    hosts: tuple[str, str]
    nics: int
    gpus: int
    link: str = "IB"
    network: str = "IB"
    gdr: bool = True
    shift: int = 0
    virtual: bool = False
    shared_memory: bool = False
    nvls_channels: int | None = None


def write_nccl_debug(said: NcclExcerpt, settings: Sequence[tuple[str, str]]) -> str:
    """Return an excerpt of NCCL's log, one process each of the first two servers."""
    host, other = said.hosts
    lines: list[str] = []
    if said.network == "Socket":
        lines.append("NET/IB : No device found.")
        lines.append("NET/Socket : Using [0]eth0:192.0.2.1<0>")
    elif said.nics:
        using = " ".join(f"[{i}]mlx5_{i}:1/{said.link}" for i in range(said.nics))
        lines.append(f"NET/IB : Using {using} [RO]; OOB eth0:192.0.2.1<0>")
    lines += [f"Using network {said.network}"] if said.nics else []
    lines += [f"{name} set by environment to {value}." for name, value in settings]
    if said.virtual:
        lines += [
            "=== System : maxBw 48.0 totalBw 450.0 ===",
            "CPU/0-0 (1/1/2)",
            "+ PCI[0.2] - PCI/0-8000 (11f8405611f8beef)",
            "             + PCI[48.0] - GPU/0-9000 (0)",
            "==========================================",
        ]
    if said.shared_memory:
        lines += [
            f"Channel {c:02d} : {c}[{c}] -> {c + 1}[{c + 1}] via SHM/direct/direct"
            for c in range(said.gpus - 1)
        ]
    channels = min(said.nics, _MOST_CHANNELS)
    end = "/GDRDMA" if said.gdr and said.network != "Socket" else ""
    far = ""
    for c in range(channels):
        way = f"Channel {c:02d}/0 : {c}[{c}] -> {said.gpus + c}[{c}]"
        lines.append(f"{way} [send] via NET/{said.network}/{c}{end}")
        near = (c + said.shift) % channels
        far += f"{other}:200:201 [0] NCCL INFO {way} [receive] via NET/{said.network}/{near}{end}\n"
    if said.nvls_channels is not None:
        lines.append(
            f"16 coll channels, 16 collnet channels, {said.nvls_channels} nvls channels, 16 p2p channels"
        )
    return "".join(f"{host}:100:101 [0] NCCL INFO {line}\n" for line in lines) + far


def write_lspci(transfers: str, lanes: int, *, redirects: bool = False) -> str:
    """Return ``lspci -vvv`` of a bridge and a NIC below it; *lanes* of 16 are up, at *transfers* such as ``32GT/s``."""
    sign = "+" if redirects else "-"
    width = "x16" if lanes == 16 else f"x{lanes} (downgraded)"
    return (
        "0000:10:00.0 PCI bridge: Example Corp Switch (rev 04)\n"
        f"\t\tLnkCap:\tPort #0, Speed {transfers}, Width x16, ASPM not supported\n"
        f"\t\tLnkSta:\tSpeed {transfers}, Width x16\n"
        f"\t\tACSCtl:\tSrcValid+ TransBlk- ReqRedir{sign} CmpltRedir{sign} UpstreamFwd{sign} EgressCtrl- DirectTrans-\n"
        "\n"
        "0000:18:00.0 Infiniband controller: Mellanox Technologies MT2910 Family [ConnectX-7]\n"
        f"\t\tLnkCap:\tPort #0, Speed {transfers}, Width x16, ASPM not supported\n"
        f"\t\tLnkSta:\tSpeed {transfers}, Width {width}\n"
    )


def write_ibstat(nics: int, down: int, nic_bytes_per_s: float, layer: str) -> str:
    """Return ``ibstat`` of a server whose adapter *down* has no link; *layer* is ``InfiniBand`` or ``Ethernet``."""
    text = ""
    for i in range(nics):
        state, physical, rate = (
            ("Down", "Polling", 10.0) if i == down else ("Active", "LinkUp", gbps(nic_bytes_per_s))
        )
        text += (
            f"CA 'mlx5_{i}'\n\tCA type: MT4129\n\tNumber of ports: 1\n\tPort 1:\n\t\tState: {state}\n"
            f"\t\tPhysical state: {physical}\n\t\tRate: {rate:.0f}\n\t\tLink layer: {layer}\n"
        )
    return text


def write_ibqueryerrors(guid: int, device: str, port: int, symbol_errors: int, link_downs: int) -> str:
    """Return ``ibqueryerrors`` of one switch with one port that errs."""
    return (
        f'Errors for 0x{guid:016x} "{device}"\n'
        f"   GUID 0x{guid:016x} port {port}: [SymbolErrorCounter == {symbol_errors}] [LinkDownedCounter == {link_downs}]\n"
    )


def write_ethtool(host: str, counters: Sequence[tuple[str, int]]) -> str:
    """Return ``ethtool -S`` of one interface of *host*."""
    rows = "".join(f"     {name}: {value}\n" for name, value in counters)
    return f"root@{host}:~# ethtool -S enp24s0\nNIC statistics:\n{rows}"


def write_topo_matrix(nearest: Sequence[int | None], nics: int, own: str) -> str:
    """Return ``nvidia-smi topo -m`` of GPUs that reach their nearest NIC by *own* (such as PXB) and all others by SYS.

    Parameters
    ----------
    nearest
        For each GPU the index of its NIC, None where it has none.
    nics
    own
    """
    gpus = len(nearest)
    names = [f"GPU{i}" for i in range(gpus)] + [f"NIC{i}" for i in range(nics)]
    rows = ["\t" + "\t".join(names) + "\tCPU Affinity\tNUMA Affinity"]
    for i, near in enumerate(nearest):
        cells = [" X " if i == j else "NV18" for j in range(gpus)] + [
            own if near == j else "SYS" for j in range(nics)
        ]
        rows.append(f"GPU{i}\t" + "\t".join(cells) + "\t0-47\t0")
    for i in range(nics):
        cells = [own if near == i else "SYS" for near in nearest] + [
            " X " if i == j else "SYS" for j in range(nics)
        ]
        rows.append(f"NIC{i}\t" + "\t".join(cells))
    return "\n".join(rows) + "\n"


def write_nvlink_status(gpu_name: str, gpus: int, links: int, hurt: int, down: int) -> str:
    """Return ``nvidia-smi nvlink -s`` of a server whose GPU *hurt* has *down* of its *links* inactive."""
    text = ""
    for gpu in range(gpus):
        text += f"GPU {gpu}: {gpu_name} (UUID: GPU-00000000-0000-4000-8000-{gpu:012d})\n"
        for link in range(links):
            state = "<inactive>" if gpu == hurt and link < down else "26.562 GB/s"
            text += f"\t Link {link}: {state}\n"
    return text


def write_perftest(device: str, link_layer: str, bytes_per_s: float) -> str:
    """Return ``ib_write_bw`` between two hosts over *device*."""
    rule = "-" * 87
    rate = gbps(bytes_per_s)
    return (
        f"{rule}\n                    RDMA_Write BW Test\n Dual-port       : OFF\t\tDevice         : {device}\n"
        " Number of qps   : 4\t\tTransport type : IB\n"
        f" Link type       : {link_layer}\n{rule}\n"
        " #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]\n"
        f" 65536      5000             {rate:.2f}             {rate:.2f}              0.343\n{rule}\n"
    )
