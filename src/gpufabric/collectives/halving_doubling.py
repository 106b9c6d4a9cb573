"""A collective → its recursive halving and doubling: partners at distances 1, 2, 4, … exchange ever smaller parts."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gpufabric.collectives.check_asked import check_op
from gpufabric.collectives.fixed_steps import fixed_steps
from gpufabric.collectives.gpu_ports import GpuPorts, lay_gpu_ports
from gpufabric.collectives.job_wiring import JobWiring
from gpufabric.collectives.port_channels import one_by_one, port_channels
from gpufabric.errors import UnbuildableError
from gpufabric.records.collective import Collective
from gpufabric.records.schedule import Phase, Schedule

_OPS = ("all_reduce", "all_gather", "reduce_scatter")


def plan(collective: Collective, job: JobWiring) -> Schedule:
    """Return the schedule of an all_reduce, or over a power of two an all_gather or reduce_scatter.

    Reduce-scatter: places that differ in bit 0 exchange half of the buffer, then those that differ in bit 1 a quarter, and so
    on; the largest parts thus go to the nearest. All-gather is the reverse. Over other numbers an all-reduce first adds the
    first places two by two, goes on with one of each pair, and hands the result to the other in the end; those ranks move more
    than the least. NCCL has no such algorithm.

    Parameters
    ----------
    collective : Collective
    job : JobWiring

    Raises
    ------
    InputError
        If the operation is another.
    UnbuildableError
        If an all_gather or reduce_scatter is over no power of two, or a node has no port.

    Notes
    -----
    Thakur, Rabenseifner and Gropp, Optimization of collective communication operations in MPICH, 2005.
    """
    check_op(collective, "halving_doubling", _OPS)
    count = len(job.gpu)
    power = 1 << (count.bit_length() - 1)
    if collective.op != "all_reduce" and power != count:
        raise UnbuildableError(
            f"algorithm halving_doubling: its {collective.op} needs a power of two of ranks, and the job has {count:,}",
            f"{power:,} ranks",
        )
    ports = lay_gpu_ports(job)
    share = 1 / (power * ports.channels)
    return port_channels(
        "halving_doubling",
        ports,
        power,
        share,
        lambda channel: one_by_one(_phases(collective.op, ports, channel, share)),
    )


def _phases(op: str, ports: GpuPorts, channel: int, share: float) -> list[Phase]:
    count = len(ports.job.gpu)
    power = 1 << (count.bit_length() - 1)
    odd = 2 * np.arange(count - power) + 1
    core = np.concatenate([odd, np.arange(2 * (count - power), count)])
    halving = _exchanges(ports, channel, share, core, halves=True)
    doubling = _exchanges(ports, channel, share, core, halves=False)[::-1]
    if op != "all_reduce":
        return halving if op == "reduce_scatter" else doubling
    whole = (0, 1, power)
    fold = fixed_steps(ports.edges(odd - 1, odd, channel), share, whole)
    unfold = fixed_steps(ports.edges(odd, odd - 1, channel), share, whole)
    before = [Phase("add pairs", 1, fold, reduces=True)] if len(odd) else []
    after = [Phase("tell the others", 1, unfold, reduces=False)] if len(odd) else []
    return before + halving + doubling + after


def _exchanges(
    ports: GpuPorts, channel: int, share: float, core: NDArray[np.int64], halves: bool
) -> list[Phase]:
    """Return the exchanges at distances 1, 2, 4 …: of what the partner keeps when halving, of all one has when doubling."""
    number, phases = np.arange(len(core)), []
    for bit in range(len(core).bit_length() - 1):
        partner = number ^ (1 << bit)
        period = 2 << bit
        keeps = (partner if halves else number) % period
        edges = ports.edges(core, core[partner], channel)
        steps = fixed_steps(edges, share, (keeps, period, len(core) // period))
        phases.append(
            Phase(f"{'halve' if halves else 'double'} at distance {1 << bit:,}", 1, steps, reduces=halves)
        )
    return phases
