"""Server ports of one plane → which leaf each of them goes to."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gpufabric.errors import UnbuildableError
from gpufabric.topologies.server_endpoints import Endpoints


@dataclass(frozen=True, slots=True)
class LeafGroups:
    """Leaves of one plane.

    Attributes
    ----------
    leaf : int32, one an endpoint
    unit, rail : int32, one a leaf; -1 where a leaf serves several
    down : int
        Down ports of a full leaf, as this grouping uses them.
    leaves_per_unit : int
        1 where there are no units.
    """

    leaf: NDArray[np.int32]
    unit: NDArray[np.int32]
    rail: NDArray[np.int32]
    down: int
    leaves_per_unit: int

    @property
    def count(self) -> int:
        """Number of leaves."""
        return len(self.unit)


GroupLeaves = Callable[[Endpoints, int, int | None], LeafGroups]


def group_packed(endpoints: Endpoints, ports_down: int, unit_servers: int | None) -> LeafGroups:
    """Fill leaf after leaf in server order, all NICs of a server one after the other; a unit starts on a new leaf."""
    servers = endpoints.servers
    per_unit = servers if unit_servers is None else unit_servers
    unit = endpoints.position // per_unit
    in_unit = rank_in_group(unit)
    ports = len(endpoints) / servers * per_unit
    leaves_per_unit = int(np.ceil(ports / ports_down))
    down = ports_down if unit_servers is None else int(np.ceil(ports / leaves_per_unit))
    groups, leaf = _number_groups(unit, in_unit // down)
    unit_of_leaf = groups[:, 0] if unit_servers is not None else np.full(len(groups), -1)
    return LeafGroups(
        leaf, unit_of_leaf, np.full(len(groups), -1), down, leaves_per_unit if unit_servers else 1
    )


def group_by_rail(endpoints: Endpoints, ports_down: int, unit_servers: int | None) -> LeafGroups:
    """Put NIC *i* of every server of a unit on the same leaf, so that equal ranks of a unit are one switch apart.

    A unit is as many servers as a leaf has down ports, unless the description says otherwise; a larger unit has several leaves a
    rail.

    Raises
    ------
    UnbuildableError
        If the server part does not say which rail a NIC is on.
    """
    if (endpoints.rail < 0).any():
        raise UnbuildableError(
            "a NIC of the server has no rail, so it can't be rail-optimized", "leaf-spine or fat-tree"
        )
    per_rail = int(np.bincount(endpoints.rail[endpoints.position == 0]).max())
    if per_rail > ports_down:
        raise UnbuildableError(
            f"a server has {per_rail} ports on one rail and plane, a leaf takes {ports_down}",
            "a switch with more ports",
        )
    per_unit = ports_down // per_rail if unit_servers is None else unit_servers
    leaves_per_rail = -(-per_unit * per_rail // ports_down)
    down = -(-per_unit * per_rail // leaves_per_rail)
    unit = endpoints.position // per_unit
    rails = int(endpoints.rail.max()) + 1
    in_rail = rank_in_group(unit.astype(np.int64) * rails + endpoints.rail)
    groups, leaf = _number_groups(unit, endpoints.rail, in_rail // down)
    return LeafGroups(
        leaf, groups[:, 0], groups[:, 1], down, leaves_per_rail * len(np.unique(endpoints.rail))
    )


def rank_in_group(group: NDArray[np.integer]) -> NDArray[np.int64]:
    """Position of each row among the rows of the same group, in row order."""
    order = np.argsort(group, kind="stable")
    ordered = group[order]
    first = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]])
    start = np.repeat(first, np.diff(np.r_[first, len(group)]))
    rank = np.empty(len(group), np.int64)
    rank[order] = np.arange(len(group)) - start
    return rank


def _number_groups(*keys: NDArray[np.integer]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return the distinct key tuples in their sorted order, and for each row the number of its tuple."""
    code = np.zeros(len(keys[0]), np.int64)
    for key in keys:
        code = code * (int(key.max()) + 1) + key
    _, first, inverse = np.unique(code, return_index=True, return_inverse=True)
    return np.stack([key[first] for key in keys], axis=1).astype(np.int32), inverse.astype(np.int32)
