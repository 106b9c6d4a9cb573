"""How data gets from one GPU to the next: sockets instead of RDMA, through host memory, through the root complex."""

from __future__ import annotations

from collections.abc import Iterator

from gpufabric.records.job_evidence import JobEvidence
from gpufabric.records.verdicts import Cause
from gpufabric.units import counted, format_gigabytes_per_s

SOCKETS = "socket-transport"
GPUDIRECT_OFF = "gpudirect-off"
ACS_ON = "acs-on"
P2P_OFF = "p2p-off"
_OFF = ("0", "LOC")
#: TCP through the kernel does not get much above this on a few streams of one interface.
_TCP_BYTES_PER_S = 12e9


def socket_transport(evidence: JobEvidence) -> Iterator[Cause]:
    """Yield TCP sockets: a log that says so, a setting that asks for them, or a rate as low as theirs."""
    files = evidence.files
    named = [log for log in files.logs if any("socket" in name.lower() for name in log.networks)]
    used = [(file, one) for file, one in files.network_connections() if one.network.lower() == "socket"]
    next_step = "find out why RDMA was refused: the lines NET/IB and NET/Plugin of NCCL_DEBUG=INFO; unset NCCL_IB_DISABLE"
    text = "NCCL moves data over TCP sockets instead of RDMA"
    if used or named:
        where = (
            f"{used[0][0]}:{used[0][1].line}: via NET/Socket"
            if used
            else f"{named[0].file}: Using network Socket"
        )
        yield Cause(text, 0.95 if evidence.slow or evidence.best is None else 0.6, where, next_step, SOCKETS)
        return
    name, value, where = evidence.setting("NCCL_IB_DISABLE", "NCCL_NET")
    if (name == "NCCL_IB_DISABLE" and value.strip() not in {"", "0"}) or (
        name == "NCCL_NET" and "socket" in value.lower()
    ):
        yield Cause(text, 0.9, f"{where}: {name}={value}", next_step, SOCKETS)
    elif evidence.across and evidence.slow and evidence.best and not files.network_connections():
        rate = evidence.best.measured_bytes_per_s
        if evidence.share_unexplained < 0.35 and rate < _TCP_BYTES_PER_S:
            sure = 0.35 if evidence.share_unexplained < 0.15 else 0.2
            said = f"{format_gigabytes_per_s(rate)} is {evidence.share_unexplained:.0%} of the prediction, and as slow as TCP"
            yield Cause(text, sure, said, next_step, SOCKETS)


def gpudirect_off(evidence: JobEvidence) -> Iterator[Cause]:
    """Yield data that is staged in host memory between GPU and NIC."""
    files = evidence.files
    connections = [
        (file, one) for file, one in files.network_connections() if one.network.lower() != "socket"
    ]
    text = "GPUDirect RDMA is off: data between GPU and NIC goes through host memory"
    next_step = "load nvidia_peermem (or use DMA-BUF), and look at NCCL_NET_GDR_LEVEL; connections must end in /GDRDMA"
    without = [(file, one) for file, one in connections if not one.gdr]
    if without:
        sure = 0.85 if len(without) == len(connections) else 0.6
        file, first = without[0]
        said = f"{file}:{first.line}: {len(without):,} of {counted(len(connections), 'connection')} without GDRDMA"
        yield Cause(text, sure, said, next_step, GPUDIRECT_OFF)
        return
    name, value, where = evidence.setting("NCCL_NET_GDR_LEVEL", "NCCL_IB_GDR_LEVEL", "NCCL_NET_GDR_DISABLE")
    off = value.strip().upper() in _OFF if name.endswith("LEVEL") else value.strip() == "1"
    said_off = [log.file for log in files.logs if log.gdr is False]
    if name and off:
        yield Cause(text, 0.85, f"{where}: {name}={value}", next_step, GPUDIRECT_OFF)
    elif said_off:
        yield Cause(text, 0.8, f"{said_off[0]}: the log says GDR 0", next_step, GPUDIRECT_OFF)
    elif evidence.across and evidence.slow and not connections and 0.05 < evidence.share_unexplained < 0.85:
        near = 0.3 if evidence.share_unexplained < 0.6 else 0.22
        if _verbs_are_fast(evidence):
            near += 0.15
        yield Cause(
            text.replace(" is off", " may be off"),
            near,
            f"measured / predicted is {evidence.share_unexplained:.2f} on several servers; no log shows the connections",
            "run with NCCL_DEBUG=INFO: connections between servers must end in GDRDMA; ib_write_bw --use_cuda beside it",
            GPUDIRECT_OFF,
        )


def acs_on(evidence: JobEvidence) -> Iterator[Cause]:
    """Yield PCIe access control, which sends what GPU and NIC tell each other up to the root and down again."""
    files = evidence.files
    on = [
        (record.file, one)
        for record in files.pci
        for one in record.functions
        if one.acs_redirects and one.kind == "bridge"
    ]
    known = any(one.acs_redirects is not None for record in files.pci for one in record.functions)
    next_step = "as root: lspci -vvv must show ACSCtl: ReqRedir- CmpltRedir- on every bridge; setpci or the BIOS turns it off"
    text = "ACS is on in PCIe bridges: GPUs and NICs reach each other through the root complex only"
    if on:
        file, first = on[0]
        said = f"{file}:{first.line}: {first.bus_id} redirects; {counted(len(on), 'bridge')} in all"
        yield Cause(text, 0.88 if evidence.slow else 0.6, said, next_step, ACS_ON)
    elif evidence.across and evidence.slow and not known and 0.15 < evidence.share_unexplained < 0.7:
        sure = 0.28 if 0.33 < evidence.share_unexplained < 0.6 else 0.2
        said = f"measured / predicted is {evidence.share_unexplained:.2f}; crossing the root complex costs about half"
        if _verbs_are_fast(evidence):
            sure += 0.2
            said += ", and verbs tests between hosts are near line rate"
        yield Cause(text.replace("is on", "may be on"), sure, said, next_step, ACS_ON)


def p2p_off(evidence: JobEvidence) -> Iterator[Cause]:
    """Yield GPUs of one server that reach each other through host memory although they need not."""
    files = evidence.files
    job = evidence.job
    text = "GPUs of a server reach each other through host memory (peer-to-peer is off)"
    next_step = "nvidia-smi topo -p2p r shows what the driver allows; look at NCCL_P2P_DISABLE, IOMMU, ACS and the container"
    name, value, where = evidence.setting("NCCL_P2P_DISABLE", "NCCL_P2P_LEVEL")
    off = value.strip() == "1" if name == "NCCL_P2P_DISABLE" else value.strip().upper() in _OFF
    shared = [(file, one) for file, one in files.connections() if one.transport == "SHM"]
    peers = [one for _, one in files.connections() if one.transport == "P2P"]
    if name and off:
        yield Cause(text, 0.88, f"{where}: {name}={value}", next_step, P2P_OFF)
    elif shared and len(shared) > len(peers):
        file, first = shared[0]
        said = f"{file}:{first.line}: {counted(len(shared), 'connection')} via SHM, {len(peers):,} via P2P"
        yield Cause(text, 0.8, said, next_step, P2P_OFF)
    elif (
        job
        and job.nodes == 1
        and evidence.slow
        and evidence.share_unexplained < 0.7
        and not shared
        and not peers
    ):
        yield Cause(
            text.replace("is off", "may be off"),
            0.3 if job.scale_up == "pcie" else 0.15,
            f"measured / predicted is {evidence.share_unexplained:.2f} inside one server",
            next_step,
            P2P_OFF,
        )


def _verbs_are_fast(evidence: JobEvidence) -> bool:
    """Say whether a test of the NICs alone, from host memory, comes near their rate."""
    nic = evidence.job.nic_bytes_per_s if evidence.job else 0.0
    best = [
        max((row.average_bytes_per_s for row in run.rows), default=0.0)
        for record in evidence.files.perftests
        for run in record.runs
        if not run.gpu
    ]
    return nic > 0 and bool(best) and max(best) > 0.85 * nic
