"""Demands → seconds by a closed form: latency of the steps, and bytes by what a group gets of its links.

Groups of one demand work at the same time, so each GPU has its own links and its own part of the NICs, and no more. Contention
beyond the servers is the fabric's: :mod:`gpufabric.jobs` prices the same demands on a graph.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gpufabric.records.demand import OPS, DemandTable
from gpufabric.records.training_constants import NetworkConstants
from gpufabric.records.training_hardware import TrainingHardware

Array = NDArray[np.float64]
_ROUNDS = {"all_reduce": 2.0, "send_recv": 0.0, "all_to_all": 0.0}


def time_demands(demands: DemandTable, hardware: TrainingHardware, network: NetworkConstants) -> Array:
    """Return how long each demand takes once.

    Ring and all-to-all bytes as nccl-tests counts them (https://github.com/NVIDIA/nccl-tests/blob/master/doc/PERFORMANCE.md).

    Returns
    -------
    float64, shape (D,)
    """
    ranks = demands.size.prod(axis=1).astype(np.float64)
    local = ranks_of_domain(demands, hardware.gpus_per_domain)
    domains = np.ceil(ranks / local)
    inside_rate = max(hardware.scale_up_bytes_per_s, hardware.nic_bytes_per_s) * network.inside_share
    nic = max(hardware.nic_bytes_per_s, 1.0) * network.across_share
    # A ring leaves a domain by the NICs of all its members there.
    across_rate = np.minimum(inside_rate, nic * local)
    op = np.array(OPS)[demands.op]
    rounds = np.ones(len(demands))
    for name, value in _ROUNDS.items():
        rounds[op == name] = value
    ring = demands.size_bytes * rounds * (ranks - 1) / ranks
    rate = np.where(domains > 1, across_rate, inside_rate)
    moved = ring / rate
    sent = op == "send_recv"
    moved[sent] = (demands.size_bytes / np.where(domains > 1, nic, inside_rate))[sent]
    swap = op == "all_to_all"
    moved[swap] = _exchange(demands, (ranks, local), (inside_rate, nic))[swap]
    return np.asarray(network.base_s + _latency(op, local, domains, network) + moved)


def ranks_of_domain(demands: DemandTable, gpus_per_domain: int) -> Array:
    """Return how many ranks of a group share one scale-up domain; groups are taken to start where a domain does."""
    near = np.clip(gpus_per_domain // np.maximum(demands.stride, 1), 1, demands.size)
    return np.asarray(near.prod(axis=1), np.float64)


def _exchange(demands: DemandTable, ranks: tuple[Array, Array], rates: tuple[float, float]) -> Array:
    total, local = ranks
    inside_rate, nic = rates
    away = np.where(total > local, demands.size_bytes * (total - local) / total, 0.0)
    one = demands.size_bytes / np.maximum(demands.copies, 1.0)
    # One copy crosses to each server; NVLink hands it on there.
    crossing = np.where(demands.copies > 0, np.minimum(one * demands.spread, away), away)
    inside = demands.size_bytes * (total - 1) / total - np.where(demands.copies > 0, 0.0, away)
    return np.asarray(np.maximum(crossing / nic, inside / inside_rate))


def _latency(op: NDArray[np.str_], local: Array, domains: Array, network: NetworkConstants) -> Array:
    # All-reduce goes up and down a tree of domains, the others take every step of a ring or a direct exchange.
    tree = 2.0 * np.ceil(np.log2(domains))
    across = np.where(op == "all_reduce", tree, domains - 1)
    inside = np.where(op == "all_reduce", 2.0, 1.0) * (local - 1)
    direct = (op == "send_recv") | (op == "all_to_all")
    across = np.where(direct, np.minimum(domains - 1, 1), across)
    inside = np.where(direct, 1.0, inside)
    return np.asarray(across * network.across_step_s + inside * network.inside_step_s)
