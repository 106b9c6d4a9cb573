"""Everything that is wired so far → the management ports that an out-of-band fabric connects.

DGX SuperPOD reference architecture, DGX H100, RA-11333-001, management rack and appendix: one port for each server's BMC, each
switch, each management node and each power distribution unit.
"""

from __future__ import annotations

import numpy as np

from gpufabric.errors import SpecError
from gpufabric.records.cluster import MANAGEMENT_CAGE, DeviceKind, Role
from gpufabric.records.cluster_spec import FabricSpec
from gpufabric.topologies.cluster_draft import ClusterDraft
from gpufabric.topologies.server_endpoints import Endpoints


def management_endpoints(draft: ClusterDraft, fabric: FabricSpec, port_bytes_per_s: float) -> Endpoints:
    """Return one port for each device of *draft* and for each power distribution unit, which become devices here.

    Servers come first, then storage and managers, switches, power distribution units; each runs at the port rate of the
    out-of-band switch.

    Raises
    ------
    SpecError
        If the description connects nothing.
    """
    kinds = draft.device_kinds
    order = (DeviceKind.SERVER, DeviceKind.STORAGE, DeviceKind.MANAGER, DeviceKind.SWITCH)
    devices = [np.flatnonzero(kinds == kind).astype(np.int32) for kind in order]
    if fabric.pdus:
        devices.append(
            draft.add_devices(fabric.pdus, kind=DeviceKind.PDU, role=Role.PDU, index=np.arange(fabric.pdus))
        )
    device = np.concatenate(devices)
    if not len(device):
        raise SpecError(f'fabric "{fabric.name}": nothing has a management port; describe servers or pdus')
    count = len(device)

    def column(value: int) -> np.ndarray:
        return np.full(count, value, np.int16)

    return Endpoints(
        server=device,
        position=np.arange(count, dtype=np.int32),
        nic=column(-1),
        cage=column(MANAGEMENT_CAGE),
        lane=column(1),
        lanes_in_cage=column(1),
        rail=column(-1),
        plane=column(0),
        bond=column(-1),
        nic_bytes_per_s=np.full(count, port_bytes_per_s),
    )
