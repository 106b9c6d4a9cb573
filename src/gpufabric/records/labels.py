"""One device or port → the words by which people find it."""

from __future__ import annotations

import numpy as np

from gpufabric.records.cluster import Cluster
from gpufabric.records.names import device_names, port_names


def device_label(cluster: Cluster, device: int) -> str:
    """Return the name of a device."""
    return str(device_names(cluster, np.array([device]))[0])


def port_label(cluster: Cluster, port: int) -> str:
    """Return ``device:port``."""
    device = int(cluster.ports.device[port])
    return f"{device_label(cluster, device)}:{port_names(cluster, np.array([port]))[0]}"
