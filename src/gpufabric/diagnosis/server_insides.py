"""What is wrong inside a server: PCIe links, hidden topology, NVLinks."""

from __future__ import annotations

from collections.abc import Iterator

from gpufabric.records.job_evidence import JobEvidence
from gpufabric.records.verdicts import Cause
from gpufabric.units import BITS_PER_BYTE, counted, format_gigabytes_per_s

PCIE_REDUCED = "pcie-reduced"
TOPOLOGY_HIDDEN = "topology-hidden"
NVLINKS_MISSING = "nvlinks-missing"
#: GT/s of generations 3 to 5 and lanes that a slot of 16 may fall back to.
_GENERATIONS = {3: 8e9, 4: 16e9, 5: 32e9}
_LANES = (16, 8, 4)
#: Of the bits on the wire, 128 of 130 carry data; headers of packets of 256 bytes leave about 0.9 of that.
_PAYLOAD = 128 / 130 * 0.9
#: What virtual bridges report: 2.5 GT/s, one lane, 0.2 GB/s. No real link of a GPU is below this.
_NO_REAL_LINK = 1.0e9
#: GPUs lower their PCIe speed when idle; width does not change, and NICs do not do it.
_IDLE_TRANSFERS = 2.5e9


def pcie_reduced(evidence: JobEvidence) -> Iterator[Cause]:
    """Yield PCIe links below what both device and slot can, or a rate that such a link would give."""
    seen = False
    bridges = {
        function.bus_id: function
        for record in evidence.files.pci
        for function in record.functions
        if function.kind == "bridge"
    }
    limit = min((b.capable_lanes for b in bridges.values() if b.capable_lanes), default=0)
    for record in evidence.files.pci:
        for one in record.functions:
            if one.kind not in {"gpu", "nic"} or not one.capable_lanes or not one.lanes:
                continue
            seen = True
            narrow = one.lanes < one.capable_lanes and (limit == 0 or one.lanes < limit)
            slow = 0 < one.transfers_per_s < one.capable_transfers_per_s and not (
                one.kind == "gpu" and one.transfers_per_s <= _IDLE_TRANSFERS
            )
            if narrow or slow:
                yield Cause(
                    f"the PCIe link of {one.bus_id} ({one.kind}) runs below what it can",
                    0.8 if evidence.slow else 0.5,
                    f"{record.file}:{one.line}: {one.transfers_per_s / 1e9:g} GT/s x{one.lanes},"
                    f" able to {one.capable_transfers_per_s / 1e9:g} GT/s x{one.capable_lanes}",
                    "reseat the card or its riser, look at the slot's setting in the BIOS; the slot may have fewer lanes",
                    PCIE_REDUCED,
                )
                return
    if not seen:
        yield from _by_rate(evidence)


def _by_rate(evidence: JobEvidence) -> Iterator[Cause]:
    job = evidence.job
    if job is None or not evidence.slow or evidence.best is None:
        return
    rate = job.nic_bytes_per_s if evidence.across else job.gpu_pcie_bytes_per_s
    if not rate:
        return
    fitting = [
        (abs(evidence.share - share), generation, lanes)
        for generation, transfers in _GENERATIONS.items()
        for lanes in _LANES
        if (share := transfers * lanes / BITS_PER_BYTE * _PAYLOAD / rate) < 0.9
    ]
    distance, generation, lanes = min(fitting, default=(1.0, 0, 0))
    if distance < 0.04:
        yield Cause(
            f"a NIC may hang on PCIe {generation} x{lanes}"
            if evidence.across
            else f"a GPU may hang on PCIe {generation} x{lanes}",
            0.24,
            f"measured / predicted is {evidence.share:.2f}, which such a link of {format_gigabytes_per_s(rate * evidence.share)}"
            " would give",
            "lspci -vvv as root: LnkSta of every NIC and GPU must be its LnkCap",
            PCIE_REDUCED,
        )


def topology_hidden(evidence: JobEvidence) -> Iterator[Cause]:
    """Yield virtual machines that show NCCL another tree of PCIe switches than there is."""
    text = "the machine is virtual or bridges are: NCCL sees another PCIe tree than there is"
    next_step = (
        "give NCCL the real tree with NCCL_TOPO_FILE (clouds ship one); compare with lspci -t of the host"
    )
    virtual = [
        (log.file, node)
        for log in evidence.files.logs
        for node in log.system
        if node.link == "PCI" and 0 < node.bytes_per_s < _NO_REAL_LINK
    ]
    if virtual:
        file, node = virtual[0]
        rate = format_gigabytes_per_s(node.bytes_per_s)
        said = f"{file}:{node.line}: a PCI link of {rate}; {counted(len(virtual), 'link')} in all"
        yield Cause(text, 0.85, said, next_step, TOPOLOGY_HIDDEN)
        return
    if evidence.setting("NCCL_TOPO_FILE")[0]:
        return
    for inside in evidence.files.insides:
        paths = {path for row in inside.paths for path in row if path}
        near = any(inside.near_nics(gpu) for gpu in range(len(inside.gpus)))
        if len(inside.nics) > 1 and len(paths) == 1 and not near and not inside.own_memory:
            said = f"{inside.where}: every path from GPU to NIC is {paths.pop()}"
            yield Cause(text, 0.65, said, next_step, TOPOLOGY_HIDDEN)
            return
    for record in evidence.files.pci:
        odd = [
            one
            for one in record.functions
            if one.kind in {"bridge", "nic"} and one.lanes == 1 and one.transfers_per_s == _IDLE_TRANSFERS
        ]
        if odd:
            said = f"{record.file}:{odd[0].line}: {odd[0].bus_id} at 2.5 GT/s x1, as virtual bridges report"
            yield Cause(text, 0.6, said, next_step, TOPOLOGY_HIDDEN)
            return


def nvlinks_missing(evidence: JobEvidence) -> Iterator[Cause]:
    """Yield a GPU with fewer NVLinks than its peers."""
    next_step = (
        "nvidia-smi nvlink -s and -e on that server; fabric manager's log; then a cold reset of the GPU"
    )
    for record in evidence.files.nvlinks:
        short = [gpu for gpu in record.gpus if gpu.inactive]
        if short:
            gpu = short[0]
            yield Cause(
                f"GPU {gpu.index} has {counted(len(gpu.inactive), 'NVLink')} down",
                0.8 if evidence.slow else 0.6,
                f"{record.file}:{gpu.line}: {gpu.active} of {len(gpu.links)} up",
                next_step,
                NVLINKS_MISSING,
            )
            return
    for inside in evidence.files.insides:
        most = max(inside.links, default=0)
        fewer = [i for i, own in enumerate(inside.links) if 0 <= own < most]
        if fewer:
            yield Cause(
                f"{inside.gpus[fewer[0]]} has {inside.links[fewer[0]]} NVLinks, its best peer {most}",
                0.75 if evidence.slow else 0.5,
                f"{inside.where}: links of the GPUs: {' '.join(map(str, inside.links))}",
                next_step,
                NVLINKS_MISSING,
            )
            return
