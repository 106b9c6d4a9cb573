"""A design → where each port leads, found by device and port number, by name, or by rank among a server's ports."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from gpufabric.records.cluster import Cluster, DeviceKind
from gpufabric.records.names import device_names, port_names
from gpufabric.records.part_lookup import PartLookup
from gpufabric.records.port_numbers import port_numbers

Int = NDArray[np.int64]


class DesignedPlaces:
    """Look-ups over the linked ports of a design.

    Attributes
    ----------
    device, peer, link : int64 array, P
        Device of each port, the port at the other end of its link, and the link; -1 where there is none.
    slot : int64 array, P
        Switch ports: the number by :func:`port_numbers`. Ports of servers and other endpoints: their rank, from 0, among the
        linked ports of the device in order of cage and lane.
    is_switch : bool array, D
    """

    def __init__(self, design: Cluster, parts: PartLookup | None = None) -> None:
        self.design, self._parts = design, parts
        ports, links = design.ports, design.links
        self.device: Int = ports.device.astype(np.int64)
        self.peer = np.full(len(ports), -1, np.int64)
        self.link = np.full(len(ports), -1, np.int64)
        for near, far in ((links.port_a, links.port_b), (links.port_b, links.port_a)):
            self.peer[near] = far
            self.link[near] = np.arange(len(links))
        self.is_switch: NDArray[np.bool_] = design.devices.kind == DeviceKind.SWITCH
        self.slot = np.where(
            self.is_switch[self.device], port_numbers(design).astype(np.int64), self._ranks()
        )
        used = np.flatnonzero((self.peer >= 0) | self.is_switch[self.device])
        keys = self.device[used] << 32 | self.slot[used] + 1
        order = np.argsort(keys, kind="stable")
        self._keys, self._ports = keys[order], used[order]

    def find(self, device: Int, slot: Int) -> Int:
        """Return the port at a slot of a device; -1 where there is none or either is unknown."""
        key = device << 32 | slot + 1
        at = np.minimum(np.searchsorted(self._keys, key), max(len(self._keys) - 1, 0))
        if not len(self._keys):
            return np.full(len(key), -1, np.int64)
        hit = (self._keys[at] == key) & (device >= 0) & (slot >= 0)
        return np.where(hit, self._ports[at], -1)

    @cached_property
    def device_names(self) -> list[str]:
        """Names of all devices."""
        return list(device_names(self.design).tolist())

    @cached_property
    def port_labels(self) -> list[str]:
        """Names of all ports, unique within their device."""
        return list(port_names(self.design, parts=self._parts).tolist())

    @cached_property
    def port_by_name(self) -> dict[tuple[int, str], int]:
        """Port by device and name in lower case."""
        return {
            (device, name.lower()): port
            for port, (device, name) in enumerate(zip(self.device.tolist(), self.port_labels, strict=True))
        }

    def label(self, port: int) -> str:
        """Return ``device:port`` of a designed port."""
        return f"{self.device_names[self.device[port]]}:{self.port_labels[port]}"

    def number_label(self, device: int, number: int) -> str:
        """Return ``device:port`` of a port of a switch that the design may not use, by its number."""
        lanes = int(self._lanes[device])
        port = f"{(number - 1) // lanes + 1}/{(number - 1) % lanes + 1}" if lanes > 1 else str(number)
        return f"{self.device_names[device]}:{port}"

    @cached_property
    def _lanes(self) -> Int:
        """Into how many ports the most divided cage of each device is split."""
        ports = self.design.ports
        lanes = np.ones(len(self.is_switch), np.int64)
        np.maximum.at(lanes, ports.device, np.maximum(ports.lanes_in_cage, ports.lane).astype(np.int64))
        return lanes

    def _ranks(self) -> Int:
        ports = self.design.ports
        order = np.lexsort((ports.lane, ports.cage, ports.device, self.peer < 0))
        device = self.device[order]
        count = int((self.peer >= 0).sum())
        rank = np.full(len(ports), -1, np.int64)
        starts = np.searchsorted(device[:count], device[:count])
        rank[order[:count]] = np.arange(count) - starts
        return rank
