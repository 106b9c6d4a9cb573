"""Two wirings of one cluster → which devices and ports are the same ones, by their names."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gpufabric.records.cluster import Cluster
from gpufabric.records.names import device_names, port_names

_LEADING_ZEROS = re.compile(r"(?<!\d)0+(?=\d)")


@dataclass(frozen=True, slots=True)
class PortMatch:
    """Numbers that are equal for what is the same in both clusters.

    Attributes
    ----------
    old_device, new_device : int64, one a device
        Equal where the names are; between two designs, but for the zeros that numbers are padded with.
    old_port, new_port : int64, one a port
        Equal where device, cage and lane (or the name that was read) are.
    """

    old_device: NDArray[np.int64]
    new_device: NDArray[np.int64]
    old_port: NDArray[np.int64]
    new_port: NDArray[np.int64]


def match_ports(old: Cluster, new: Cluster) -> PortMatch:
    """Return which devices and ports of two clusters are the same ones.

    Parameters
    ----------
    old, new
        Designed or found; names that were read are compared as they stand.
    """
    numbers: dict[str, int] = {}
    designed = old.devices.names is None and new.devices.names is None
    old_device, new_device = (
        np.array([numbers.setdefault(key, len(numbers)) for key in _device_keys(cluster, designed)], np.int64)
        for cluster in (old, new)
    )
    if old.ports.names is None and new.ports.names is None:
        codes = [_place_codes(c, device) for c, device in ((old, old_device), (new, new_device))]
    else:
        texts: dict[tuple[int, str], int] = {}
        codes = [
            np.array(
                [
                    texts.setdefault((number, name), len(texts))
                    for number, name in zip(
                        device[c.ports.device].tolist(), port_names(c).tolist(), strict=True
                    )
                ],
                np.int64,
            )
            for c, device in ((old, old_device), (new, new_device))
        ]
    return PortMatch(old_device, new_device, *codes)


def _device_keys(cluster: Cluster, designed: bool) -> list[str]:
    names: list[str] = device_names(cluster).tolist()
    return [_LEADING_ZEROS.sub("", name) for name in names] if designed else names


def _place_codes(cluster: Cluster, device: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return device, cage, lane and split of each port as one number: a cage that is split otherwise has other ports."""
    ports = cluster.ports
    place = (ports.cage.astype(np.int64) & 0xFFFF) << 16 | (ports.lane.astype(np.int64) & 0xFF) << 8
    return device[ports.device] << 32 | place | (ports.lanes_in_cage.astype(np.int64) & 0xFF)
