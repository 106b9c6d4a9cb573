"""A transceiver draws no more power than its cage gives and cools.

QM97xx cages give 17 W (QM97X0 user manual, interfaces), SN5600 cages 18 W, most SN5400 cages 12 W (SN5000 manual, data
interfaces, https://docs.nvidia.com/networking/display/sn5000/data+interfaces); both read 2026-09.
"""

from __future__ import annotations

import numpy as np

from gpufabric.records.cluster import Cluster
from gpufabric.records.cluster_spec import ClusterSpec
from gpufabric.records.findings import Finding
from gpufabric.records.labels import device_label
from gpufabric.records.part_set import PartSet
from gpufabric.units import format_power

RULE = "cage-power"
SOURCE = (
    "NVIDIA SN5000 manual, data interfaces, https://docs.nvidia.com/networking/display/sn5000/data+interfaces"
)


def check(cluster: Cluster, parts: PartSet, spec: ClusterSpec) -> list[Finding]:
    """Return an error for each pair of transceiver and switch where the module may draw more than the cage gives."""
    del spec
    modules = cluster.modules
    switch_part = cluster.devices.part[modules.device]
    findings = []
    key = (modules.part.astype(np.int64) + 1) << 32 | (switch_part.astype(np.int64) + 1)
    for value, first in zip(*np.unique(key, return_index=True), strict=True):
        number, device_part = int(modules.part[first]), int(switch_part[first])
        module = parts.transceivers.get(cluster.parts[number]) if number >= 0 else None
        switch = parts.switches.get(cluster.parts[device_part]) if device_part >= 0 else None
        cages = [group for group in switch.cages if group.purpose == "fabric"] if switch else []
        limit = cages[0].max_module_power_w if cages else None
        if module is None or switch is None or module.max_power_w is None or limit is None:
            continue
        if module.max_power_w > limit:
            rows = np.flatnonzero(key == value)
            findings.append(
                Finding(
                    RULE,
                    "error",
                    f"{device_label(cluster, int(modules.device[rows[0]]))}, cage {modules.cage[rows[0]]}",
                    f"{module.id} may draw more than a cage of {switch.id} gives ({len(rows):,} times in the cluster)",
                    expected=f"at most {format_power(limit)}",
                    found=format_power(module.max_power_w),
                    fix="choose a transceiver of lower power (multimode, or a shorter reach), copper, or another switch",
                    source=SOURCE,
                )
            )
    return findings
