"""The table of an all_to_all_v on a wiring → the least time that its bytes take."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gpufabric.collectives.job_wiring import JobWiring
from gpufabric.graphs.cut_rates import gpu_rates, node_rates
from gpufabric.jobs.lay_wiring import Wiring
from gpufabric.simulators.ceilings import Ceiling


def table_ceiling(wiring: Wiring, job: JobWiring, pair_bytes: NDArray[np.float64]) -> Ceiling:
    """Return the largest lower bound: what a node sends others or gets from them over its NICs, and a GPU over all its links.

    Parameters
    ----------
    wiring : Wiring
    job : JobWiring
    pair_bytes : float64 array, (n, n)
        Bytes from each rank (row) to each rank (column).
    """
    table = pair_bytes[np.ix_(job.rank, job.rank)].copy()
    np.fill_diagonal(table, 0.0)
    leaves = job.nodes.first
    between_nodes = np.add.reduceat(np.add.reduceat(table, leaves, axis=0), leaves, axis=1)
    np.fill_diagonal(between_nodes, 0.0)
    gpu = gpu_rates(wiring.graph, job.gpu)
    # What a GPU sends or gets goes over links to its peers or over NICs of its node.
    nics = np.where(len(job.nodes) > 1, node_rates(wiring.cluster, job.nodes.node_of_device, job.fabric), 0.0)
    bounds = [(_most(table, gpu + nics[job.node]), "links of the rank that sends or receives most")]
    if len(job.nodes) > 1:
        bounds.append((_most(between_nodes, nics), "NICs of the server that sends or receives most"))
    return Ceiling(*max(bounds))


def _most(table: NDArray[np.float64], rate: NDArray[np.float64]) -> float:
    return float(max((table.sum(axis=1) / rate).max(), (table.sum(axis=0) / rate).max()))
