"""An all-to-all → its PXN schedule: messages for one rail are collected on the local GPU of that rail."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gpufabric.collectives.check_asked import check_op, check_relays
from gpufabric.collectives.exchange_steps import RailSteps, RailToGpuSteps
from gpufabric.collectives.gpu_ports import GpuPorts, check_all_pairs, lay_gpu_ports
from gpufabric.collectives.job_wiring import JobWiring
from gpufabric.collectives.pair_shares import OPS, pair_shares
from gpufabric.collectives.port_channels import port_channels
from gpufabric.records.collective import Collective
from gpufabric.records.schedule import Phase, Schedule


def plan(collective: Collective, job: JobWiring) -> Schedule:
    """Return the PXN schedule of an all_to_all or all_to_all_v.

    A rank gives all that is meant for GPUs of rail *r*, in whatever node, to the GPU of its own node on rail *r*, over NVLink.
    That one sends each such GPU a single message with what its whole node has for it, so that messages stay on their rail. Where
    nodes differ in size, a node without a GPU *r* has rail *r* in charge of GPU *r* modulo its size.

    Parameters
    ----------
    collective : Collective
    job : JobWiring

    Raises
    ------
    InputError
        If the operation is another, or ``pair_bytes`` does not fit.
    UnbuildableError
        If the GPUs of a node share PCIe only, a node has no port, or no cable to another one where no switch stands between them.

    Notes
    -----
    NVIDIA, Doubling all2all performance with NVIDIA Collective Communication Library 2.12, 2022.
    """
    check_op(collective, "pxn", OPS)
    check_relays(job)
    ports = lay_gpu_ports(job)
    check_all_pairs(ports)
    nodes, rails = len(job.nodes), int(job.nodes.size.max())
    gpus = np.full(nodes * rails, -1, np.int32)
    stand = job.node * rails + job.local
    gpus[stand] = job.gpu
    share = pair_shares(collective, job, ports.channels)
    chunk_share: float | NDArray[np.float64] = float(share[0, 0])
    if collective.op == "all_to_all_v":
        table = np.zeros((len(gpus), len(gpus)))
        table[np.ix_(stand, stand)] = share
        chunk_share = table.ravel()
    to_rail, to_gpu = _collected(job, share, collective.op == "all_to_all")
    return port_channels(
        "pxn",
        ports,
        len(gpus) ** 2,
        chunk_share,
        lambda channel: _phases(ports, channel, to_rail, to_gpu),
        gpus=gpus,
    )


def _phases(
    ports: GpuPorts, channel: int, to_rail: NDArray[np.float64], to_gpu: NDArray[np.float64]
) -> tuple[Phase, Phase]:
    nodes, rails = len(ports.job.nodes), to_rail.shape[1]
    collect = RailSteps(ports, nodes * rails, 1, stride=rails, count=nodes, share=to_rail)
    deliver = RailToGpuSteps(ports, channel, to_gpu)
    return (
        Phase("collect on the rail's GPU", rails - 1, collect, reduces=False),
        Phase("deliver along rails", nodes - 1, deliver, reduces=False),
    )


def _collected(
    job: JobWiring, share: NDArray[np.float64], equal: bool
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the bytes from each place for each rail, and from each node to each place."""
    count, rails = len(job.gpu), int(job.nodes.size.max())
    if equal:
        on_rail = np.bincount(job.local, minlength=rails) * share[0, 0]
        from_node = (job.nodes.size * share[0, 0])[:, None]
        return np.broadcast_to(on_rail, (count, rails)), np.broadcast_to(from_node, (len(job.nodes), count))
    to_rail = np.zeros((count, rails))
    np.add.at(to_rail.T, job.local, share.T)
    return to_rail, np.add.reduceat(share, job.nodes.first, axis=0)
