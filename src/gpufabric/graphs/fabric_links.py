"""Cluster → the links of one fabric with their lower and upper ends: what cuts and losses are counted on."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from gpufabric.records.cluster import Cluster, Role
from gpufabric.records.tiers import device_tiers, joins_fabrics, link_fabrics

# Topologies whose switches are numbered so that the halves in that order are those with the least cut.
_HALVED_IN_ORDER = ("torus",)


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
    meets_outside : bool
        Whether its switches have uplinks into another fabric, over which they can meet too.
    halved_in_order : bool
        Whether the halves with the least cut are known to be the first and the second one in fabric order.
    """

    row: NDArray[np.int64]
    lower: NDArray[np.int32]
    upper: NDArray[np.int32]
    bytes_per_s: NDArray[np.float64]
    label: NDArray[np.int64]
    tier: NDArray[np.int8]
    gpus: NDArray[np.float64]
    pod: NDArray[np.int64]
    meets_outside: bool
    halved_in_order: bool

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

    @property
    def is_flat(self) -> bool:
        """Whether the switches are of one tier and some are linked to each other."""
        lower, upper = self.tier[self.lower], self.tier[self.upper]
        return len(self) > 0 and bool(((lower >= 0) & (upper == 1)).all() and (lower == 1).any())

    @property
    def both_ways(self) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int64]]:
        """Lower end, upper end and label of each link; links inside one tier stand both ways round, as neither end is above."""
        flat = self.tier[self.lower] == self.tier[self.upper]
        return (
            np.concatenate([self.lower, self.upper[flat]]),
            np.concatenate([self.upper, self.lower[flat]]),
            np.concatenate([self.label, self.label[flat]]),
        )

    def take(self, chosen: NDArray[np.bool_]) -> FabricLinks:
        """Return the chosen links; the devices stay as they are."""
        return replace(
            self,
            halved_in_order=self.halved_in_order and bool(chosen.all()),
            row=self.row[chosen],
            lower=self.lower[chosen],
            upper=self.upper[chosen],
            bytes_per_s=self.bytes_per_s[chosen],
            label=self.label[chosen],
        )


def fabric_links(cluster: Cluster, fabric: int) -> FabricLinks:
    """Return the links of *fabric* (index into ``cluster.fabrics``), without those into other fabrics."""
    tier = device_tiers(cluster)
    gpus = _gpus(cluster)
    mine, outside = link_fabrics(cluster) == fabric, joins_fabrics(cluster)
    row = np.flatnonzero(mine & ~outside)
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
        meets_outside=bool((mine & outside & (devices.fabric[cluster.link_device_a] == fabric)).any()),
        halved_in_order=cluster.fabrics[fabric].topology in _HALVED_IN_ORDER
        if fabric < len(cluster.fabrics)
        else False,
    )


def _gpus(cluster: Cluster) -> NDArray[np.float64]:
    """GPUs of each device; 1 a server where no GPUs are known."""
    if not len(cluster.gpus):
        servers: NDArray[np.bool_] = cluster.devices.role == Role.SERVER
        return servers.astype(np.float64)
    counts: NDArray[np.intp] = np.bincount(cluster.gpus.host, minlength=len(cluster.devices))
    return counts.astype(np.float64)
