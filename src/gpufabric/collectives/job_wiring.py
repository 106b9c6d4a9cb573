"""A cluster and the ranks of a job → what every algorithm needs to know of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gpufabric.collectives.job_nodes import JobNodes, group_nodes
from gpufabric.errors import InputError
from gpufabric.records.cluster import Cluster
from gpufabric.records.graph import Inside
from gpufabric.records.parts import ScaleUp


@dataclass(frozen=True, slots=True)
class JobWiring:
    """The ranks of a job on their wiring. A *place* is a position in ``nodes.gpu``: GPUs node by node.

    Attributes
    ----------
    cluster, inside
        The wiring, and the neighbours of its ports as the GPU-level graph has them.
    nodes : JobNodes
    node, local, rank : int64 arrays, one a place
        Node, position in the node, and rank of the GPU at each place.
    fabric : int
        Index of the fabric whose ports carry the collective.
    scale_up : ScaleUp
        How the GPUs of a node reach each other.
    in_network : bool
        Switches of the fabric add and multicast (SHARP).
    """

    cluster: Cluster
    inside: Inside
    nodes: JobNodes
    node: NDArray[np.int64]
    local: NDArray[np.int64]
    rank: NDArray[np.int64]
    fabric: int
    scale_up: ScaleUp
    in_network: bool

    @property
    def gpu(self) -> NDArray[np.int32]:
        """GPU at each place."""
        return self.nodes.gpu

    def place_of_rank(self, rank: int) -> int:
        """Return the place of a rank."""
        return int(np.flatnonzero(self.rank == rank)[0])


def lay_job(
    cluster: Cluster,
    inside: Inside,
    gpus: NDArray[np.int32],
    scale_up: ScaleUp,
    fabric: int = 0,
    in_network: bool = False,
) -> JobWiring:
    """Return the job of the ranks on *gpus*, in rank order.

    Parameters
    ----------
    cluster, inside, gpus, scale_up, fabric, in_network
        As the attributes of :class:`JobWiring`.

    Raises
    ------
    InputError
        If there are less than two ranks, or two share a GPU.
    """
    if len(gpus) < 2:
        raise InputError(f"ranks: {len(gpus)} is out of range; a collective needs 2 or more")
    if len(np.unique(gpus)) != len(gpus):
        raise InputError("ranks: two ranks share a GPU; give each rank its own GPU")
    nodes = group_nodes(cluster, gpus)
    rank_of_gpu = np.empty(int(gpus.max()) + 1, np.int64)
    rank_of_gpu[gpus] = np.arange(len(gpus))
    node = np.repeat(np.arange(len(nodes)), nodes.size)
    return JobWiring(
        cluster=cluster,
        inside=inside,
        nodes=nodes,
        node=node,
        local=np.arange(len(gpus)) - nodes.first[node],
        rank=rank_of_gpu[nodes.gpu],
        fabric=fabric,
        scale_up=scale_up,
        in_network=in_network,
    )
