"""Switches on a grid of any dimensions, each linked to its neighbours, with the ends of every row joined.

Dally, "Performance Analysis of k-ary n-cube Interconnection Networks", IEEE Transactions on Computers 39(6), 1990,
https://doi.org/10.1109/12.53599.
"""

from __future__ import annotations

from itertools import pairwise
from math import prod

import numpy as np
from numpy.typing import NDArray

from gpufabric.errors import UnbuildableError
from gpufabric.topologies.fabric_rows import WiredPlane
from gpufabric.topologies.flat_wiring import FlatPlan, check_size, wire_flat_planes
from gpufabric.topologies.plane_split import FabricSite
from gpufabric.topologies.server_endpoints import Endpoints
from gpufabric.units import counted


def build(site: FabricSite) -> list[WiredPlane]:
    """Wire *site* as a torus with equally many servers on each switch, the last ones excepted.

    Switches are numbered with the dimension slowest across which a cut takes fewest links (the longest one; two count as four),
    and servers fill them in that order, so that halves of the servers are halves of the torus. A dimension of two has one link
    between the two, not two.

    Raises
    ------
    UnbuildableError
        If the description gives no dimensions, or the switches hold too few servers or have too few ports.
    """
    return wire_flat_planes(site, lambda endpoints: _plan(site, endpoints))


def _plan(site: FabricSite, endpoints: Endpoints) -> FlatPlan:
    torus = site.spec.torus
    if torus is None:
        raise UnbuildableError(
            f'fabric "{site.spec.name}": a torus needs its shape', "torus: {dimensions: [4, 4, 4]}"
        )
    sizes = sorted(torus.dimensions, key=_cut_length, reverse=True)
    switches = prod(sizes)
    each = torus.switch_servers or -(-endpoints.servers // switches)
    if each * switches < endpoints.servers:
        raise UnbuildableError(
            f"{counted(switches, 'switch', 'switches')} with {counted(each, 'server')} each "
            f"hold {counted(each * switches, 'server')}, {endpoints.servers:,} are needed",
            f"switch_servers: {-(-endpoints.servers // switches)}",
        )
    down = int(np.bincount(endpoints.position).max()) * each
    between = torus.links * sum(min(size - 1, 2) for size in sizes)
    check_size(site, down, between, switches)
    low, high = _neighbours(sizes)
    return FlatPlan(
        endpoints.position.astype(np.int64) // each,
        down,
        np.full(switches, -1),
        np.repeat(low, torus.links),
        np.repeat(high, torus.links),
    )


def _cut_length(size: int) -> int:
    """Return how long a dimension is for a cut across it: two without a second link cut as little as a ring of four."""
    return 4 if size == 2 else size


def _neighbours(sizes: list[int]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return each pair of neighbours once, the lower number first."""
    number = np.arange(prod(sizes)).reshape(sizes)
    low, high = [], []
    for axis, size in enumerate(sizes):
        rows = np.moveaxis(number, axis, 0)
        steps = list(pairwise(range(size))) + ([(0, size - 1)] if size > 2 else [])
        low += [rows[a].ravel() for a, _ in steps]
        high += [rows[b].ravel() for _, b in steps]
    return np.concatenate(low), np.concatenate(high)
