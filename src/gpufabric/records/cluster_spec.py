"""What the user asks for: the cluster description, validated.

This file owns the keys of ``cluster.schema.json``, those of later work included: a key that a command does not act on yet is
accepted, stored, and named in that command's ``assumptions``.
"""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema, model_validator

from gpufabric.records.parts import Connector, Network
from gpufabric.records.quantities import Length, Power, Rate

Topology = Literal[
    "full-mesh",
    "single-switch",
    "leaf-spine",
    "fat-tree",
    "rail-optimized",
    "multi-plane",
    "rail-only",
    "dragonfly",
    "torus",
]
Routing = Literal["adaptive", "ecmp", "static"]
MAX_SERVERS = 1_000_000
_RATIO = re.compile(r"^\s*(\d+(?:\.\d+)?)\s*:\s*(\d+(?:\.\d+)?)\s*$")


def _ratio(value: Any) -> float:
    if isinstance(value, str):
        found = _RATIO.match(value)
        if found is None or float(found.group(2)) == 0:
            raise ValueError(f'"{value[:40]}" is not a ratio; write it as "2:1" or a number such as 2')
        value = float(found.group(1)) / float(found.group(2))
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0.01 <= value <= 100:
        raise ValueError('a ratio lies between 0.01 and 100; write it as "2:1" or a number such as 2')
    return float(value)


Ratio = Annotated[
    float,
    BeforeValidator(_ratio),
    WithJsonSchema({"type": ["string", "number"], "description": 'capacity down : capacity up, such as "2:1" or 2', "examples": ["1:1", 2]}),
]
Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._\-]*$", max_length=63)]
_Ports = Annotated[int, Field(ge=0, le=100_000)]


class Strict(BaseModel):
    """Base of every part of a description: unknown keys are errors."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class GenericServer(Strict):
    """A server that is in no catalogue: ``gpus`` GPUs behind one switch, NIC *i* on rail *i* beside GPU *i* (modulo)."""

    gpus: int = Field(ge=1, le=1024)
    nics: int = Field(ge=1, le=1024)
    nic_rate: Rate
    nic_ports: int = Field(1, ge=1, le=8, description="ports of one NIC; port i is on plane i")
    scale_up: Rate | None = Field(None, description="one GPU to all its peers in the server, one direction")
    connector: Connector | None = None


class GenericSwitch(Strict):
    """A switch that is in no catalogue: ``ports`` single-port cages."""

    ports: int = Field(ge=1, le=1_000_000)
    rate: Rate
    network: Network = "ethernet"
    connector: Connector | None = None


class ServerGroup(Strict):
    """Servers of one kind.

    ``fabrics`` says which NICs go to which fabric; without it every compute NIC goes to the first fabric.
    """

    name: Name = "servers"
    model: str | GenericServer = Field(description="id of a server part, or a generic server")
    count: int | None = Field(None, ge=1, le=MAX_SERVERS)
    purpose: Literal["compute", "storage", "management"] = "compute"
    fabrics: dict[Name, tuple[str, ...]] | None = Field(None, description="fabric name → NIC names")
    per_rack: int | None = Field(None, ge=1, le=64)


class Tier(Strict):
    """What is said of one tier; anything left out follows from the requirement."""

    switch: str | GenericSwitch | None = None
    ports_down: _Ports | None = Field(None, description="down ports of one switch, at the rate of the links below")
    ports_up: _Ports | None = Field(None, description="up ports of one switch, at the rate of the links above")
    count: int | None = Field(None, ge=1, le=MAX_SERVERS, description="switches per plane (leaf, core) or per plane and pod (spine)")
    reserved_ports: _Ports = 0
    oversubscription: Ratio | None = None


class CableChoice(Strict):
    """How one kind of link is cabled."""

    technology: Literal["dac", "acc", "aoc", "fibre"] | None = None
    medium: Literal["multimode", "single-mode"] | None = None
    part: str | None = None
    length: Length | None = None


class Cables(Strict):
    """Cable choices by kind of link."""

    server_leaf: CableChoice = CableChoice()
    leaf_spine: CableChoice = CableChoice()
    spine_core: CableChoice = CableChoice()
    other: CableChoice = CableChoice()


class Managers(Strict):
    """Fabric managers on leaf ports: ``count`` devices with ``links`` links each."""

    count: int = Field(2, ge=1, le=64)
    links: int = Field(2, ge=1, le=64)
    part: str | None = None
    takes_server: bool = Field(True, description="one server of the last unit gives its place up for them")


class FabricSpec(Strict):
    """One network of the cluster."""

    name: Name = "compute"
    topology: Topology
    network: Network | None = Field(None, description="follows from the switch")
    switch: str | GenericSwitch | None = None
    unit_servers: int | None = Field(None, ge=1, le=MAX_SERVERS, description="servers of a scalable unit; default: down ports of a leaf")
    planes: int | None = Field(None, ge=1, le=64, description="default: the planes of the server's NIC ports")
    tiers: Literal["auto", 1, 2, 3] = "auto"
    oversubscription: Ratio = Field(1.0, description="of every tier that does not say otherwise")
    link_rate: Rate | None = Field(None, description="server to leaf; default: the NIC port's rate")
    uplink_rate: Rate | None = Field(None, description="between switches; default: the rate of the links below")
    leaf: Tier = Tier()
    spine: Tier = Tier()
    core: Tier = Tier()
    pod_leaves: int | None = Field(None, ge=1, le=MAX_SERVERS, description="leaves of a pod; default: half the ports of a spine")
    managers: Managers | None = None
    routing: Routing = "adaptive"
    cables: Cables = Cables()
    grow_to_units: int | None = Field(None, ge=1, le=MAX_SERVERS)
    reserved_cores: _Ports = 0


class Room(Strict):
    """The room that the racks stand in."""

    rack_power: Power | None = None
    rack_units: int | None = Field(None, ge=1, le=100)
    racks_per_row: int | None = Field(None, ge=1, le=1000)
    rows: int | None = Field(None, ge=1, le=1000)
    rack_width: Length | None = None
    rack_depth: Length | None = None
    aisle_width: Length | None = None
    tray_height: Length | None = None
    slack: Length | None = None
    leaf_placement: Literal["in-rack", "row-end", "row-middle"] | None = None
    airflow: Literal["front-to-back", "back-to-front"] | None = None


class Fault(Strict):
    """Something that is broken on purpose, for what-ifs."""

    kind: Literal["link-down", "link-slow", "switch-down", "nic-down", "rail-down", "plane-down", "nic-on-wrong-rail"]
    where: str = Field(description="device name, device:port, or two of them joined by ' - '")
    rate: Rate | None = None


class RankOrder(Strict):
    """The order of the ranks: in fabric order, shuffled with a seed, or as a file says."""

    order: Literal["fabric", "shuffled", "hostfile", "slurm", "log"] = "fabric"
    seed: int = Field(0, ge=0, le=2**32 - 1)
    file: str | None = None
    ranks: int | None = Field(None, ge=1)
    placement: Literal["packed", "fragmented"] = "packed"


class ClusterSpec(Strict):
    """A cluster as the user describes it."""

    name: Name = "cluster"
    preset: str | None = Field(None, description="id of a preset whose values stand where this description is silent")
    units: int | None = Field(None, ge=1, le=MAX_SERVERS, description="scalable units, instead of a server count")
    grow_to: int | None = Field(None, ge=1, le=MAX_SERVERS, description="units that the wiring must be able to grow to")
    servers: tuple[ServerGroup, ...] = Field(min_length=1)
    fabrics: tuple[FabricSpec, ...] = Field(min_length=1)
    room: Room = Room()
    rank_order: RankOrder = RankOrder()
    faults: tuple[Fault, ...] = ()
    parts: str | None = Field(None, description="folder with the user's own parts")
    prices: str | None = Field(None, description="file with prices")
    notes: tuple[str, ...] = ()

    @model_validator(mode="before")
    @classmethod
    def _short_forms(cls, data: Any) -> Any:
        if not isinstance(data, dict):
            return data
        data = dict(data)
        for key in ("servers", "fabrics"):
            if isinstance(data.get(key), dict):
                data[key] = [data[key]]
        return data

    @model_validator(mode="after")
    def _names_are_unique(self) -> ClusterSpec:
        for what, names in (("fabric", [f.name for f in self.fabrics]), ("server group", [g.name for g in self.servers])):
            twice = {n for n in names if names.count(n) > 1}
            if twice:
                raise ValueError(f'{what} name "{sorted(twice)[0]}" is used twice; give each {what} its own name')
        return self

