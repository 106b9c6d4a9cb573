"""What can be bought: GPUs, servers with their inside, NICs, switches, cables, transceivers, racks, PDUs, appliances.

Each part is one data file of the catalogue. Every figure has a source: ``source_of[field]`` names a key of ``sources``;
fields that are not listed there come from ``default_source``. ``assumed[field]`` says why a value is assumed rather than
published; ``secondary`` lists the fields known only from a secondary source.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from gpufabric.records.quantities import Bytes, Flops, Length, Power, Rate, Time

Network = Literal["infiniband", "ethernet"]
Connector = Literal[
    "osfp-finned",  # IHS: closed or finned top, what air-cooled switch cages take
    "osfp-flat",  # RHS / -FLT: flat top, what NICs and DGX cages take
    "qsfp112",
    "qsfp56",
    "qsfp28",
    "qsfp-dd",
    "sfp28",
    "rj45",
    "mpo-12-apc",
    "mpo-12-upc",
    "mpo-16-apc",
    "mmc-12",
    "lc-duplex",
]
Technology = Literal["dac", "acc", "aoc", "fibre", "trunk", "cat6"]
PartKind = Literal["gpu", "server", "nic", "switch", "cable", "transceiver", "rack", "pdu", "appliance"]
NicPurpose = Literal["compute", "storage", "in-band", "out-of-band"]

_Count = Annotated[int, Field(ge=1, le=1_000_000)]
_CageCount = Annotated[int, Field(ge=1, le=4096)]
_Amount = Annotated[float, Field(ge=0)]
MAX_SWITCH_PORTS = 1_000_000


class _Strict(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class Source(_Strict):
    """Where a figure was read: a public document, its address, and the date it was read."""

    title: str
    url: str = Field(pattern=r"^https?://[^\s<>\"]+$", max_length=2000)
    read: str = Field(pattern=r"^\d{4}(-\d{2}(-\d{2})?)?$", description="date read, YYYY-MM-DD")
    note: str = ""


class Price(_Strict):
    """A price that was quoted in another currency than US dollars. It is not converted, so no total in US dollars has it."""

    amount: _Amount
    currency: str = Field(pattern=r"^[A-Z]{3}$", description="ISO 4217 code")

    @model_validator(mode="after")
    def _is_not_dollars(self) -> Price:
        if self.currency == "USD":
            raise ValueError("is in US dollars; price is for other currencies; write it as price_usd")
        return self


class Part(_Strict):
    """Fields that every part has. ``id`` equals the file's name."""

    id: str = Field(pattern=r"^[a-z0-9][a-z0-9.\-]*$", max_length=64)
    vendor: str
    model: str
    part_number: str = ""
    status: Literal["shipping", "announced", "generic"] = "shipping"
    aliases: tuple[str, ...] = ()
    description: str = ""
    sources: dict[str, Source] = {}
    default_source: str = ""
    source_of: dict[str, str] = {}
    secondary: tuple[str, ...] = ()
    assumed: dict[str, str] = {}

    @model_validator(mode="after")
    def _sources_resolve(self) -> Part:
        if self.status != "generic" and not self.sources:
            raise ValueError(
                "a part needs at least one source; add a [sources.KEY] table with title, url and read"
            )
        used = {**({"default_source": self.default_source} if self.default_source else {}), **self.source_of}
        for field, key in used.items():
            if key not in self.sources:
                raise ValueError(
                    f'{field} names source "{key}", which is not in [sources]; known: {", ".join(self.sources)}'
                )
        if self.status != "generic" and not self.default_source:
            raise ValueError("default_source is missing; name one key of [sources]")
        for field in (*self.source_of, *self.secondary, *self.assumed):
            if field.split(".")[0] not in type(self).model_fields:
                raise ValueError(f'"{field}" is marked but is not a field of this kind of part')
        return self


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
    ports: _Count
    port_bytes_per_s: Rate
    total_bytes_per_s: Rate | None = None
    connector: Connector | None = None
    pcie_generation: int | None = None
    pcie_lanes: int | None = None
    max_power_w: Power | None = None
    price_usd: _Amount | None = None
    price: Price | None = None


class SplitMode(_Strict):
    """One way of using a cage: ``ports`` logical ports of ``port_bytes_per_s`` each."""

    ports: _Count
    port_bytes_per_s: Rate
    disables_next_cage: bool = False


class CageGroup(_Strict):
    """Equal cages of a switch. ``modes[0]`` is the native mode; a twin-port cage has two ports natively."""

    count: _Count
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
    logical_port_limit: tuple[_Count, _Count] | None = Field(
        None,
        description="(cages, ports): this many neighbouring cages together have at most this many logical ports",
    )
    latency_s: Time | None = None
    rack_units: _Amount | None = None
    weight_kg: _Amount | None = None
    max_power_w: Power | None = None
    max_power_includes_modules: bool | None = None
    typical_power_w: Power | None = None
    airflow: str = ""
    asic: str = ""
    managed: bool | None = None
    price_usd: _Amount | None = None
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
    b_ends: _Count = 1
    links: _Count = 1
    link_bytes_per_s: Rate | None = Field(None, description="none: whatever its transceivers do")
    medium: Literal["copper", "multimode", "single-mode"] = "copper"
    lengths_m: tuple[Length, ...] = ()
    reach_m: Length | None = None
    latency_s_per_m: Time | None = None
    max_power_w: Power | None = None
    price_usd: _Amount | None = None
    price: Price | None = None


class TransceiverPart(Part):
    """A pluggable optical module: ``ports`` ports of ``port_bytes_per_s``, each with its own fibre connector."""

    kind: Literal["transceiver"] = "transceiver"
    networks: tuple[Network, ...] = ("infiniband", "ethernet")
    connector: Connector
    ports: _Count
    port_bytes_per_s: Rate
    fibre_connector: Connector
    medium: Literal["multimode", "single-mode"]
    reach_m: Length
    max_power_w: Power | None = None
    price_usd: _Amount | None = None
    price: Price | None = None


class ScaleUp(_Strict):
    """How the GPUs of a server reach each other.

    ``switched``: through ``switches`` NVSwitches, any pair at the full ``gpu_bytes_per_s``. ``mesh``: direct links, a pair has
    ``pair_bytes_per_s`` only. ``domain_servers`` > 1: one NVLink domain spans that many servers (trays) of a rack.
    """

    kind: Literal["switched", "mesh", "pcie"]
    gpu_bytes_per_s: Rate = Field(description="one GPU, one direction, to all peers together")
    pair_bytes_per_s: Rate | None = None
    switches: int = Field(
        0, ge=0, description="switch chips in this server (0 when they sit elsewhere in the rack)"
    )
    domain_servers: _Count = 1
    multicast: bool = Field(False, description="NVLink SHARP: in-switch reduction and multicast")


class InsideGpu(_Strict):
    """GPU ``index`` of a server and the PCIe switch (or root port) it hangs on."""

    index: int = Field(ge=0)
    pcie: str
    numa: int | None = None


class InsidePcie(_Strict):
    """A PCIe switch or root port: what shares it shares ``bytes_per_s`` towards the CPU of ``numa``.

    ``peer_bytes_per_s`` is what one device below it reaches towards another below it; none: as ``bytes_per_s``.
    """

    id: str
    numa: int | None = None
    bytes_per_s: Rate
    peer_bytes_per_s: Rate | None = None


class NicPort(_Strict):
    """Where one port of a NIC appears at the back of the server, which rail it serves and which plane of that rail."""

    cage: _CageCount
    lane: _CageCount = 1
    rail: int | None = Field(None, ge=0, lt=4096)
    plane: int = Field(0, ge=0, lt=64)


class InsideNic(_Strict):
    """A NIC of a server: its part, its PCIe attachment, the GPU it stands beside, and its ports."""

    name: str
    part: str
    purpose: NicPurpose = "compute"
    pcie: str = ""
    gpu: int | None = Field(None, ge=0, description="index of the GPU that it stands beside")
    ports: tuple[NicPort, ...] = Field(min_length=1)


class ServerCage(_Strict):
    """Equal cages of a server; ``first`` .. ``first + count - 1`` are their numbers."""

    first: _CageCount = 1
    count: _CageCount
    connector: Connector | None = None
    ports: _CageCount = 1
    label: str = Field("", description="text before the number on the chassis, such as OSFP")


class ServerPart(Part):
    """A server (or compute tray) with its inside."""

    kind: Literal["server"] = "server"
    gpu: str
    gpus: tuple[InsideGpu, ...] = ()
    pcie: tuple[InsidePcie, ...] = ()
    nics: tuple[InsideNic, ...] = ()
    cages: tuple[ServerCage, ...] = ()
    scale_up: ScaleUp
    max_power_w: Power | None = None
    rack_units: _Amount | None = None
    rack: str = Field("", description="the rack part that a whole scale-up domain of it is sold in")
    weight_kg: _Amount | None = None
    airflow: str = ""
    airflow_cfm: _Amount | None = None
    price_usd: _Amount | None = None
    price: Price | None = None

    @model_validator(mode="after")
    def _inside_fits(self) -> ServerPart:
        known = {p.id for p in self.pcie}
        for owner, ref in [(f"gpu {g.index}", g.pcie) for g in self.gpus] + [
            (n.name, n.pcie) for n in self.nics
        ]:
            if ref and ref not in known:
                raise ValueError(
                    f'{owner} hangs on pcie "{ref}", which is not listed; known: {", ".join(sorted(known))}'
                )
        if [g.index for g in self.gpus] != list(range(len(self.gpus))):
            raise ValueError("gpus must be numbered 0, 1, 2, … in order")
        self._cages_fit()
        return self

    def _cages_fit(self) -> None:
        room = {c.first + i: c.ports for c in self.cages for i in range(c.count)}
        seen: set[tuple[int, int]] = set()
        for nic in self.nics:
            if nic.gpu is not None and nic.gpu >= len(self.gpus):
                raise ValueError(f"{nic.name} stands beside gpu {nic.gpu}; there are {len(self.gpus)}")
            for port in nic.ports:
                if port.lane > room.get(port.cage, 0):
                    raise ValueError(
                        f"{nic.name} uses cage {port.cage} lane {port.lane}, which no [[cages]] group has"
                    )
                if (port.cage, port.lane) in seen:
                    raise ValueError(f"cage {port.cage} lane {port.lane} is used twice")
                seen.add((port.cage, port.lane))


class RackPart(Part):
    """A rack. ``max_power_w`` is what it may hold at most, where it is sold as a whole."""

    kind: Literal["rack"] = "rack"
    rack_units: _Amount | None = None
    width_m: Length | None = None
    depth_m: Length | None = None
    standard: str = ""
    max_power_w: Power | None = None
    price_usd: _Amount | None = None
    price: Price | None = None


class PduPart(Part):
    """What feeds a rack: a power distribution unit or a power shelf. ``max_power_w`` is what it can deliver."""

    kind: Literal["pdu"] = "pdu"
    max_power_w: Power | None = None
    phases: _Count | None = None
    line_voltage_v: _Amount | None = None
    line_current_a: _Amount | None = None
    outlets_c13: _Count | None = None
    outlets_c19: _Count | None = None
    rack_units: _Amount | None = None
    price_usd: _Amount | None = None
    price: Price | None = None


class AppliancePart(Part):
    """A box beside the servers and switches, such as a fabric manager."""

    kind: Literal["appliance"] = "appliance"
    purpose: Literal["fabric-manager", "management"]
    max_power_w: Power | None = None
    rack_units: _Amount | None = None
    weight_kg: _Amount | None = None
    price_usd: _Amount | None = None
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
