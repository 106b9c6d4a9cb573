"""Devices or ports → the words by which people find them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpufabric.records.cluster import Cluster
from gpufabric.records.names import device_names, port_names


def device_label(cluster: Cluster, device: int) -> str:
    """Return the name of a device."""
    return str(device_names(cluster, np.array([device]))[0])


def port_label(cluster: Cluster, port: int) -> str:
    """Return ``device:port``; of many ports :func:`port_labels` is quicker by their number."""
    return port_labels(cluster, np.array([port]))[0]


def port_labels(cluster: Cluster, ports: NDArray[np.integer[Any]]) -> list[str]:
    """Return ``device:port`` of each port.

    A name depends on what else there is, so the names of all devices are worked out, once.

    Parameters
    ----------
    cluster
    ports : int array
        Rows of ``cluster.ports``.
    """
    devices = device_names(cluster, cluster.ports.device[ports])
    names = port_names(cluster, ports)
    return [f"{device}:{name}" for device, name in zip(devices.tolist(), names.tolist(), strict=True)]
