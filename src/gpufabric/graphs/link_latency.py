"""Cables and switches → latency of each direction of each link."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gpufabric.records.cluster import UNKNOWN, Cluster, DeviceKind
from gpufabric.records.part_set import PartSet
from gpufabric.records.parts import CablePart, SwitchPart
from gpufabric.records.port_cages import cabled_lengths_m

# Light in glass of refractive index 1.468; passive copper is nearly the same (4.5 ns/m, NVIDIA MCP4Y10-Nxxx product manual,
# https://docs.nvidia.com/networking/display/mcp4y10nxxx2x400pub).
FIBRE_S_PER_M = 4.9e-9
ASSUMED_LENGTH_M = 10.0
# "Insights into DeepSeek-V3" (https://arxiv.org/abs/2505.09343), table 5, small messages: crossing the spine adds two switches
# to the way over one leaf. InfiniBand (3.7 - 2.8) / 2 = 0.45 µs, RoCE (5.6 - 3.6) / 2 = 1.0 µs a switch.
FORWARDING_S = {"infiniband": 0.45e-6, "ethernet": 1.0e-6}


def link_latencies(cluster: Cluster, parts: PartSet) -> NDArray[np.float64]:
    """Return the latency of both directions of each link of a cluster.

    Parameters
    ----------
    cluster : Cluster
    parts : PartSet
        Parts that are not in it have no published latency.

    Returns
    -------
    float64 array, (L, 2), seconds
        Column 0 is port a → port b. Propagation plus the forwarding latency of the switch that the link enters. Where a switch's
        latency is not published, a measured one of its kind of network stands in; an unknown length counts as 10 m.
    """
    propagation = _propagation_s(cluster, parts)
    forwarding = _forwarding_s(cluster, parts)
    return np.stack(
        [propagation + forwarding[cluster.link_device_b], propagation + forwarding[cluster.link_device_a]],
        axis=1,
    )


def _propagation_s(cluster: Cluster, parts: PartSet) -> NDArray[np.float64]:
    per_metre = np.full(len(cluster.parts) + 1, FIBRE_S_PER_M)
    for index, part_id in enumerate(cluster.parts):
        part = parts.get(part_id)
        if isinstance(part, CablePart) and part.latency_s_per_m is not None:
            per_metre[index] = part.latency_s_per_m
    length = cabled_lengths_m(cluster)
    cable = np.append(cluster.assemblies.part, UNKNOWN)[cluster.links.assembly]
    known_m = np.where(np.isnan(length), ASSUMED_LENGTH_M, length)
    return np.asarray(known_m * per_metre[cable], np.float64)


def _forwarding_s(cluster: Cluster, parts: PartSet) -> NDArray[np.float64]:
    devices = cluster.devices
    by_fabric = np.array(
        [FORWARDING_S.get(f.network, FORWARDING_S["ethernet"]) for f in cluster.fabrics] or [0.0]
    )
    latency = by_fabric[np.maximum(devices.fabric, 0)]
    for index, part_id in enumerate(cluster.parts):
        part = parts.get(part_id)
        if isinstance(part, SwitchPart):
            known = part.latency_s if part.latency_s is not None else FORWARDING_S[part.network]
            latency[devices.part == index] = known
    return np.where(devices.kind == DeviceKind.SWITCH, latency, 0.0)
