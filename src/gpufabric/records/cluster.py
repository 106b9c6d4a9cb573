"""The waist: everything real becomes a :class:`Cluster`, whether built from a spec or read from a live fabric.

Tables are structs of equal-length arrays, never an object per link. A column that is not known holds -1 (NaN for lengths); a
fabric read from files keeps its real ``names`` and the ``where`` (file:line) of each row, a designed one has neither, because
its names are made on demand (:mod:`gpufabric.records.names`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

UNKNOWN = -1
MANAGEMENT_CAGE = (
    0  # the port of a server's BMC and a switch's own management port; cages of the fabric count from 1
)


class DeviceKind:
    """Values of ``Devices.kind``."""

    SERVER, SWITCH, MANAGER, STORAGE, PDU = range(5)


class Role:
    """Values of ``Devices.role``; LEAF < SPINE < CORE are the tiers from the servers upwards."""

    SERVER, LEAF, SPINE, CORE, MANAGER, STORAGE, PDU = range(7)
    NAMES = ("server", "leaf", "spine", "core", "manager", "storage", "pdu")


@dataclass(frozen=True, slots=True)
class Devices:
    """Servers, switches and other endpoints. D rows.

    Attributes
    ----------
    kind, role : int8
    part : int32, index into ``Cluster.parts``
    fabric : int16, index into ``Cluster.fabrics`` (-1 for devices that serve several)
    unit, pod, rack : int32
        Scalable unit; pod of a three-tier fabric; rack.
    plane, rail : int16
        Plane and rail that a switch serves; -1 where it serves all.
    index : int32
        Position among the devices of the same fabric and role, from 0.
    """

    kind: NDArray[np.int8]
    role: NDArray[np.int8]
    part: NDArray[np.int32]
    fabric: NDArray[np.int16]
    unit: NDArray[np.int32]
    pod: NDArray[np.int32]
    rack: NDArray[np.int32]
    plane: NDArray[np.int16]
    rail: NDArray[np.int16]
    index: NDArray[np.int32]
    names: tuple[str, ...] | None = None
    where: tuple[str, ...] | None = None

    def __len__(self) -> int:
        return len(self.kind)


@dataclass(frozen=True, slots=True)
class Ports:
    """Ports in use or reserved. P rows.

    Attributes
    ----------
    device : int32
    cage, lane : int16
        Numbered from 1. A twin-port cage has lanes 1 and 2; a cage split four ways has lanes 1 to 4. Cage 0 (``MANAGEMENT_CAGE``)
        is the management port of a server, switch or power distribution unit.
    lanes_in_cage : int16
        Into how many ports this cage is split: what the lane is one of.
    nic : int16
        Index of the NIC in the server part's ``nics``; -1 on switches.
    bytes_per_s : float64
    fabric, plane, rail : int16
    bond : int16
        Ports of one server with the same non-negative bond act as one interface.
    reserved : bool
        Held free on purpose (growth, managers); no link may use it.
    """

    device: NDArray[np.int32]
    cage: NDArray[np.int16]
    lane: NDArray[np.int16]
    lanes_in_cage: NDArray[np.int16]
    nic: NDArray[np.int16]
    bytes_per_s: NDArray[np.float64]
    fabric: NDArray[np.int16]
    plane: NDArray[np.int16]
    rail: NDArray[np.int16]
    bond: NDArray[np.int16]
    reserved: NDArray[np.bool_]
    names: tuple[str, ...] | None = None

    def __len__(self) -> int:
        return len(self.device)


@dataclass(frozen=True, slots=True)
class Links:
    """Logical full-duplex links: what the graph sees. L rows; ``port_a`` is on the lower tier.

    Attributes
    ----------
    port_a, port_b : int32, indices into ``Cluster.ports``
    bytes_per_s : float64, each direction
    assembly : int32, index into ``Cluster.assemblies``
    """

    port_a: NDArray[np.int32]
    port_b: NDArray[np.int32]
    bytes_per_s: NDArray[np.float64]
    assembly: NDArray[np.int32]
    where: tuple[str, ...] | None = None

    def __len__(self) -> int:
        return len(self.port_a)


@dataclass(frozen=True, slots=True)
class Assemblies:
    """Physical cables: what is bought. Many links may share one (breakout, twin-port copper, trunk).

    Attributes
    ----------
    part : int32, index into ``Cluster.parts``; -1: no part of the catalogue fits
    length_m : float64, NaN when there is no floor plan and none was given
    """

    part: NDArray[np.int32]
    length_m: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.part)


@dataclass(frozen=True, slots=True)
class Modules:
    """Transceivers: one a cage. They carry the fibres of all assemblies that end in their cage.

    Attributes
    ----------
    device : int32
    cage : int16
    part : int32, index into ``Cluster.parts``; -1: no part of the catalogue fits
    """

    device: NDArray[np.int32]
    cage: NDArray[np.int16]
    part: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.device)


@dataclass(frozen=True, slots=True)
class Jumpers:
    """Patch cords: what joins a device to the patch panel of its rack when the link's assembly is a trunk between panels.

    Attributes
    ----------
    link : int32, index into ``Cluster.links``
    part : int32, index into ``Cluster.parts``
    length_m : float64
    """

    link: NDArray[np.int32]
    part: NDArray[np.int32]
    length_m: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.link)


NO_JUMPERS = Jumpers(np.empty(0, np.int32), np.empty(0, np.int32), np.empty(0, np.float64))


@dataclass(frozen=True, slots=True)
class Gpus:
    """GPUs in fabric order. G rows.

    Attributes
    ----------
    host : int32, device index of the server
    local : int16, index within the server
    domain : int32, scale-up domain (one a server, or one an NVL72 rack)
    """

    host: NDArray[np.int32]
    local: NDArray[np.int16]
    domain: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.host)


@dataclass(frozen=True, slots=True)
class Fabric:
    """What is said of a fabric as a whole.

    ``grow_units`` are the scalable units that it has room for; 0 where no room is kept. Names have digits for so many.
    """

    name: str
    topology: str
    network: str
    planes: int
    tiers: int
    routing: str
    grow_units: int = 0


@dataclass(frozen=True, slots=True)
class Cluster:
    """A whole cluster; see the module's docstring for what an unknown column holds."""

    name: str
    parts: tuple[str, ...]
    fabrics: tuple[Fabric, ...]
    devices: Devices
    ports: Ports
    links: Links
    assemblies: Assemblies
    modules: Modules
    gpus: Gpus
    jumpers: Jumpers = NO_JUMPERS

    @property
    def link_device_a(self) -> NDArray[np.int32]:
        """Device at the lower end of each link."""
        return self.ports.device[self.links.port_a]

    @property
    def link_device_b(self) -> NDArray[np.int32]:
        """Device at the upper end of each link."""
        return self.ports.device[self.links.port_b]
