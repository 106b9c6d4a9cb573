"""Servers and switches that are in no catalogue, as a description gives them inline."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from gpufabric.records.parts import Connector, Network
from gpufabric.records.quantities import Rate
from gpufabric.records.spec_fields import Flag, Int, PartId, Strict

MAX_SERVER_PORTS = 4096


class GenericServer(Strict):
    """A server in no catalogue: ``gpus`` GPUs behind one switch, NIC *i* on rail *i* beside GPU *i*."""

    gpus: Int = Field(ge=0, le=1024, description="GPUs of one server; 0 for storage and management")
    gpu: PartId | None = Field(None, description="id of a GPU part; default: a GPU of no known kind")
    nics: Int = Field(ge=0, le=1024, description="compute NICs of one server; NIC i is on rail i")
    nic_rate: Rate | None = Field(
        None, description="rate of one NIC port, one direction, such as 400 Gb/s; required beside NICs"
    )
    nic_ports: Int = Field(1, ge=1, le=8, description="ports of one NIC; port i is on plane i")
    scale_up: Rate | None = Field(
        None, description="one GPU to all its peers in the server, one direction, such as 450 GB/s"
    )
    scale_up_kind: Literal["switched", "mesh", "pcie"] = Field(
        "switched",
        description="how the GPUs reach each other: through switches, over direct links, or over PCIe",
    )
    multicast: Flag = Field(False, description="the scale-up switches add and multicast (NVLink SHARP)")
    domain_servers: Int = Field(
        1,
        ge=1,
        le=1024,
        description="neighbouring servers that share one scale-up domain, such as 18 trays of a rack",
    )
    connector: Connector | None = Field(None, description="connector of the NIC cages")

    @model_validator(mode="after")
    def _rates_are_known(self) -> GenericServer:
        if self.nics and self.nic_rate is None:
            raise ValueError(f"nics is {self.nics:,} and nic_rate is missing; write it, such as 400 Gb/s")
        if not self.nics and self.gpus and self.scale_up is None:
            raise ValueError("a server without NICs needs scale_up; write it, such as 450 GB/s")
        if self.scale_up_kind != "switched" and (self.multicast or self.domain_servers > 1):
            raise ValueError(
                f"scale_up_kind is {self.scale_up_kind}; multicast and domain_servers are for switched GPUs; leave them out"
            )
        return self

    @model_validator(mode="after")
    def _ports_are_bounded(self) -> GenericServer:
        if self.nics * self.nic_ports > MAX_SERVER_PORTS:
            raise ValueError(
                f"nics × nic_ports is {self.nics * self.nic_ports:,}; "
                f"allowed are {MAX_SERVER_PORTS:,} ports a server; use fewer"
            )
        return self


class GenericSwitch(Strict):
    """A switch that is in no catalogue: ``ports`` single-port cages."""

    ports: Int = Field(ge=1, le=1_000_000, description="ports of one switch")
    rate: Rate = Field(description="rate of one port, one direction, such as 400 Gb/s")
    network: Network = Field("ethernet", description="what the switch speaks")
    connector: Connector | None = Field(None, description="connector of the cages")
