"""Two switches that are leaf and spine in one, joined by inter-switch links.

NVIDIA DGX BasePOD (RA-11127-001) and the enterprise reference architectures (wiremap 2-8-9-400) join two switches so that the
links between them carry what the servers send into one of them.
"""

from __future__ import annotations

import numpy as np

from gpufabric.topologies.clos_design import link_rates
from gpufabric.topologies.fabric_rows import WiredPlane
from gpufabric.topologies.flat_wiring import TREE_KEYS, FlatPlan, check_size, wire_flat_planes
from gpufabric.topologies.leaf_groups import bond_sides
from gpufabric.topologies.plane_split import FabricSite
from gpufabric.topologies.server_endpoints import Endpoints
from gpufabric.topologies.switch_ports import up_ports_for

_SWITCHES = 2


def build(site: FabricSite) -> list[WiredPlane]:
    """Wire *site* as two switches a plane.

    The NICs of a server alternate between the two, or each takes half of the servers (``collapsed: {split: server}``); the
    ports of a bond always go to both. Unless their number is given, the inter-switch links carry what one switch has below it,
    divided by the oversubscription.

    Raises
    ------
    UnbuildableError
        If the ports of a switch do not suffice.
    """
    keys = [key for key in TREE_KEYS if key != "oversubscription"]
    return wire_flat_planes(site, lambda endpoints: _plan(site, endpoints), keys)


def _plan(site: FabricSite, endpoints: Endpoints) -> FlatPlan:
    spec = site.spec
    leaf = _switch_of(endpoints, spec.collapsed.split)
    down = int(np.bincount(leaf, minlength=_SWITCHES).max())
    below, between = link_rates(spec, float(site.endpoints.nic_bytes_per_s.min()))
    links = spec.collapsed.links or up_ports_for(down, below, between, spec.oversubscription)
    check_size(site, down, links, _SWITCHES)
    zeros = np.zeros(links, np.int64)
    return FlatPlan(leaf, down, np.full(_SWITCHES, -1), zeros, zeros + 1)


def _switch_of(endpoints: Endpoints, split: str) -> np.ndarray:
    """Return 0 or 1 for each port."""
    if (endpoints.bond >= 0).any():
        return (endpoints.nic.astype(np.int64) * (endpoints.bond < 0) + bond_sides(endpoints)) % _SWITCHES
    slot = np.where(endpoints.rail >= 0, endpoints.rail, _order_in_server(endpoints)).astype(np.int64)
    by_server = split == "server" or (slot == slot[0]).all()
    if by_server:
        return endpoints.position.astype(np.int64) * _SWITCHES // endpoints.servers
    return slot % _SWITCHES


def _order_in_server(endpoints: Endpoints) -> np.ndarray:
    first = np.searchsorted(endpoints.position, endpoints.position)
    return np.arange(len(endpoints)) - first
