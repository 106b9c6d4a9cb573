"""Racks → how many power distribution units each has, and where those that the description counts stand.

Source: "DGX SuperPOD reference architecture for DGX H100", RA-11333-001 V11, table 7, https://docs.nvidia.com/dgx-superpod/
reference-architecture-scalable-infrastructure-h100/latest/index.html (secondary reading, 2026-09): 108 PDUs for 38 racks, 3 a
compute rack, 2 a management rack. For DGX B200: PDUs of 415 V 60 A, rated 34.5 kVA.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from gpufabric.records.cluster import Cluster, DeviceKind
from gpufabric.records.floor_plan import FloorPlan, RackPurpose
from gpufabric.units import counted

FEEDS = 2
PDU_W = 34_500.0
_DGX_COMPUTE, _DGX_ELSEWHERE = 3, 2


def rack_pdus(cluster: Cluster, plan: FloorPlan) -> NDArray[np.int64]:
    """Return how many power distribution units every rack needs.

    Racks of DGX servers have the number of the DGX H100 reference architecture, others two equal groups for half of the power
    each. A rack that is sold with its servers has power shelves of its own and none.

    Returns
    -------
    int64 array, R
    """
    groups = np.maximum(1, np.ceil(plan.rack_power_w / FEEDS / PDU_W))
    each = np.asarray(FEEDS * groups, np.int64)
    if all_dgx(cluster):
        each[:] = _DGX_ELSEWHERE
        each[plan.racks.purpose == RackPurpose.COMPUTE] = _DGX_COMPUTE
    each[plan.racks.part >= 0] = 0
    return each


def all_dgx(cluster: Cluster) -> bool:
    """Whether every server with GPUs is a DGX system: the published count of PDUs is theirs."""
    with_gpus = np.unique(cluster.gpus.host)
    hosts = with_gpus if len(with_gpus) else np.flatnonzero(cluster.devices.kind == DeviceKind.SERVER)
    numbers = np.unique(cluster.devices.part[hosts]).tolist()
    ids = [cluster.parts[number] if number >= 0 else "" for number in numbers]
    return bool(ids) and all(part_id.startswith("dgx-") for part_id in ids)


def with_pdus(cluster: Cluster, plan: FloorPlan) -> FloorPlan:
    """Return *plan* with the power distribution units of the cluster beside the racks that need them, in the order of the racks.

    Where the description counts fewer than the racks need, the last racks have none of them; where it counts more, the first
    racks have a second turn.
    """
    units = np.flatnonzero(cluster.devices.kind == DeviceKind.PDU)
    if not len(units):
        return plan
    each = rack_pdus(cluster, plan)
    needed = int(each.sum())
    places = np.repeat(np.arange(len(each)), each if needed else 1)
    rack = plan.rack.copy()
    rack[units] = np.sort(np.resize(places, len(units)))
    lowest = plan.lowest_unit.copy()
    lowest[units] = 1
    said = plan.assumptions
    if len(units) != needed:
        described = counted(len(units), "power distribution unit")
        order = "the first racks have them" if len(units) < needed else "the first racks have more"
        said = (*said, f"{described} described, the racks need {needed:,}: {order}")
    return replace(plan, rack=rack, lowest_unit=lowest, assumptions=said)
