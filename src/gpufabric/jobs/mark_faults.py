"""Mistakes in the cabling → marks for the drawing of the design."""

from __future__ import annotations

from collections.abc import Sequence

from gpufabric.records.cluster import Cluster
from gpufabric.records.fabric_match import CablingFault
from gpufabric.records.names import device_names
from gpufabric.report.fault_marks_svg import FaultMarks


def marks_of(cluster: Cluster, faults: Sequence[CablingFault]) -> FaultMarks:
    """Return the links that are not as designed, and for each device at their ends, or that a mistake is about, what is wrong.

    Parameters
    ----------
    cluster
        The design.
    faults
    """
    rows = {name: row for row, name in enumerate(device_names(cluster).tolist())}
    links, devices = [], []
    for fault in faults:
        links += list(fault.links)
        ends = {
            int(end[link]) for link in fault.links for end in (cluster.link_device_a, cluster.link_device_b)
        }
        named = {rows[name] for name in fault.devices if name in rows}
        devices += [(device, fault.message) for device in sorted(ends | named)]
    return FaultMarks(tuple(links), tuple(devices))
