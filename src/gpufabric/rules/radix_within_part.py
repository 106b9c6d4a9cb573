"""A switch has no more ports, cages and throughput in use or in reserve than its part offers."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from gpufabric.records.cluster import MANAGEMENT_CAGE, Cluster, DeviceKind
from gpufabric.records.cluster_spec import ClusterSpec
from gpufabric.records.findings import Finding
from gpufabric.records.labels import device_label
from gpufabric.records.part_set import PartSet
from gpufabric.records.parts import SwitchPart
from gpufabric.records.port_room import fabric_cages
from gpufabric.units import format_gbps

RULE = "radix-within-part"
_ROUNDING = 1 + 1e-9


def check(cluster: Cluster, parts: PartSet, spec: ClusterSpec) -> list[Finding]:
    """Return an error for each kind of switch of which some have more cages, ports or throughput in use than the part has."""
    del spec
    kinds = np.stack([cluster.devices.part, cluster.devices.fabric, cluster.devices.role]).astype(np.int64)
    is_switch = cluster.devices.kind == DeviceKind.SWITCH
    findings = []
    for number, part_id in enumerate(cluster.parts):
        switch = parts.switches.get(part_id)
        mine = is_switch & (cluster.devices.part == number)
        if switch is None or not mine.any():
            continue
        for kind in np.unique(kinds[:, mine], axis=1).T:
            chosen = mine & (kinds == kind[:, None]).all(axis=0)
            findings += list(_faults(cluster, switch, chosen))
    return findings


def _faults(cluster: Cluster, switch: SwitchPart, chosen: NDArray[np.bool_]) -> Iterator[Finding]:
    ports, devices = cluster.ports, len(cluster.devices)
    rows = np.flatnonzero(chosen[ports.device] & (ports.cage != MANAGEMENT_CAGE))
    if not len(rows):
        return
    device, cage = ports.device[rows].astype(np.int64), ports.cage[rows].astype(np.int64)
    places, at, used = np.unique(device << 16 | cage, return_inverse=True, return_counts=True)
    split = ports.lanes_in_cage[rows]
    disabled = np.zeros(len(places), np.int64)
    for first, group in fabric_cages(switch):
        # The cage after the last one of a group can't be disabled.
        inside = (cage >= first) & (cage < first + group.count - 1)
        for mode in group.modes:
            if mode.disables_next_cage:
                disabled[at[inside & (split == mode.ports)]] = 1
    cages = np.bincount(places >> 16, 1 + disabled, devices)
    total = sum(group.count for _, group in fabric_cages(switch))
    yield from _over(cluster, switch, cages, total, f"{total} cages", "cages in use or disabled by a split")
    most = np.zeros(len(places), np.int64)
    np.maximum.at(most, at, split)
    crowded = np.bincount((places >> 16)[used > most], minlength=devices)
    yield from _over(
        cluster, switch, crowded, 0, "as many ports in a cage as it is split into", "cages with more"
    )
    if switch.throughput_bytes_per_s is not None:
        rate = np.bincount(device, ports.bytes_per_s[rows], devices)
        limit = switch.throughput_bytes_per_s
        yield from _over(cluster, switch, rate, limit, f"{format_gbps(limit)} in one direction", "ports of")
    if switch.logical_port_limit is not None:
        neighbours, limit = switch.logical_port_limit
        blocks, of_block = np.unique(device << 16 | (cage - 1) // neighbours, return_inverse=True)
        fullest = np.zeros(devices, np.int64)
        np.maximum.at(fullest, blocks >> 16, np.bincount(of_block))
        allowed = f"{limit} ports in {neighbours} neighbouring cages"
        yield from _over(cluster, switch, fullest, limit, allowed, "ports in neighbouring cages")


def _over(
    cluster: Cluster,
    switch: SwitchPart,
    found: NDArray[np.int64] | NDArray[np.float64],
    limit: float,
    allowed: str,
    what: str,
) -> Iterator[Finding]:
    over = np.flatnonzero(found > limit * _ROUNDING)
    if len(over):
        worst = int(over[found[over].argmax()])
        value = float(found[worst])
        amount = f"{what} {format_gbps(value)}" if what == "ports of" else f"{value:g} {what}"
        others = f", and {len(over) - 1:,} more switches" if len(over) > 1 else ""
        yield Finding(
            RULE,
            "error",
            f"{device_label(cluster, worst)}{others}",
            f"more is in use or in reserve than {switch.id} has",
            expected=f"at most {allowed}",
            found=amount,
            fix="choose a switch with more ports, or more switches (leave counts out and they are chosen)",
            source=switch.sources[switch.default_source].url if switch.default_source else "",
        )
