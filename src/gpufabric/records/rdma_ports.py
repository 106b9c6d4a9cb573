"""What ``ibstat`` and ``show_gids`` say of a server's RDMA ports."""

from __future__ import annotations

from dataclasses import dataclass

from gpufabric.records.file_record import FileRecord


@dataclass(frozen=True, slots=True)
class RdmaPort:
    """A port of an adapter; texts are as printed, ``bytes_per_s`` and ``lid`` are 0 where the output does not say."""

    device: str
    port: int
    device_type: str
    firmware: str
    state: str
    physical_state: str
    bytes_per_s: float
    lid: int
    port_guid: str
    link_layer: str
    line: int

    @property
    def active(self) -> bool:
        """Whether the port can carry traffic."""
        return self.state.lower().startswith("active")


@dataclass(frozen=True, slots=True)
class RdmaPorts(FileRecord):
    """The ports of a server."""

    ports: tuple[RdmaPort, ...] = ()


@dataclass(frozen=True, slots=True)
class PortGid:
    """An entry of a port's GID table; ``ipv4`` and ``interface`` may be empty; ``version`` is 1 or 2 of RoCE, -1 unknown."""

    device: str
    port: int
    index: int
    gid: str
    ipv4: str
    version: int
    interface: str
    line: int


@dataclass(frozen=True, slots=True)
class PortGids(FileRecord):
    """The GID tables of a server; ``count_said`` is the output's own last line, -1 when it is not there."""

    gids: tuple[PortGid, ...] = ()
    count_said: int = -1

    def roce_v2(self, device: str, port: int = 1) -> tuple[int, ...]:
        """Return the indices that speak RoCE v2 over IPv4 on a port: what ``NCCL_IB_GID_INDEX`` may be."""
        return tuple(
            g.index for g in self.gids if (g.device, g.port) == (device, port) and g.version == 2 and g.ipv4
        )
