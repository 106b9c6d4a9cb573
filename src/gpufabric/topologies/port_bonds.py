"""Server ports of a fabric and a wish to bond them → which of them act as one interface."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from gpufabric.errors import UnbuildableError
from gpufabric.topologies.leaf_groups import bond_sides
from gpufabric.topologies.server_endpoints import Endpoints


def bond_ports(endpoints: Endpoints, bond: str | None, network: str) -> Endpoints:
    """Return *endpoints* with their bonds: the ports of each NIC that has several, or all ports of each server.

    Link aggregation over two switches is a matter of Ethernet (IEEE 802.1AX; without stacking as in Alibaba HPN, SIGCOMM 2024,
    https://doi.org/10.1145/3651890.3672265).

    Raises
    ------
    UnbuildableError
        If there is nothing to bond, or the fabric is InfiniBand.
    """
    if bond is None:
        return endpoints
    if network != "ethernet":
        raise UnbuildableError(
            f"bond: {bond} needs Ethernet, this fabric is {network}", "the same without bond"
        )
    wanted = endpoints.nic if bond == "nic" else np.zeros(len(endpoints), np.int16)
    bonded = replace(endpoints, bond=wanted)
    several = np.zeros((endpoints.servers, int(wanted.max()) + 1), np.int64)
    np.add.at(several, (endpoints.position, wanted), 1)
    alone = several[endpoints.position, wanted] < 2
    if bond_sides(bonded).max() == 0:
        what = "every NIC" if bond == "nic" else "every server"
        raise UnbuildableError(
            f"bond: {bond} joins the ports of a {bond}, and {what} has one port in this fabric",
            "bond: server"
            if bond == "nic" and endpoints.servers < len(endpoints)
            else "the same without bond",
        )
    return replace(bonded, bond=np.where(alone, -1, wanted).astype(np.int16))
