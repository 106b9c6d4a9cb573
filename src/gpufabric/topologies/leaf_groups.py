"""Server ports of one plane → which leaf each of them goes to."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gpufabric.errors import UnbuildableError
from gpufabric.topologies.server_endpoints import Endpoints
from gpufabric.units import counted


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

    @property
    def only_rail(self) -> int:
        """The rail that all leaves serve, -1 when they serve several."""
        return int(self.rail[0]) if (self.rail == self.rail[0]).all() else -1


@dataclass(frozen=True, slots=True)
class LeafRoom:
    """What a grouping may use.

    Attributes
    ----------
    ports_down : int
        Down ports that a leaf has at most.
    unit_servers : int or None
        Servers of a scalable unit; None: nothing was said.
    fitted : bool
        Where no unit was named, use as many down ports (and so uplinks) as the servers need, spread evenly over the leaves,
        instead of leaving the last leaves half empty.
    """

    ports_down: int
    unit_servers: int | None = None
    fitted: bool = False


GroupLeaves = Callable[[Endpoints, LeafRoom], LeafGroups]


def group_packed(endpoints: Endpoints, room: LeafRoom) -> LeafGroups:
    """Fill leaf after leaf in server order, all NICs of a server one after the other; a unit starts on a new leaf."""
    servers = endpoints.servers
    per_unit = servers if room.unit_servers is None else room.unit_servers
    unit = endpoints.position // per_unit
    in_unit = rank_in_group(unit)
    ports = len(endpoints) / servers * per_unit
    leaves_per_unit = int(np.ceil(ports / room.ports_down))
    down = int(np.ceil(ports / leaves_per_unit))
    if room.unit_servers is None:
        whole_servers = -(-servers // leaves_per_unit) * -(-len(endpoints) // servers)
        fitted = whole_servers if whole_servers <= room.ports_down else down
        down = fitted if room.fitted else room.ports_down
    groups, leaf = _number_groups(unit, in_unit // down)
    unit_of_leaf = groups[:, 0] if room.unit_servers is not None else np.full(len(groups), -1)
    return LeafGroups(
        leaf, unit_of_leaf, np.full(len(groups), -1), down, leaves_per_unit if room.unit_servers else 1
    )


def group_by_rail(endpoints: Endpoints, room: LeafRoom) -> LeafGroups:
    """Put NIC *i* of every server of a unit on the same leaf, so that equal ranks of a unit are one switch apart.

    Unless the description says otherwise, a unit is as many servers as a leaf has down ports, or all servers where they are
    fewer; a larger unit has several leaves a rail.

    Raises
    ------
    UnbuildableError
        If the server part does not say which rail a NIC is on.
    """
    if (endpoints.rail < 0).any():
        raise UnbuildableError(
            "a NIC of the server has no rail, so it can't be rail-optimized", "leaf-spine or fat-tree"
        )
    rails = int(endpoints.rail.max()) + 1
    per_rail = int(np.bincount(endpoints.position.astype(np.int64) * rails + endpoints.rail).max())
    if per_rail > room.ports_down:
        raise UnbuildableError(
            f"a server has {counted(per_rail, 'port')} on one rail and plane, a leaf takes {room.ports_down:,}",
            "a switch with more ports",
        )
    most = room.ports_down // per_rail
    per_unit = room.unit_servers or (min(most, endpoints.servers) if room.fitted else most)
    leaves_per_rail = -(-per_unit * per_rail // room.ports_down)
    down = -(-per_unit * per_rail // leaves_per_rail)
    unit = endpoints.position // per_unit
    in_rail = rank_in_group(unit.astype(np.int64) * rails + endpoints.rail)
    groups, leaf = _number_groups(unit, endpoints.rail, in_rail // down)
    return LeafGroups(
        leaf, groups[:, 0], groups[:, 1], down, leaves_per_rail * len(np.unique(endpoints.rail))
    )


def group_sides(group: GroupLeaves) -> GroupLeaves:
    """Return *group* with the ports of each bond on different leaves.

    The first ports of all bonds are grouped by themselves, then the second ones and so on; the leaves of the sides alternate, so
    that those which share servers are neighbours.
    """

    def grouped(endpoints: Endpoints, room: LeafRoom) -> LeafGroups:
        side = bond_sides(endpoints)
        if not side.any():
            return group(endpoints, room)
        rows = [np.flatnonzero(side == number) for number in range(int(side.max()) + 1)]
        parts = [group(endpoints.take(mine), room) for mine in rows]
        order = np.lexsort(
            (
                np.repeat(np.arange(len(parts)), [p.count for p in parts]),
                np.concatenate([np.arange(p.count) for p in parts]),
            )
        )
        number = np.empty(len(order), np.int32)
        number[order] = np.arange(len(order))
        leaf = np.empty(len(endpoints), np.int32)
        first = 0
        for mine, part in zip(rows, parts, strict=True):
            leaf[mine] = number[first + part.leaf]
            first += part.count
        return LeafGroups(
            leaf,
            np.concatenate([p.unit for p in parts])[order],
            np.concatenate([p.rail for p in parts])[order],
            max(p.down for p in parts),
            len(parts) * max(p.leaves_per_unit for p in parts),
        )

    return grouped


def bond_sides(endpoints: Endpoints) -> NDArray[np.int64]:
    """Return for each port its position among the ports of its bond, from 0; 0 for ports without a bond."""
    side = np.zeros(len(endpoints), np.int64)
    bonded = np.flatnonzero(endpoints.bond >= 0)
    if len(bonded):
        bonds = int(endpoints.bond.max()) + 1
        side[bonded] = rank_in_group(
            endpoints.position[bonded].astype(np.int64) * bonds + endpoints.bond[bonded]
        )
    return side


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
