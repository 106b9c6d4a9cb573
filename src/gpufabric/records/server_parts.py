"""Servers and what is in them: GPUs, PCIe, NICs with their ports and cages, and the scale-up fabric."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from gpufabric.records.part_facts import Amount, CageCount, Connector, Count, Part, Price, StrictRecord
from gpufabric.records.quantities import Power, Rate
from gpufabric.units import format_gigabytes_per_s

NicPurpose = Literal["compute", "storage", "in-band", "out-of-band"]
# What a datasheet rounds.
_SAME_RATE = 0.05


class ScaleUp(StrictRecord):
    """How the GPUs of a server reach each other.

    ``switched``: through ``switches`` NVSwitches, any pair at the full ``gpu_bytes_per_s``. ``mesh``: direct links, a pair has
    ``pair_bytes_per_s`` only, or as many links of ``link_bytes_per_s`` as ``pair_links`` has in its row and column: none for
    two GPUs that reach each other over a third or over PCIe. ``domain_servers`` > 1: one NVLink domain spans that many servers
    (trays) of a rack.
    """

    kind: Literal["switched", "mesh", "pcie"]
    gpu_bytes_per_s: Rate = Field(description="one GPU, one direction, to all peers together")
    pair_bytes_per_s: Rate | None = None
    link_bytes_per_s: Rate | None = Field(None, description="one link of an uneven mesh, one direction")
    pair_links: tuple[tuple[Annotated[int, Field(ge=0, le=64)], ...], ...] = Field(
        (), max_length=64, description="links of each pair of GPUs, a row a GPU, where a mesh is uneven"
    )
    switches: int = Field(
        0, ge=0, description="switch chips in this server (0 when they sit elsewhere in the rack)"
    )
    domain_servers: Count = 1
    multicast: bool = Field(False, description="NVLink SHARP: in-switch reduction and multicast")

    @model_validator(mode="after")
    def _pairs_fit(self) -> ScaleUp:
        rows = self.pair_links
        if bool(rows) != (self.link_bytes_per_s is not None):
            raise ValueError("pair_links and link_bytes_per_s go together; write both, or neither")
        if not rows:
            return self
        if self.kind != "mesh" or self.pair_bytes_per_s is not None:
            raise ValueError("pair_links are for a mesh, and stand instead of pair_bytes_per_s")
        count = len(rows)
        if any(len(row) != count or row[i] for i, row in enumerate(rows)) or any(
            rows[a][b] != rows[b][a] for a in range(count) for b in range(a)
        ):
            raise ValueError(
                "pair_links is not square and the same in both directions, with 0 for a GPU and itself"
            )
        most = max(map(sum, rows)) * (self.link_bytes_per_s or 0.0)
        if abs(most / self.gpu_bytes_per_s - 1) > _SAME_RATE:
            raise ValueError(
                f"pair_links times link_bytes_per_s is {format_gigabytes_per_s(most)} for one GPU, and gpu_bytes_per_s "
                f"{format_gigabytes_per_s(self.gpu_bytes_per_s)}"
            )
        return self


class InsideGpu(StrictRecord):
    """GPU ``index`` of a server and the PCIe switch (or root port) it hangs on."""

    index: int = Field(ge=0)
    pcie: str
    numa: int | None = None


class InsidePcie(StrictRecord):
    """A PCIe switch or root port: what shares it shares ``bytes_per_s`` towards the CPU of ``numa``.

    ``peer_bytes_per_s`` is what one device below it reaches towards another below it; none: as ``bytes_per_s``.
    """

    id: str
    numa: int | None = None
    bytes_per_s: Rate
    peer_bytes_per_s: Rate | None = None


class NicPort(StrictRecord):
    """Where one port of a NIC appears at the back of the server, which rail it serves and which plane of that rail."""

    cage: CageCount
    lane: CageCount = 1
    rail: int | None = Field(None, ge=0, lt=4096)
    plane: int = Field(0, ge=0, lt=64)


class InsideNic(StrictRecord):
    """A NIC of a server: its part, its PCIe attachment, the GPU it stands beside, and its ports."""

    name: str
    part: str
    purpose: NicPurpose = "compute"
    pcie: str = ""
    gpu: int | None = Field(None, ge=0, description="index of the GPU that it stands beside")
    ports: tuple[NicPort, ...] = Field(min_length=1)


class ServerCage(StrictRecord):
    """Equal cages of a server; ``first`` .. ``first + count - 1`` are their numbers."""

    first: CageCount = 1
    count: CageCount
    connector: Connector | None = None
    ports: CageCount = 1
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
    rack_units: Amount | None = None
    rack: str = Field("", description="the rack part that a whole scale-up domain of it is sold in")
    weight_kg: Amount | None = None
    airflow: str = ""
    airflow_cfm: Amount | None = None
    price_usd: Amount | None = None
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
        if len(self.scale_up.pair_links) not in (0, len(self.gpus)):
            raise ValueError(
                f"scale_up.pair_links has {len(self.scale_up.pair_links)} rows; there are {len(self.gpus)} gpus"
            )
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
