"""Every server linked directly to every other, without a switch."""

from __future__ import annotations

import numpy as np

from gpufabric.errors import UnbuildableError
from gpufabric.topologies.fabric_rows import WiredPlane
from gpufabric.topologies.plane_split import FabricSite
from gpufabric.units import counted


def build(site: FabricSite) -> list[WiredPlane]:
    """Wire *site* as a full mesh: each pair of servers gets as many parallel links as the ports allow.

    Raises
    ------
    UnbuildableError
        If a server has fewer ports than there are other servers.
    """
    if site.spec.managers:
        raise UnbuildableError(
            "a full mesh has no switch for managers", "a full mesh without managers, or leaf-spine"
        )
    ends = site.endpoints
    servers = ends.servers
    ports = int((ends.position == 0).sum())
    if servers < 2:
        raise UnbuildableError("a full mesh of one server has no link", "two servers")
    if ports < servers - 1:
        cables = servers * (servers - 1) // 2
        raise UnbuildableError(
            f"a full mesh of {counted(servers, 'server')} needs "
            f"{counted(servers - 1, 'port')} a server and {counted(cables, 'cable')}; "
            f"a server has {ports}",
            f"a full mesh of {counted(ports + 1, 'server')}, or leaf-spine",
        )
    parallel = ports // (servers - 1)
    low, high = np.triu_indices(servers, 1)
    low, high = np.repeat(low, parallel), np.repeat(high, parallel)
    copy = np.tile(np.arange(parallel), servers * (servers - 1) // 2)
    rate = site.spec.link_rate or float(ends.nic_bytes_per_s.min())
    first = np.searchsorted(ends.position, np.arange(servers))
    row_a = first[low] + (high - 1) * parallel + copy
    row_b = first[high] + low * parallel + copy
    port_a, port_b = (_server_ports(site, rows, rate) for rows in (row_a, row_b))
    site.draft.add_links(port_a, port_b, rate)
    return []


def _server_ports(site: FabricSite, rows: np.ndarray, rate: float) -> np.ndarray:
    ends = site.endpoints.take(rows)
    return site.draft.add_ports(
        ends.server,
        cage=ends.cage,
        lane=ends.lane,
        lanes_in_cage=ends.lanes_in_cage,
        nic=ends.nic,
        bytes_per_s=rate,
        fabric=site.fabric,
        plane=ends.plane,
        rail=ends.rail,
        bond=ends.bond,
    )
