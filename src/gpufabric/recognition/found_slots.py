"""A found fabric → its link ends as arrays, with the slot that each port has in a design as far as it is known."""

from __future__ import annotations

import re
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from gpufabric.records.cluster import DeviceKind
from gpufabric.records.found_fabric import FoundFabric

Int = NDArray[np.int64]
_ANONYMOUS = re.compile(r"(?:0x[0-9a-f]{16}|lid \d+)|.* \((?:0x[0-9a-f]{16}|lid \d+)\)")
_NUMBER = re.compile(r"(\d+)")


class FoundSlots:
    """Link ends of a found fabric.

    Attributes
    ----------
    keys : list of str, F
        Names in lower case, without domains.
    kind : int8 array, F
    shared : bool array, F
        Single adapters without a host name: several of them may be one designed server.
    device, slot : int64 array, Q
        Device and slot of each port: numbers of switch ports, ranks of server ports by the order of their names; -1 unknown.
    guessed : bool array, Q
        Whether the slot is only a guess, by rank.
    near, far : int64 array, 2 × links
        Ports at both ends of each link, each link twice.
    """

    def __init__(self, found: FoundFabric) -> None:
        cluster = found.cluster
        self.found = found
        self.names = list(cluster.devices.names or ())
        self.port_names = list(cluster.ports.names or ())
        self.keys = [name.lower().split(".", 1)[0] for name in self.names]
        self.kind = cluster.devices.kind
        self.shared = np.array(
            [
                kind == DeviceKind.SERVER and _ANONYMOUS.fullmatch(name) is not None
                for kind, name in zip(self.kind, self.names, strict=True)
            ],
            np.bool_,
        )
        self.device: Int = cluster.ports.device.astype(np.int64)
        a, b = cluster.links.port_a.astype(np.int64), cluster.links.port_b.astype(np.int64)
        self.near, self.far = np.concatenate([a, b]), np.concatenate([b, a])
        self.slot = np.where(self.kind[self.device] == DeviceKind.SWITCH, found.port_number, -1).astype(
            np.int64
        )
        self.slot[self.slot == 0] = -1
        self.guessed = np.zeros(len(self.slot), np.bool_)

    @cached_property
    def far_of(self) -> dict[int, int]:
        """Port at the other end of each linked port."""
        return dict(zip(self.near.tolist(), self.far.tolist(), strict=True))

    def rank_server_ports(self, expected: dict[int, int]) -> None:
        """Give ports of servers their rank in the order of their names, where a server has as many as *expected* of it."""
        rows: dict[int, list[int]] = {}
        linked = np.unique(self.near)
        for port in linked[np.isin(self.device[linked], list(expected))].tolist():
            rows.setdefault(int(self.device[port]), []).append(port)
        for device, ports in rows.items():
            if len(ports) == expected[device]:
                for rank, port in enumerate(
                    sorted(ports, key=lambda row: natural_order(self.port_names[row]))
                ):
                    self.slot[port] = rank
                    self.guessed[port] = True

    def label(self, port: int) -> str:
        """Return ``device:port`` of a found port."""
        return f"{self.names[self.device[port]]}:{self.port_names[port]}"


def natural_order(name: str) -> list[tuple[int, str]]:
    """Return a key that sorts names by their numbers: ``mlx5_2`` before ``mlx5_10``."""
    parts = _NUMBER.split(name)
    return [(int(part), "") if part.isdigit() and len(part) < 18 else (-1, part) for part in parts]
