"""Servers whose GPUs must not reach each other directly → the same servers with PCIe and memory as the only way."""

from __future__ import annotations

from dataclasses import replace

from gpufabric.errors import InputError, printable
from gpufabric.records.part_set import PartSet
from gpufabric.records.parts import ServerPart

NOTE = (
    "without peer-to-peer access data of a node goes through its memory: taken as PCIe of boxes without NVLink, "
    "no published measurement is of this kind"
)


def without_peer_access(parts: PartSet, setting: str) -> PartSet:
    """Return parts whose servers have no scale-up links.

    Parameters
    ----------
    parts : PartSet
    setting : str
        What switches peer-to-peer access off, as the user wrote it.

    Raises
    ------
    InputError
        If it is not known how the GPUs of a server hang on PCIe.
    """
    return replace(parts, servers={name: _cut(server, setting) for name, server in parts.servers.items()})


def _cut(server: ServerPart, setting: str) -> ServerPart:
    if server.scale_up.kind == "pcie" or len(server.gpus) < 2:
        return server
    if not server.pcie or any(not gpu.pcie for gpu in server.gpus):
        raise InputError(
            f"{printable(setting)}: how the GPUs of {server.id} reach its memory is not known; allowed is peer-to-peer access; "
            "leave the setting out"
        )
    alone = server.scale_up.model_copy(
        update={"kind": "pcie", "switches": 0, "domain_servers": 1, "multicast": False}
    )
    return server.model_copy(update={"scale_up": alone})
