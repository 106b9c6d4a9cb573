"""Cluster → the links of one fabric with their lower and upper ends: what cuts and losses are counted on."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from gpufabric.records.cluster import Cluster, Role
from gpufabric.records.tiers import device_tiers, link_fabrics


@dataclass(frozen=True, slots=True)
class FabricLinks:
    """Links of one fabric between its switches and its servers with GPUs; those of managers and storage servers are left out.

    Attributes
    ----------
    row : int64 array, L
        Link of the cluster.
    lower, upper : int32 arrays, L
        Devices at its ends; the tier of ``lower`` is not above that of ``upper``.
    bytes_per_s : float64 array, L
    label : int64 array, L
        The same number for links of the same rate.
    tier : int8 array, D
        0 servers, 1 leaf, 2 spine, 3 core, -1 unknown.
    gpus : float64 array, D
        GPUs of each server that the fabric was built with a link to, whether it is lost or not; 1 a server where no GPUs are
        known; 0 for every other device.
    pod : int64 array, D
        The same number for switches of one pod and plane.
    """

    row: NDArray[np.int64]
    lower: NDArray[np.int32]
    upper: NDArray[np.int32]
    bytes_per_s: NDArray[np.float64]
    label: NDArray[np.int64]
    tier: NDArray[np.int8]
    gpus: NDArray[np.float64]
    pod: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.row)

    @property
    def at_server(self) -> NDArray[np.bool_]:
        """Whether the lower end of each link is a server."""
        found: NDArray[np.bool_] = self.tier[self.lower] == 0
        return found

    @property
    def is_mesh(self) -> bool:
        """Whether servers are linked directly to each other and there is no switch."""
        return len(self) > 0 and bool((self.tier[self.upper] == 0).all())

    @property
    def is_tiered(self) -> bool:
        """Whether every link joins two tiers of known height."""
        lower, upper = self.tier[self.lower], self.tier[self.upper]
        return len(self) > 0 and bool(((lower >= 0) & (lower < upper)).all())

    def take(self, chosen: NDArray[np.bool_]) -> FabricLinks:
        """Return the chosen links; the devices stay as they are."""
        return replace(
            self,
            row=self.row[chosen],
            lower=self.lower[chosen],
            upper=self.upper[chosen],
            bytes_per_s=self.bytes_per_s[chosen],
            label=self.label[chosen],
        )


def fabric_links(cluster: Cluster, fabric: int) -> FabricLinks:
    """Return the links of *fabric* (index into ``cluster.fabrics``)."""
    tier = device_tiers(cluster)
    gpus = _gpus(cluster)
    row = np.flatnonzero(link_fabrics(cluster) == fabric)
    a, b = cluster.link_device_a[row], cluster.link_device_b[row]
    bystander = (tier == 0) & (gpus == 0)
    kept = ~(bystander[a] | bystander[b])
    row, a, b = row[kept], a[kept], b[kept]
    rate = cluster.links.bytes_per_s[row]
    present = np.zeros(len(tier), bool)
    present[a] = present[b] = True
    devices = cluster.devices
    return FabricLinks(
        row=row,
        lower=np.where(tier[a] <= tier[b], a, b),
        upper=np.where(tier[a] <= tier[b], b, a),
        bytes_per_s=rate,
        label=np.unique(rate, return_inverse=True)[1].astype(np.int64),
        tier=tier,
        gpus=np.where(present, gpus, 0.0),
        pod=devices.plane.astype(np.int64) << 32 | devices.pod.astype(np.int64) & 0xFFFFFFFF,
    )


def _gpus(cluster: Cluster) -> NDArray[np.float64]:
    """GPUs of each device; 1 a server where no GPUs are known."""
    if not len(cluster.gpus):
        servers: NDArray[np.bool_] = cluster.devices.role == Role.SERVER
        return servers.astype(np.float64)
    counts: NDArray[np.intp] = np.bincount(cluster.gpus.host, minlength=len(cluster.devices))
    return counts.astype(np.float64)
