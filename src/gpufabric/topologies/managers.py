"""Fabric managers (UFM, subnet managers) on free leaf ports."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gpufabric.errors import UnbuildableError
from gpufabric.records.cluster import DeviceKind, Role
from gpufabric.records.cluster_spec import Managers
from gpufabric.topologies.cluster_draft import ClusterDraft
from gpufabric.topologies.folded_clos import ClosPlane


def connect_managers(
    draft: ClusterDraft, managers: Managers, fabric: int, planes: list[ClosPlane], rate: float
) -> None:
    """Add the managers and link each to different leaves, the last unit's first, where a given-up server leaves ports free.

    Raises
    ------
    UnbuildableError
        If the leaves have too few free ports.
    """
    wanted = managers.count * managers.links
    leaf, port, plane = _free_ports(planes, wanted)
    if len(leaf) < wanted:
        raise UnbuildableError(
            f"{managers.count} managers need {wanted} leaf ports, {len(leaf)} are free",
            "one server fewer in the last unit (managers: takes_server), or fewer managers",
        )
    devices = draft.add_devices(
        managers.count,
        kind=DeviceKind.MANAGER,
        role=Role.MANAGER,
        part=draft.part(managers.part),
        fabric=fabric,
        index=np.arange(managers.count),
    )
    block = planes[0].leaf_block
    link = np.arange(wanted)
    common: dict[str, ArrayLike] = {"bytes_per_s": rate, "fabric": fabric, "plane": plane}
    lower = draft.add_ports(devices[link % managers.count], cage=1 + link // managers.count, **common)
    upper = draft.add_ports(
        leaf, cage=block.cage(port), lane=block.lane(port), lanes_in_cage=block.per_cage, **common
    )
    draft.add_links(lower, upper, rate)


def _free_ports(
    planes: list[ClosPlane], wanted: int
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]]:
    """Free down ports, one a leaf before two: leaf devices, port numbers, planes."""
    rows = []
    for number, plane in enumerate(planes):
        free = plane.leaf_block.count - plane.leaf_used
        for index in np.flatnonzero(free)[::-1][:wanted]:
            taken = range(min(int(free[index]), wanted))
            rows += [
                (t, number, -int(index), int(plane.leaves[index]), int(plane.leaf_used[index]) + t)
                for t in taken
            ]
    rows = sorted(rows)[:wanted]
    rows.sort(key=lambda row: row[3])
    table = np.array([(leaf, port, number) for _, number, _, leaf, port in rows], np.int32).reshape(-1, 3)
    return table[:, 0], table[:, 1], table[:, 2]
