"""A collective and what an algorithm can do → a refusal in one line, or nothing."""

from __future__ import annotations

from collections.abc import Iterable

from gpufabric.collectives.job_wiring import JobWiring
from gpufabric.errors import InputError, UnbuildableError, printable
from gpufabric.records.collective import Collective


def check_op(collective: Collective, algorithm: str, ops: Iterable[str]) -> None:
    """Refuse an operation that the algorithm has no schedule for, and a root that is no rank.

    Raises
    ------
    InputError
    """
    if collective.op not in ops:
        raise InputError(
            f'algorithm {algorithm}: it has no schedule for operation "{printable(collective.op)}"; it has: {", ".join(ops)}'
        )
    if not 0 <= collective.root < len(collective.gpus):
        raise InputError(
            f"root: {collective.root:,} is out of range; allowed is 0 to {len(collective.gpus) - 1:,}"
        )


def check_multicast(job: JobWiring, algorithm: str) -> None:
    """Refuse nodes whose scale-up switches do not add and multicast.

    Raises
    ------
    UnbuildableError
    """
    if job.scale_up.kind != "switched":
        what = {"pcie": "PCIe", "mesh": "direct links"}[job.scale_up.kind]
        raise UnbuildableError(
            f"algorithm {algorithm}: it adds in NVSwitches, and the GPUs of these servers share {what} only",
            "ring",
        )
    if not job.scale_up.multicast:
        raise UnbuildableError(
            f"algorithm {algorithm}: the NVSwitches of these servers do not add and multicast (NVLink SHARP)",
            "ring",
        )


def check_relays(job: JobWiring) -> None:
    """Refuse nodes whose GPUs share PCIe only, where NCCL relays no messages (PXN).

    Raises
    ------
    UnbuildableError
    """
    if job.scale_up.kind == "pcie" and len(job.nodes) > 1:
        raise UnbuildableError(
            "algorithm pxn: it hands messages to other GPUs over NVLink, and the GPUs of these servers share PCIe only",
            "sends by the GPU's own NIC (pairwise, direct)",
        )
