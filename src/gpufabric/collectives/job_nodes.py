"""The GPUs of a job → its nodes, in the order of the ranks."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gpufabric.records.cluster import Cluster


@dataclass(frozen=True, slots=True)
class JobNodes:
    """The nodes of a job: GPUs that share a scale-up domain. N rows, n GPUs.

    Attributes
    ----------
    gpu : int32 array, n
        GPUs node by node, in the order of their ranks.
    first, size : int64 arrays, N
        Node *k* has ``gpu[first[k] : first[k] + size[k]]``.
    node_of_device : int64 array, one a device
        Node that each server belongs to, -1 for none.
    """

    gpu: NDArray[np.int32]
    first: NDArray[np.int64]
    size: NDArray[np.int64]
    node_of_device: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.first)


def group_nodes(cluster: Cluster, gpus: NDArray[np.int32]) -> JobNodes:
    """Return the nodes of a job, in the order in which the ranks first meet them.

    NCCL groups ranks by host (by NVLink domain where it spans hosts) and so does this, whatever the order of the ranks.
    """
    domain = cluster.gpus.domain[gpus]
    _, first_rank, inverse = np.unique(domain, return_index=True, return_inverse=True)
    place = np.empty(len(first_rank), np.int64)
    place[np.argsort(first_rank, kind="stable")] = np.arange(len(first_rank))
    node = place[inverse]
    size = np.bincount(node, minlength=len(first_rank)).astype(np.int64)
    node_of_device = np.full(len(cluster.devices), -1, np.int64)
    node_of_device[cluster.gpus.host[gpus]] = node
    return JobNodes(
        gpu=gpus[np.argsort(node, kind="stable")].astype(np.int32),
        first=np.cumsum(size) - size,
        size=size,
        node_of_device=node_of_device,
    )
