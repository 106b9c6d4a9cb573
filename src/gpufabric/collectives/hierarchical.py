"""An all-reduce → reduce-scatter inside each node, a ring per rail between nodes, all-gather inside."""

from __future__ import annotations

import numpy as np

from gpufabric.collectives.check_asked import check_op
from gpufabric.collectives.exchange_steps import RailSteps, place_in_charge
from gpufabric.collectives.fixed_steps import fixed_steps
from gpufabric.collectives.gpu_ports import GpuPorts, lay_gpu_ports
from gpufabric.collectives.job_wiring import JobWiring
from gpufabric.collectives.port_channels import one_by_one, port_channels
from gpufabric.records.collective import Collective
from gpufabric.records.schedule import Phase, Schedule


def plan(collective: Collective, job: JobWiring) -> Schedule:
    """Return the hierarchical schedule of an all-reduce.

    The GPUs of a node add up among themselves, all pairs at once, so that each is in charge of a rail and its part of the buffer;
    the GPUs of a rail run a ring over the nodes; then every GPU tells its node. Where nodes differ in size, a GPU is in charge of
    several rails. NCCL has no such algorithm.

    Parameters
    ----------
    collective : Collective
    job : JobWiring

    Raises
    ------
    InputError
        If the operation is another.
    UnbuildableError
        If a node has no port.

    Notes
    -----
    A rank sends 2 (L - 1)/L of S inside its node and 2 (N - 1)/N of S/L between nodes: together, where nodes are alike,
    2 (n - 1)/n of S, the least there is (Chan et al., Collective communication: theory, practice, and experience, 2007).
    """
    check_op(collective, "hierarchical", ("all_reduce",))
    ports = lay_gpu_ports(job)
    nodes, rails = len(job.nodes), int(job.nodes.size.max())
    share = 1 / (nodes * rails * ports.channels)
    return port_channels(
        "hierarchical", ports, nodes * rails, share, lambda channel: _phases(ports, channel, share)
    )


def _phases(ports: GpuPorts, channel: int, share: float) -> tuple[Phase, ...]:
    job = ports.job
    nodes, rails = len(job.nodes), int(job.nodes.size.max())
    part = np.broadcast_to(np.float64(nodes * share), (len(job.gpu), rails))
    # Chunk j · L + l is node j's part of what rail l is in charge of.
    gather = RailSteps(ports, 0, 1, stride=rails, count=nodes, share=part)
    spread = RailSteps(ports, 0, 1, stride=rails, count=nodes, share=part, inwards=False)
    node, rail = np.repeat(np.arange(nodes), rails), np.tile(np.arange(rails), nodes)
    sender, receiver = (
        place_in_charge(ports, node, rail),
        place_in_charge(ports, (node + 1) % nodes, rail),
    )
    edges = ports.edges(sender, receiver, channel)
    adding = fixed_steps(edges, share, (node * rails + rail, 1, 1), advance=-rails)
    telling = fixed_steps(edges, share, ((node + 1) * rails + rail, 1, 1), advance=-rails)
    return one_by_one(
        (
            Phase("reduce-scatter inside", rails - 1, gather, reduces=True),
            Phase("reduce-scatter along rails", nodes - 1, adding, reduces=True),
            Phase("all-gather along rails", nodes - 1, telling, reduces=False),
            Phase("all-gather inside", rails - 1, spread, reduces=False),
        )
    )
