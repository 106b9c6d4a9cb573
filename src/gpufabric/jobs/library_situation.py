"""A job on its wiring → what a communication library sees of it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from gpufabric.collectives.job_wiring import JobWiring
from gpufabric.records.cluster import Cluster
from gpufabric.records.job_situation import JobSituation
from gpufabric.records.parts import ServerPart


def job_situation(job: JobWiring, server: ServerPart) -> JobSituation:
    """Return what the choices of a library depend on.

    Parameters
    ----------
    job : JobWiring
    server : ServerPart
        Of rank 0; servers of other kinds are taken to be like it.
    """
    cluster, nodes = job.cluster, job.nodes
    several = len(nodes) > 1
    nics, nic, nic_rate = _nics(job, server) if several else (0, "", 0.0)
    alone = len(server.gpus) * server.scale_up.domain_servers == 1
    return JobSituation(
        ranks=len(job.gpu),
        nodes=len(nodes),
        node_ranks=int(nodes.size.max()),
        even=bool((nodes.size == nodes.size[0]).all()),
        gpu=server.gpu,
        scale_up="none" if alone else server.scale_up.kind,
        multicast=server.scale_up.multicast,
        domain_servers=server.scale_up.domain_servers,
        network=cluster.fabrics[job.fabric].network if several else "",
        nic=nic,
        node_nics=nics,
        nic_bytes_per_s=nic_rate,
        in_network=job.in_network,
    )


def _nics(job: JobWiring, server: ServerPart) -> tuple[int, str, float]:
    """Return number, part and rate of the NICs of the first node that have a link in the fabric."""
    cluster = job.cluster
    linked = np.concatenate([cluster.links.port_a, cluster.links.port_b])
    rate = np.tile(cluster.links.bytes_per_s, 2)
    mine = (job.nodes.node_of_device[cluster.ports.device[linked]] == 0) & (
        cluster.ports.fabric[linked] == job.fabric
    )
    port, rate = linked[mine], rate[mine]
    if not len(port):
        return 0, "", 0.0
    nic = cluster.ports.nic[port].astype(np.int64)
    count = len(np.unique(cluster.ports.device[port].astype(np.int64) * 2**15 + nic))
    known = 0 <= nic[0] < len(server.nics)
    return count, server.nics[nic[0]].part if known else "", float(rate.sum() / count)


def servers_as_nodes(cluster: Cluster) -> Cluster:
    """Return the cluster as a library sees it that knows no scale-up domain beyond a server."""
    return replace(cluster, gpus=replace(cluster.gpus, domain=cluster.gpus.host))
