"""What can be bought: GPUs, servers with their inside, NICs, switches, cables, transceivers, racks, PDUs, appliances.

Each part is one data file of the catalogue, whose figures have sources: :class:`gpufabric.records.part_facts.Part`.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from gpufabric.records.part_facts import Amount, Connector, Count, Network, Part, Price, Source, StrictRecord
from gpufabric.records.quantities import Bytes, Flops, Length, Power, Rate, Time
from gpufabric.records.server_parts import (
    InsideGpu,
    InsideNic,
    InsidePcie,
    NicPort,
    NicPurpose,
    ScaleUp,
    ServerCage,
    ServerPart,
)

__all__ = [
    "MAX_SWITCH_PORTS",
    "AnyPart",
    "AppliancePart",
    "CablePart",
    "CageGroup",
    "Connector",
    "GpuPart",
    "InsideGpu",
    "InsideNic",
    "InsidePcie",
    "Network",
    "NicPart",
    "NicPort",
    "NicPurpose",
    "Part",
    "PartKind",
    "PduPart",
    "Price",
    "RackPart",
    "ScaleUp",
    "ServerCage",
    "ServerPart",
    "Source",
    "SplitMode",
    "SwitchPart",
    "Technology",
    "TransceiverPart",
]

Technology = Literal["dac", "acc", "aoc", "fibre", "trunk", "cat6"]
PartKind = Literal["gpu", "server", "nic", "switch", "cable", "transceiver", "rack", "pdu", "appliance"]
MAX_SWITCH_PORTS = 1_000_000


class GpuPart(Part):
    """A GPU. FLOP rates are dense (no sparsity); bandwidths are per direction."""

    kind: Literal["gpu"] = "gpu"
    form_factor: str = ""
    power_w: Power | None = None
    hbm_bytes: Bytes | None = None
    hbm_unit: Literal["GB = 10^9", "GB = 2^30", "not said"] = "not said"
    hbm_type: str = ""
    hbm_bytes_per_s: Rate | None = None
    flops_fp32: Flops | None = None
    flops_tf32: Flops | None = None
    flops_bf16: Flops | None = None
    flops_fp16: Flops | None = None
    flops_fp8: Flops | None = None
    flops_fp6: Flops | None = None
    flops_fp4: Flops | None = None
    scale_up: str = Field("", description="NVLink 4, Infinity Fabric …")
    scale_up_links: int | None = None
    scale_up_bytes_per_s_per_link: Rate | None = None
    pcie_generation: int | None = None


class NicPart(Part):
    """A network adapter. ``port_bytes_per_s`` is the rate of one port, one direction."""

    kind: Literal["nic"] = "nic"
    networks: tuple[Network, ...]
    ports: Count
    port_bytes_per_s: Rate
    total_bytes_per_s: Rate | None = None
    connector: Connector | None = None
    pcie_generation: int | None = None
    pcie_lanes: int | None = None
    max_power_w: Power | None = None
    price_usd: Amount | None = None
    price: Price | None = None


class SplitMode(StrictRecord):
    """One way of using a cage: ``ports`` logical ports of ``port_bytes_per_s`` each."""

    ports: Count
    port_bytes_per_s: Rate
    disables_next_cage: bool = False


class CageGroup(StrictRecord):
    """Equal cages of a switch. ``modes[0]`` is the native mode; a twin-port cage has two ports natively."""

    count: Count
    connector: Connector | None = None
    modes: tuple[SplitMode, ...] = Field(min_length=1)
    max_module_power_w: Power | None = None
    purpose: Literal["fabric", "management", "backplane"] = "fabric"


class SwitchPart(Part):
    """A switch. ``throughput_bytes_per_s`` is one direction."""

    kind: Literal["switch"] = "switch"
    network: Network
    cages: tuple[CageGroup, ...] = Field(min_length=1)
    throughput_bytes_per_s: Rate | None = None
    logical_port_limit: tuple[Count, Count] | None = Field(
        None,
        description="(cages, ports): this many neighbouring cages together have at most this many logical ports",
    )
    latency_s: Time | None = None
    rack_units: Amount | None = None
    weight_kg: Amount | None = None
    max_power_w: Power | None = None
    max_power_includes_modules: bool | None = None
    typical_power_w: Power | None = None
    airflow: str = ""
    asic: str = ""
    managed: bool | None = None
    price_usd: Amount | None = None
    price: Price | None = None

    @model_validator(mode="after")
    def _ports_are_countable(self) -> SwitchPart:
        ports = sum(group.count * max(mode.ports for mode in group.modes) for group in self.cages)
        if ports > MAX_SWITCH_PORTS:
            raise ValueError(f"cages have {ports} ports together; at most {MAX_SWITCH_PORTS} are allowed")
        return self


class CablePart(Part):
    """A cable or fibre. It carries ``links`` links of ``link_bytes_per_s`` from one a-end to ``b_ends`` b-ends.

    A fibre has transceivers at its ends, so its connectors are fibre connectors; a copper or active optical cable plugs into
    cages directly. A trunk joins patch panels: it ends in ``links`` plugs at each end, each for one link of up to eight fibres.
    ``lengths_m`` are the lengths on sale; ``reach_m`` is the longest that works.
    """

    kind: Literal["cable"] = "cable"
    technology: Technology
    networks: tuple[Network, ...] = ("infiniband", "ethernet")
    a_connector: Connector
    b_connector: Connector
    b_ends: Count = 1
    links: Count = 1
    link_bytes_per_s: Rate | None = Field(None, description="none: whatever its transceivers do")
    medium: Literal["copper", "multimode", "single-mode"] = "copper"
    lengths_m: tuple[Length, ...] = ()
    reach_m: Length | None = None
    latency_s_per_m: Time | None = None
    max_power_w: Power | None = None
    price_usd: Amount | None = None
    price: Price | None = None


class TransceiverPart(Part):
    """A pluggable optical module: ``ports`` ports of ``port_bytes_per_s``, each with its own fibre connector."""

    kind: Literal["transceiver"] = "transceiver"
    networks: tuple[Network, ...] = ("infiniband", "ethernet")
    connector: Connector
    ports: Count
    port_bytes_per_s: Rate
    fibre_connector: Connector
    medium: Literal["multimode", "single-mode"]
    reach_m: Length
    max_power_w: Power | None = None
    price_usd: Amount | None = None
    price: Price | None = None


class RackPart(Part):
    """A rack. ``max_power_w`` is what it may hold at most, where it is sold as a whole."""

    kind: Literal["rack"] = "rack"
    rack_units: Amount | None = None
    width_m: Length | None = None
    depth_m: Length | None = None
    standard: str = ""
    max_power_w: Power | None = None
    price_usd: Amount | None = None
    price: Price | None = None


class PduPart(Part):
    """What feeds a rack: a power distribution unit or a power shelf. ``max_power_w`` is what it can deliver."""

    kind: Literal["pdu"] = "pdu"
    max_power_w: Power | None = None
    phases: Count | None = None
    line_voltage_v: Amount | None = None
    line_current_a: Amount | None = None
    outlets_c13: Count | None = None
    outlets_c19: Count | None = None
    rack_units: Amount | None = None
    price_usd: Amount | None = None
    price: Price | None = None


class AppliancePart(Part):
    """A box beside the servers and switches, such as a fabric manager."""

    kind: Literal["appliance"] = "appliance"
    purpose: Literal["fabric-manager", "management"]
    max_power_w: Power | None = None
    rack_units: Amount | None = None
    weight_kg: Amount | None = None
    price_usd: Amount | None = None
    price: Price | None = None


AnyPart = (
    GpuPart
    | NicPart
    | SwitchPart
    | CablePart
    | TransceiverPart
    | ServerPart
    | RackPart
    | PduPart
    | AppliancePart
)
