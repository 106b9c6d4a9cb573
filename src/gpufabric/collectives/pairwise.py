"""An all-to-all → its pairwise schedule: every rank sends to every other one directly."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gpufabric.collectives.check_asked import check_op
from gpufabric.collectives.exchange_steps import ExchangeSteps
from gpufabric.collectives.gpu_ports import GpuPorts, check_all_pairs, lay_gpu_ports
from gpufabric.collectives.job_wiring import JobWiring
from gpufabric.collectives.pair_shares import OPS, pair_shares
from gpufabric.collectives.port_channels import port_channels
from gpufabric.records.collective import Collective
from gpufabric.records.schedule import Phase, Schedule


def plan(collective: Collective, job: JobWiring) -> Schedule:
    """Return the pairwise schedule of an all_to_all or all_to_all_v.

    In step *t* place *p* sends to place *p + t + 1*. A message leaves by the NIC beside its sender and arrives by the NIC beside
    its receiver, so between rails it crosses the tiers above the leaves.

    Parameters
    ----------
    collective : Collective
    job : JobWiring

    Raises
    ------
    InputError
        If the operation is another, or ``pair_bytes`` does not fit.
    UnbuildableError
        If a node has no port, or no cable to another one where no switch stands between them.

    Notes
    -----
    Thakur, Rabenseifner and Gropp, Optimization of collective communication operations in MPICH, 2005 (pairwise exchange).
    """
    check_op(collective, "pairwise", OPS)
    ports = lay_gpu_ports(job)
    check_all_pairs(ports)
    count = len(job.gpu)
    share = pair_shares(collective, job, ports.channels)
    chunk_share = share.ravel() if collective.op == "all_to_all_v" else float(share[0, 0])
    return port_channels(
        "pairwise",
        ports,
        count * count,
        chunk_share,
        lambda channel: (_exchange(ports, channel, share),),
    )


def _exchange(ports: GpuPorts, channel: int, share: NDArray[np.float64]) -> Phase:
    count = len(share)
    return Phase("exchange", count - 1, ExchangeSteps(ports, channel, count, 1, share), reduces=False)
