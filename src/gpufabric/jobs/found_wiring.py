"""A design and what was found of it → the cluster as it is wired now, on which everything can be predicted."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from gpufabric.jobs.extra_ports import ExtraPort, add_ports, with_links
from gpufabric.records.cluster import UNKNOWN, Cluster
from gpufabric.records.fabric_match import FabricMatch
from gpufabric.records.found_fabric import FoundFabric

Int = NDArray[np.int64]


def found_wiring(design: Cluster, found: FoundFabric, match: FabricMatch) -> Cluster:
    """Return the design with the links that were found; those that the files can't tell of stay.

    Links to foreign devices are left out, and so are links between devices of roles that the design never joins: in a tree they
    carry nothing.

    Parameters
    ----------
    design
    found
    match
        Of the two.
    """
    return lay_over(design, found, match)[0]


def match_through(plan: Cluster, match: FabricMatch, laid: tuple[Cluster, Int, Int]) -> FabricMatch:
    """Return a match with a plan as a match with the cluster that the plan was laid over.

    Parameters
    ----------
    plan
    match
        Of a found fabric with the plan.
    laid
        From :func:`lay_over`: the cluster with the links of the plan, and its device and port of each of the plan's.
    """
    cluster, device, port = laid
    plan_link = np.full(len(cluster.ports), -1, np.int64)
    known = port >= 0
    link_of = np.full(len(plan.ports), -1, np.int64)
    for ends in (plan.links.port_a, plan.links.port_b):
        link_of[ends] = np.arange(len(plan.links))
    plan_link[port[known]] = link_of[known]
    row = plan_link[cluster.links.port_a]
    return replace(
        match,
        device=np.where(match.device >= 0, device[match.device], -1).astype(np.int32),
        port=np.where(match.port >= 0, port[match.port], -1).astype(np.int32),
        in_scope=(row >= 0) & np.append(match.in_scope, False)[row],
    )


def lay_over(design: Cluster, found: FoundFabric, match: FabricMatch) -> tuple[Cluster, Int]:
    """Return the cluster of :func:`found_wiring`, and its port for each found one, -1 where it has none."""
    links = found.cluster.links
    device, port = match.device.astype(np.int64), match.port.astype(np.int64)
    cluster, port = _with_spare_ports(design, found, device, port)
    a, b = port[links.port_a], port[links.port_b]
    roles, host = design.devices.role, cluster.ports.device
    both = (a >= 0) & (b >= 0)
    a, b, found_rate = a[both], b[both], links.bytes_per_s[both]
    down = roles[host[a]] > roles[host[b]]
    a, b = np.where(down, b, a), np.where(down, a, b)
    code = roles[host[a]].astype(np.int64) << 8 | roles[host[b]]
    planned = np.unique(roles[design.link_device_a].astype(np.int64) << 8 | roles[design.link_device_b])
    fits = np.isin(code, planned)
    a, b, found_rate = a[fits], b[fits], found_rate[fits]
    nominal = np.minimum(cluster.ports.bytes_per_s[a], cluster.ports.bytes_per_s[b])
    rate = np.where(np.isnan(found_rate), nominal, np.fmin(found_rate, nominal))
    assembly = np.full(len(cluster.ports), UNKNOWN, np.int64)
    for ends in (design.links.port_b, design.links.port_a):
        assembly[ends] = design.links.assembly
    kept = ~match.in_scope
    wired = with_links(
        cluster,
        (np.append(design.links.port_a[kept], a), np.append(design.links.port_b[kept], b)),
        np.append(design.links.bytes_per_s[kept], rate),
        np.append(design.links.assembly[kept].astype(np.int64), assembly[a]),
    )
    return wired, port


def without_gpus_of(cluster: Cluster, servers: Int) -> Cluster:
    """Return the cluster without the GPUs of some servers; the servers themselves stay."""
    gpus = cluster.gpus
    kept = ~np.isin(gpus.host, servers)
    return replace(
        cluster, gpus=replace(gpus, host=gpus.host[kept], local=gpus.local[kept], domain=gpus.domain[kept])
    )


def servers_cut_off(cluster: Cluster, fabric: int) -> Int:
    """Return the servers with GPUs that have ports in a fabric, but no link."""
    ports = cluster.ports
    linked = np.zeros(len(ports), np.bool_)
    linked[cluster.links.port_a] = linked[cluster.links.port_b] = True
    mine = ports.fabric == fabric
    with_ports, with_links_too = np.unique(ports.device[mine]), np.unique(ports.device[mine & linked])
    return np.setdiff1d(np.intersect1d(np.unique(cluster.gpus.host), with_ports), with_links_too).astype(
        np.int64
    )


def _with_spare_ports(design: Cluster, found: FoundFabric, device: Int, port: Int) -> tuple[Cluster, Int]:
    """Add a port for each found one that stands on a device of the design and ends a link, but is none of its ports."""
    own, links = found.cluster.ports, found.cluster.links
    linked = np.zeros(len(port), np.bool_)
    linked[links.port_a] = linked[links.port_b] = True
    spare = np.flatnonzero(linked & (port < 0) & (device[own.device] >= 0))
    fastest = np.zeros(len(design.devices))
    np.fmax.at(fastest, design.ports.device, design.ports.bytes_per_s)
    extra = []
    for number, row in enumerate(spare.tolist()):
        on, rate = int(device[own.device[row]]), float(own.bytes_per_s[row])
        # Cages below those of the design: unique, and none that a part has.
        extra.append(ExtraPort(on, -2 - number, 1, 1, fastest[on] if np.isnan(rate) else rate, ""))
    port = port.copy()
    port[spare] = len(design.ports) + np.arange(len(spare))
    return add_ports(design, extra), port
