"""Fabric managers (UFM, subnet managers) on free leaf ports."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from gpufabric.errors import UnbuildableError
from gpufabric.records.cluster import DeviceKind, Role
from gpufabric.records.cluster_spec import Managers
from gpufabric.topologies.cluster_draft import ClusterDraft
from gpufabric.topologies.fabric_rows import WiredPlane
from gpufabric.topologies.free_leaf_ports import take_free_ports
from gpufabric.units import counted


def connect_managers(
    draft: ClusterDraft, managers: Managers, fabric: int, planes: list[WiredPlane], rate: float
) -> None:
    """Add the managers and link each to different leaves, the last unit's first, where a given-up server leaves ports free.

    Raises
    ------
    UnbuildableError
        If the leaves have too few free ports.
    """
    wanted = managers.count * managers.links
    free = take_free_ports(planes, wanted)
    if len(free) < wanted:
        raise UnbuildableError(
            f"{counted(wanted, 'leaf port')} for {counted(managers.count, 'manager')} asked for, {len(free):,} free",
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
    common: dict[str, ArrayLike] = {"bytes_per_s": rate, "fabric": fabric, "plane": free.plane}
    lower = draft.add_ports(devices[link % managers.count], cage=1 + link // managers.count, **common)
    upper = draft.add_ports(
        free.leaf,
        cage=block.cage(free.port),
        lane=block.lane(free.port),
        lanes_in_cage=block.per_cage,
        **common,
    )
    draft.add_links(lower, upper, rate)
