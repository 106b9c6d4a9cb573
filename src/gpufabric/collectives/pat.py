"""An all-gather or reduce-scatter → its PAT schedule: a binomial tree from every rank at once, in log₂ n steps."""

from __future__ import annotations

import numpy as np

from gpufabric.collectives.check_asked import check_op
from gpufabric.collectives.fixed_steps import fixed_steps
from gpufabric.collectives.gpu_ports import GpuPorts, lay_gpu_ports
from gpufabric.collectives.job_wiring import JobWiring
from gpufabric.collectives.port_channels import one_by_one, port_channels
from gpufabric.errors import UnbuildableError
from gpufabric.records.collective import Collective
from gpufabric.records.schedule import Phase, Schedule


def plan(collective: Collective, job: JobWiring) -> Schedule:
    """Return the PAT schedule of an all_gather or reduce_scatter.

    All-gather: with distances b that halve from the greatest power of two below n down to 1, every rank sends the b-th next one
    those chunks that lie a multiple of 2 b before its own; far neighbours get one chunk, near ones many. Reduce-scatter is the
    same in reverse. Buffers are taken to hold all that a step sends; NCCL takes the chunks of a step in parts where they do not.

    Parameters
    ----------
    collective : Collective
    job : JobWiring

    Raises
    ------
    InputError
        If the operation is another.
    UnbuildableError
        If a node has more than one rank (NCCL has no other PAT), or no port.

    Notes
    -----
    Jeaugey, PAT: a new algorithm for all-gather and reduce-scatter operations at scale, arXiv 2506.20252, 2025; the order of the
    distances is the reverse of Bruck et al., 1997.
    """
    check_op(collective, "pat", ("all_gather", "reduce_scatter"))
    most = int(job.nodes.size.max())
    if most > 1:
        raise UnbuildableError(
            f"algorithm pat: it needs one rank a node, and a node of this job has {most}",
            "ring, or a job with one rank a node",
        )
    ports = lay_gpu_ports(job)
    share = 1 / (ports.channels * len(job.gpu))
    gathers = collective.op == "all_gather"
    return port_channels(
        "pat", ports, len(job.gpu), share, lambda channel: _phases(ports, channel, share, gathers)
    )


def _phases(ports: GpuPorts, channel: int, share: float, gathers: bool) -> tuple[Phase, ...]:
    count = len(ports.job.gpu)
    place = np.arange(count)
    phases: list[Phase] = []
    distance = 1
    while distance < count:
        far = (place + distance) % count
        held = -(-(count - distance) // (2 * distance))
        edges = ports.edges(place, far, channel) if gathers else ports.edges(far, place, channel)
        steps = fixed_steps(edges, share, (place, -2 * distance, held))
        phases.append(Phase(f"distance {distance:,}", 1, steps, reduces=not gathers))
        distance *= 2
    return one_by_one(reversed(phases) if gathers else phases)
