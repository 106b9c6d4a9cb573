"""Things that can be lost → the names by which people find them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gpufabric.records.cluster import Cluster
from gpufabric.records.names import device_names, port_names
from gpufabric.records.part_lookup import PartLookup
from gpufabric.records.parts import ServerPart
from gpufabric.records.resilience import Lost


def loss_names(cluster: Cluster, parts: PartLookup, losses: Sequence[tuple[Lost, int, int]]) -> list[str]:
    """Return a name for each loss.

    Parameters
    ----------
    cluster
    parts
        Parts by id, for the labels of server ports and the names of NICs.
    losses
        The kind of each loss, the item as :class:`gpufabric.reliability.loss_kinds.LossKind` numbers it, and one link of the
        cluster that is lost with it.
    """
    links, ports = cluster.links, cluster.ports
    link = np.array([row for _, _, row in losses], np.int64)
    port_a, port_b = links.port_a[link], links.port_b[link]
    ends = np.concatenate([port_a, port_b])
    port_of = dict(zip(ends.tolist(), port_names(cluster, ends, parts), strict=True))
    devices = np.unique(ports.device[ends])
    name_of = dict(zip(devices.tolist(), device_names(cluster, devices), strict=True))

    def end(port: int) -> str:
        return f"{name_of[int(ports.device[port])]}:{port_of[port]}"

    def name(lost: Lost, item: int, a: int, b: int) -> str:
        match lost:
            case "cable":
                return f"{end(a)} – {end(b)}"
            case "optic":
                return end(a if ports.device[a] == cluster.modules.device[item] else b)
            case "nic":
                device, nic = divmod(item, 1 << 16)
                return f"{name_of[device]} {_nic_name(cluster, parts, device, nic)}"
            case "plane" | "rail":
                return f"{lost} {item + 1}"
            case _:
                return str(name_of[item])

    return [
        name(lost, item, a, b)
        for (lost, item, _), a, b in zip(losses, port_a.tolist(), port_b.tolist(), strict=True)
    ]


def _nic_name(cluster: Cluster, parts: PartLookup, device: int, nic: int) -> str:
    number = int(cluster.devices.part[device])
    server = parts.get(cluster.parts[number]) if number >= 0 else None
    return (
        server.nics[nic].name if isinstance(server, ServerPart) and nic < len(server.nics) else f"NIC {nic}"
    )
