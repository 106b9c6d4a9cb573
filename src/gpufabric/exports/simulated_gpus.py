"""A design → what simulators see of its GPUs: their way inside a server, and the links of the fabric that joins them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gpufabric.errors import InputError, printable
from gpufabric.graphs.fabric_links import FabricLinks, fabric_links
from gpufabric.graphs.link_latency import link_latencies
from gpufabric.records.export_target import ExportSource
from gpufabric.records.parts import ServerPart


@dataclass(frozen=True, slots=True)
class SimulatedGpus:
    """GPUs that are alike, and the fabric that joins them. L links of the fabric.

    Attributes
    ----------
    fabric : int
    server : ServerPart
        The part of all servers with GPUs.
    domain_gpus : int
        GPUs of every scale-up domain.
    links : FabricLinks
    latency_s : float64 array, (L, 2)
        Upwards and downwards, with the switch that the link enters.
    """

    fabric: int
    server: ServerPart
    domain_gpus: int
    links: FabricLinks
    latency_s: NDArray[np.float64]


def simulated_gpus(source: ExportSource, program: str) -> SimulatedGpus:
    """Return the GPUs of a design and the first chosen fabric that they are linked to.

    Parameters
    ----------
    source
    program
        Begins refusals.

    Raises
    ------
    InputError
        If there are no GPUs, servers of several kinds, scale-up domains of several sizes, or no link to a fabric.
    """
    cluster = source.cluster
    if not len(cluster.gpus):
        raise InputError(
            f"{program}: the cluster has no GPUs; it simulates their traffic; describe servers with GPUs"
        )
    kinds = np.unique(cluster.devices.part[cluster.gpus.host]).tolist()
    part = source.parts.servers.get(cluster.parts[kinds[0]]) if kinds[0] >= 0 else None
    if len(kinds) > 1 or part is None:
        names = ", ".join(printable(cluster.parts[kind]) for kind in kinds if kind >= 0)
        raise InputError(
            f"{program}: servers with GPUs are of several kinds ({names}); all must be of one; describe each kind for itself"
        )
    sizes = np.unique(np.unique(cluster.gpus.domain, return_counts=True)[1]).tolist()
    if len(sizes) > 1:
        raise InputError(
            f"{program}: scale-up domains have {' and '.join(map(str, sizes))} GPUs; all must have as many; "
            "describe whole domains"
        )
    for fabric in source.fabrics:
        links = fabric_links(cluster, fabric)
        if len(links) and bool(links.at_server.any()):
            both = link_latencies(cluster, source.parts)[links.row]
            turned = links.lower != cluster.link_device_a[links.row]
            return SimulatedGpus(
                fabric, part, sizes[0], links, np.where(turned[:, None], both[:, ::-1], both)
            )
    raise InputError(f"{program}: no chosen fabric has links to servers with GPUs; choose one with --fabric")
