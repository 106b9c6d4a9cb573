"""The inside of a found server → what is unusual about it."""

from __future__ import annotations

from collections.abc import Iterator

from gpufabric.records.findings import Finding
from gpufabric.records.server_inside import ServerInside
from gpufabric.units import counted, format_gbps

GPU_WITHOUT_NEAR_NIC = "gpu-without-near-nic"
TOPOLOGY_HIDDEN = "topology-hidden"
NIC_ORDER = "nic-order"
NICS_SHARE_UPLINK = "nics-share-uplink"
GPU_LINKS_MISSING = "gpu-links-missing"


def check(inside: ServerInside) -> list[Finding]:
    """Return what is unusual in a server; nothing of it need be a fault."""
    return [*_near_nics(inside), *_order(inside), *_uplinks(inside), *_links(inside)]


def _near_nics(inside: ServerInside) -> Iterator[Finding]:
    if not inside.nics:
        return
    near = [inside.near_nics(gpu) for gpu in range(len(inside.gpus))]
    lonely = [inside.gpus[gpu] for gpu, nics in enumerate(near) if not nics]
    classes = {path for row in inside.paths for path in row if path}
    if not lonely:
        return
    if len(lonely) < len(near):
        yield Finding(
            GPU_WITHOUT_NEAR_NIC,
            "warning",
            inside.where,
            f"{', '.join(lonely[:8])} {'has' if len(lonely) == 1 else 'have'} no NIC below the same PCIe switch, other GPUs do",
            fix="their traffic crosses a CPU or goes over another GPU (PXN); look whether a NIC is missing",
        )
    elif inside.own_memory and not classes & {"PIX", "PXB", "PHB"}:
        yield Finding(
            GPU_WITHOUT_NEAR_NIC,
            "info",
            inside.where,
            f"every path from GPU to NIC is {' or '.join(sorted(classes)) or 'unknown'}: these GPUs hang on "
            "links of their own CPU, so the matrix does not tell which NIC is near which GPU",
            fix="pair them by CPU: compare the NUMA nodes of both, or take NCCL's own view with NCCL_TOPO_DUMP_FILE",
        )
    elif len(classes) == 1 and not inside.own_memory:
        yield Finding(
            TOPOLOGY_HIDDEN,
            "info",
            inside.where,
            f"every path from GPU to NIC is {classes.pop()}: a virtual machine may hide the topology",
            confidence=0.6,
            fix="if so, give NCCL the real one with NCCL_TOPO_FILE; clouds ship such a file",
        )
    elif not inside.own_memory:
        yield Finding(
            GPU_WITHOUT_NEAR_NIC,
            "info",
            inside.where,
            "no GPU has a NIC below the same PCIe switch: GPUDirect crosses the CPU",
            fix="nothing, if the server is built so; else look at the slots of the NICs",
        )


def _order(inside: ServerInside) -> Iterator[Finding]:
    first = [
        min(inside.near_nics(gpu), key=lambda nic: _place(inside.nics[nic]), default=-1)
        for gpu in range(len(inside.gpus))
    ]
    known = [_place(inside.nics[nic]) for nic in first if nic >= 0]
    if len(known) > 1 and known != sorted(known):
        pairs = ", ".join(
            f"{inside.gpus[i]}–{inside.nics[nic]}" for i, nic in enumerate(first[:8]) if nic >= 0
        )
        yield Finding(
            NIC_ORDER,
            "info",
            inside.where,
            f"NICs are not in the order of the GPUs: {pairs}",
            fix="cable rails by this order, not by the NICs' numbers; name NICs in this order where a program needs a list",
        )


def _place(name: str) -> tuple[str, int]:
    """Return what sorts names by their number: mlx5_10 after mlx5_9."""
    head = name.rstrip("0123456789")
    number = name[len(head) :][:9]
    return head, int(number) if number else -1


def _uplinks(inside: ServerInside) -> Iterator[Finding]:
    for uplink in inside.uplinks:
        wanted = sum(inside.nic_bytes_per_s[nic] for nic in uplink.nics)
        if 0 < uplink.bytes_per_s < wanted:
            names = ", ".join(inside.nics[nic] for nic in uplink.nics[:8])
            yield Finding(
                NICS_SHARE_UPLINK,
                "info",
                inside.where,
                f"{names} ({format_gbps(wanted)} together) share PCIe uplink {uplink.name} of {format_gbps(uplink.bytes_per_s)}",
                fix="GPUs below the same switch do not need it; memory of the host, and GPUs elsewhere, do",
            )


def _links(inside: ServerInside) -> Iterator[Finding]:
    most = max(inside.links, default=0)
    # The reader of a topology file has said it already.
    for gpu, own in enumerate(inside.links if inside.pairs else ()):
        if 0 <= own < most:
            yield Finding(
                GPU_LINKS_MISSING,
                "warning",
                inside.where,
                f"{inside.gpus[gpu]} has {counted(own, 'NVLink')} to the other GPUs, its best peer {most}",
                fix="nvidia-smi nvlink -s on that server",
            )
