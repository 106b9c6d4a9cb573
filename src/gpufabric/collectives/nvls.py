"""A collective inside one NVLink domain → its NVLS schedule: the NVSwitches add and multicast."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from gpufabric.collectives.check_asked import check_multicast, check_op
from gpufabric.collectives.fixed_steps import fixed_steps, inside_edges
from gpufabric.collectives.job_wiring import JobWiring
from gpufabric.errors import UnbuildableError
from gpufabric.records.collective import Collective
from gpufabric.records.schedule import Channel, Phase, Schedule


def plan(collective: Collective, job: JobWiring) -> Schedule:
    """Return the NVLS schedule of an all_reduce, all_gather or reduce_scatter inside one node.

    Each GPU is in charge of one chunk: it reads the chunk's sum from the switches, for which every GPU sends its own up, and
    writes the result to the switches, which hand it to every GPU, also to the writer. In an all-reduce each GPU thus moves
    (1 + 1/n) of the buffer in each direction.

    Parameters
    ----------
    collective : Collective
    job : JobWiring

    Raises
    ------
    InputError
        If the operation is another.
    UnbuildableError
        If the switches do not add and multicast, or the job has several nodes.

    Notes
    -----
    Klenk et al., An in-network architecture for accelerating shared-memory multiprocessor collectives, ISCA 2020.
    """
    check_op(collective, "nvls", _PHASES)
    check_multicast(job, "nvls")
    if len(job.nodes) > 1:
        raise UnbuildableError(
            f"algorithm nvls: it stays inside one NVLink domain, and this job has {len(job.nodes):,}",
            "nvls_tree" if collective.op == "all_reduce" else "ring",
        )
    share = 1 / len(job.gpu)
    phases = [phase for make in _PHASES[collective.op] for phase in make(job.gpu, share)]
    return Schedule("nvls", (Channel(job.gpu, len(job.gpu), share, tuple(phases)),))


def _reduce(gpu: NDArray[np.int32], share: float) -> tuple[Phase, Phase]:
    switch = np.full(len(gpu), ~0)
    up = fixed_steps(inside_edges(gpu, switch), share, (0, 1, len(gpu)))
    down = fixed_steps(inside_edges(switch, gpu), share, (np.arange(len(gpu)), 1, 1))
    return (
        Phase("NVSwitches read and add", 1, up, reduces=True),
        Phase("sums come down", 1, down, reduces=False),
    )


def _multicast(gpu: NDArray[np.int32], share: float) -> tuple[Phase, Phase]:
    switch = np.full(len(gpu), ~0)
    up = fixed_steps(inside_edges(gpu, switch), share, (np.arange(len(gpu)), 1, 1))
    down = fixed_steps(inside_edges(switch, gpu), share, (0, 1, len(gpu)))
    return (
        Phase("results go up", 1, up, reduces=False),
        Phase("NVSwitches multicast", 1, down, reduces=False),
    )


_Make = Callable[[NDArray[np.int32], float], tuple[Phase, Phase]]
_PHASES: dict[str, tuple[_Make, ...]] = {
    "all_reduce": (_reduce, _multicast),
    "all_gather": (_multicast,),
    "reduce_scatter": (_reduce,),
}
