"""A collective → its direct schedule: every rank deals with every other one, or with the root, at once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from gpufabric.collectives.check_asked import check_op, check_relays
from gpufabric.collectives.exchange_steps import ExchangeSteps
from gpufabric.collectives.fixed_steps import fixed_steps
from gpufabric.collectives.gpu_ports import GpuPorts, check_all_pairs, lay_gpu_ports
from gpufabric.collectives.job_wiring import JobWiring
from gpufabric.collectives.port_channels import one_by_one, port_channels
from gpufabric.records.collective import Collective
from gpufabric.records.schedule import Phase, Schedule


def plan(collective: Collective, job: JobWiring) -> Schedule:
    """Return the direct schedule of a collective other than an all-to-all.

    Gather, scatter and send_recv are what NCCL makes of them: plain sends. In send_recv every rank sends its buffer to the
    next rank, as nccl-tests does. The others are what-ifs: all pairs exchange, or the root deals with everyone itself.

    Parameters
    ----------
    collective : Collective
    job : JobWiring

    Raises
    ------
    InputError
        If the operation is another.
    UnbuildableError
        If a node has no port, or no cable to one that it deals with.
    """
    check_op(collective, "direct", _PHASES)
    return _plan(collective, "direct", lay_gpu_ports(job))


def plan_pxn(collective: Collective, job: JobWiring) -> Schedule:
    """Return the schedule of a gather, scatter or send_recv whose messages NCCL relays by PXN.

    The same sends as in :func:`plan`, but a message leaves its node by the NIC on the receiver's rail: it goes over NVLink to the
    GPU beside that NIC first, so that it stays on its rail, and a root that scatters uses all NICs of its node.

    Parameters and errors are those of :func:`plan`; refused too where the GPUs of a node share PCIe only.

    Notes
    -----
    NVIDIA, Doubling all2all performance with NVIDIA Collective Communication Library 2.12, 2022.
    """
    check_op(collective, "pxn", ("gather", "scatter", "send_recv"))
    check_relays(job)
    return _plan(collective, "pxn", replace(lay_gpu_ports(job), relayed=True))


def _plan(collective: Collective, name: str, ports: GpuPorts) -> Schedule:
    job = ports.job
    if collective.op in ("all_reduce", "all_gather", "reduce_scatter"):
        check_all_pairs(ports)
    count = len(job.gpu)
    chunks = _CHUNKS.get(collective.op, count)
    share = (1.0 if collective.op == "send_recv" else 1 / chunks) / ports.channels
    order = collective.gpus if collective.op == "send_recv" else job.gpu
    root = job.place_of_rank(collective.root)
    make = _PHASES[collective.op]
    return port_channels(
        name, ports, chunks, share, lambda channel: make(ports, channel, share, root), gpus=order
    )


def _reduce_scatter(ports: GpuPorts, channel: int, share: float, _root: int) -> tuple[Phase, ...]:
    count = len(ports.job.gpu)
    steps = ExchangeSteps(ports, channel, 0, 1, np.broadcast_to(np.float64(share), (count, count)))
    return (Phase("reduce-scatter", count - 1, steps, reduces=True),)


def _all_gather(ports: GpuPorts, channel: int, share: float, _root: int) -> tuple[Phase, ...]:
    count = len(ports.job.gpu)
    steps = ExchangeSteps(ports, channel, 1, 0, np.broadcast_to(np.float64(share), (count, count)))
    return (Phase("all-gather", count - 1, steps, reduces=False),)


def _all_reduce(ports: GpuPorts, channel: int, share: float, root: int) -> tuple[Phase, ...]:
    halves = _reduce_scatter(ports, channel, share, root), _all_gather(ports, channel, share, root)
    return one_by_one(phase for half in halves for phase in half)


def _scatter(ports: GpuPorts, channel: int, share: float, root: int) -> tuple[Phase, ...]:
    other = np.delete(np.arange(len(ports.job.gpu)), root)
    edges = ports.edges(np.full(len(other), root), other, channel)
    return (Phase("scatter", 1, fixed_steps(edges, share, (other, 1, 1), peers=True), reduces=False),)


def _gather(ports: GpuPorts, channel: int, share: float, root: int) -> tuple[Phase, ...]:
    other = np.delete(np.arange(len(ports.job.gpu)), root)
    edges = ports.edges(other, np.full(len(other), root), channel)
    return (Phase("gather", 1, fixed_steps(edges, share, (other, 1, 1), peers=True), reduces=False),)


def _broadcast(ports: GpuPorts, channel: int, share: float, root: int) -> tuple[Phase, ...]:
    other = np.delete(np.arange(len(ports.job.gpu)), root)
    edges = ports.edges(np.full(len(other), root), other, channel)
    return (Phase("broadcast", 1, fixed_steps(edges, share, peers=True), reduces=False),)


def _reduce(ports: GpuPorts, channel: int, share: float, root: int) -> tuple[Phase, ...]:
    other = np.delete(np.arange(len(ports.job.gpu)), root)
    edges = ports.edges(other, np.full(len(other), root), channel)
    return (Phase("reduce", 1, fixed_steps(edges, share, peers=True), reduces=True),)


def _send_recv(ports: GpuPorts, channel: int, share: float, _root: int) -> tuple[Phase, ...]:
    rank = np.arange(len(ports.job.gpu))
    place = np.argsort(ports.job.rank)
    edges = ports.edges(place, np.roll(place, -1), channel)
    return (
        Phase("send to the next rank", 1, fixed_steps(edges, share, (rank, 1, 1), peers=True), reduces=False),
    )


_PHASES: dict[str, Callable[[GpuPorts, int, float, int], tuple[Phase, ...]]] = {
    "all_reduce": _all_reduce,
    "all_gather": _all_gather,
    "reduce_scatter": _reduce_scatter,
    "broadcast": _broadcast,
    "reduce": _reduce,
    "gather": _gather,
    "scatter": _scatter,
    "send_recv": _send_recv,
}
_CHUNKS = {"broadcast": 1, "reduce": 1}
