"""A job on a wiring → the rates of the cuts that bound its collectives."""

from __future__ import annotations

import numpy as np

from gpufabric.collectives.job_wiring import JobWiring
from gpufabric.graphs.cut_rates import gpu_rates, node_rates, part_cuts
from gpufabric.jobs.lay_wiring import Wiring
from gpufabric.simulators.ceilings import CutRates


def find_cuts(wiring: Wiring, job: JobWiring) -> CutRates:
    """Return what :func:`gpufabric.simulators.ceilings.least_time` needs to know of a job."""
    ranks, of_device = len(job.gpu), job.nodes.node_of_device
    nics = node_rates(wiring.cluster, of_device, job.fabric)
    gpus = gpu_rates(wiring.graph, job.gpu)
    rates, held = part_cuts(wiring.cluster, of_device, job.nodes.size)
    exchange = rates * ranks / (held * (ranks - held).astype(np.float64))
    return CutRates(
        ranks=ranks,
        nodes=len(job.nodes),
        smallest_node_bytes_per_s=float(nics.min()),
        all_nodes_bytes_per_s=float(nics.sum()),
        smallest_part_bytes_per_s=float(rates.min(initial=np.inf)),
        gpu_bytes_per_s=float(gpus.min()),
        all_gpus_bytes_per_s=float(gpus.sum()),
        multicast=job.scale_up.multicast,
        largest_node_ranks=int(job.nodes.size.max()),
        exchange_bytes_per_s=float(exchange.min(initial=np.inf)),
    )
