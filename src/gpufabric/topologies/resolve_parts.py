"""The parts that a description names → part records, those given inline included."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any, Protocol

from gpufabric.records.cluster import Cluster
from gpufabric.records.cluster_spec import ClusterSpec, FabricSpec
from gpufabric.records.generic_parts import GenericServer, GenericSwitch
from gpufabric.records.part_set import PartSet
from gpufabric.records.parts import (
    AnyPart,
    AppliancePart,
    CablePart,
    NicPart,
    RackPart,
    ServerPart,
    SwitchPart,
    TransceiverPart,
)
from gpufabric.topologies.trunk_parts import generic_trunks
from gpufabric.units import counted, format_gbps, gbps


class PartSource(Protocol):
    """What is needed of a catalogue."""

    def server(self, part_id: str) -> ServerPart:
        """Return the server *part_id* or raise PartError."""

    def switch(self, part_id: str) -> SwitchPart:
        """Return the switch *part_id* or raise PartError."""

    def nic(self, part_id: str) -> NicPart:
        """Return the NIC *part_id* or raise PartError."""

    def get(self, part_id: str, kind: str | None = None) -> AnyPart:
        """Return the part *part_id*, of *kind* if given, or raise PartError."""

    def of_kind(self, kind: str) -> tuple[AnyPart, ...]:
        """Return all parts of a kind."""


def generic_server(spec: GenericServer) -> ServerPart:
    """Return the server that *spec* describes: NIC *i* on rail *i* beside GPU *i* modulo their count."""
    nic_rate = (spec.nic_rate or 0.0) * spec.nic_ports
    scale_up = spec.scale_up or nic_rate * spec.nics
    over_pcie = spec.scale_up_kind == "pcie" and spec.gpus > 0
    # GPUs and the NICs beside them share a PCIe switch that is as fast as its NICs together; over PCIe each GPU has a root port.
    switches = spec.gpus if over_pcie or not spec.nics else min(spec.gpus or spec.nics, spec.nics)
    pcie = scale_up if over_pcie or not spec.nics else nic_rate * -(-spec.nics // switches)
    nics: list[dict[str, Any]] = [
        {
            "name": f"nic{i}",
            "part": generic_nic(spec).id,
            "pcie": f"pcie{i % switches}",
            "gpu": i % spec.gpus if spec.gpus else None,
            "ports": [
                {"cage": i * spec.nic_ports + p + 1, "rail": i, "plane": p} for p in range(spec.nic_ports)
            ],
        }
        for i in range(spec.nics)
    ]
    cages = [{"count": spec.nics * spec.nic_ports, "connector": spec.connector}] if spec.nics else []
    own_switch = spec.gpus and spec.domain_servers == 1 and spec.scale_up_kind == "switched"
    return ServerPart.model_validate(
        {
            "id": _server_id(spec),
            "vendor": "generic",
            "model": f"server with {counted(spec.gpus, 'GPU')} and {counted(spec.nics, 'NIC')}",
            "status": "generic",
            "gpu": (spec.gpu or "generic-gpu") if spec.gpus else "",
            "gpus": [{"index": g, "pcie": f"pcie{g % switches}"} for g in range(spec.gpus)],
            "pcie": [{"id": f"pcie{i}", "bytes_per_s": f"{pcie!r} B/s"} for i in range(switches)],
            "nics": nics,
            "cages": cages,
            "scale_up": {
                "kind": spec.scale_up_kind if spec.gpus else "pcie",
                "gpu_bytes_per_s": f"{scale_up!r} B/s",
                "switches": 1 if own_switch else 0,
                "domain_servers": spec.domain_servers,
                "multicast": spec.multicast,
            },
            "assumed": {"scale_up": "not given: as fast as the server's NICs together"}
            if spec.scale_up is None
            else {},
            "description": f"NIC ports of {format_gbps(spec.nic_rate)}" if spec.nic_rate else "no NICs",
        }
    )


def _server_id(spec: GenericServer) -> str:
    nics = f"-{spec.nics}x{spec.nic_ports}n-{rate_label(spec.nic_rate)}" if spec.nic_rate else "-0n"
    domain = f"-d{spec.domain_servers}" if spec.domain_servers > 1 else ""
    kind = f"-{spec.scale_up_kind}" if spec.scale_up_kind != "switched" else ""
    gpu = "-" + re.sub(r"[^a-z0-9.\-]", "-", spec.gpu.lower()) if spec.gpu else ""
    return f"generic-{spec.gpus}g{nics}{domain}{kind}{'-multicast' if spec.multicast else ''}{gpu}"[:64]


def generic_nic(spec: GenericServer) -> NicPart:
    """Return the NIC of a generic server; it does both networks."""
    return NicPart.model_validate(
        {
            "id": f"generic-nic-{spec.nic_ports}x{rate_label(spec.nic_rate or 0.0)}",
            "vendor": "generic",
            "model": "NIC",
            "status": "generic",
            "networks": ("infiniband", "ethernet"),
            "ports": spec.nic_ports,
            "port_bytes_per_s": f"{spec.nic_rate!r} B/s",
            "connector": spec.connector,
        }
    )


def generic_switch(spec: GenericSwitch) -> SwitchPart:
    """Return the switch that *spec* describes: ``ports`` single-port cages."""
    return SwitchPart.model_validate(
        {
            "id": f"generic-{spec.network}-{spec.ports}x{rate_label(spec.rate)}",
            "vendor": "generic",
            "model": f"{spec.ports}-port switch",
            "status": "generic",
            "network": spec.network,
            "cages": [
                {
                    "count": spec.ports,
                    "connector": spec.connector,
                    "modes": [{"ports": 1, "port_bytes_per_s": f"{spec.rate!r} B/s"}],
                }
            ],
        }
    )


def rate_label(bytes_per_s: float) -> str:
    """Return a rate as it stands in an id: ``400g``."""
    return f"{gbps(bytes_per_s):g}g"


def server_of(group_model: str | GenericServer, catalog: PartSource) -> ServerPart:
    """Return the part of a server group."""
    return (
        generic_server(group_model) if isinstance(group_model, GenericServer) else catalog.server(group_model)
    )


def switch_of(model: str | GenericSwitch, catalog: PartSource) -> SwitchPart:
    """Return the part of a switch."""
    return generic_switch(model) if isinstance(model, GenericSwitch) else catalog.switch(model)


def resolve_parts(spec: ClusterSpec, catalog: PartSource) -> PartSet:
    """Return every server and switch part that *spec* names, the racks that they are sold in, and the appliances that it names.

    Raises
    ------
    PartError
        If a part is not in the catalogue.
    """
    servers = [server_of(group.model, catalog) for group in spec.servers]
    nics = {
        nic.part: generic_nic(group.model)
        if isinstance(group.model, GenericServer)
        else catalog.nic(nic.part)
        for group, server in zip(spec.servers, servers, strict=True)
        for nic in server.nics
    }
    switches = [switch_of(model, catalog) for fabric in spec.fabrics for model in _switch_models(fabric)]
    for group, server in zip(spec.servers, servers, strict=True):
        if server.gpus and not (isinstance(group.model, GenericServer) and group.model.gpu is None):
            catalog.get(server.gpu, "gpu")
    named = [fabric.managers.part for fabric in spec.fabrics if fabric.managers and fabric.managers.part]
    managers = [catalog.get(part, "appliance") for part in named]
    appliances = {part.id: part for part in managers if isinstance(part, AppliancePart)}
    sold_in = [catalog.get(server.rack, "rack") for server in servers if server.rack]
    racks = {part.id: part for part in sold_in if isinstance(part, RackPart)}
    return PartSet(
        {p.id: p for p in servers}, nics, {p.id: p for p in switches}, appliances=appliances, racks=racks
    )


def _switch_models(fabric: FabricSpec) -> list[str | GenericSwitch]:
    models = (fabric.switch, fabric.leaf.switch, fabric.spine.switch, fabric.core.switch)
    return [model for model in models if model is not None]


def with_cables(parts: PartSet, cluster: Cluster, catalog: PartSource) -> PartSet:
    """Return *parts* with the cables and transceivers that *cluster* uses."""
    used = set(cluster.parts)
    cables = {p.id: p for p in catalog.of_kind("cable") if isinstance(p, CablePart) and p.id in used}
    cables |= generic_trunks(used)
    modules = {
        p.id: p for p in catalog.of_kind("transceiver") if isinstance(p, TransceiverPart) and p.id in used
    }
    return replace(parts, cables=cables, transceivers=modules)
