"""What the user asks for: the cluster description, validated.

This file owns the keys of ``cluster.schema.json``, those of later work included: a key that a command does
not act on yet is accepted, stored, and named in that command's ``assumptions``.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, model_validator

from gpufabric.records.generic_parts import GenericServer, GenericSwitch
from gpufabric.records.parts import Network
from gpufabric.records.quantities import Length, Power, Rate
from gpufabric.records.spec_fields import Flag, Int, Library, Name, PartId, Ratio, Strict, Text

Topology = Literal[
    "full-mesh",
    "single-switch",
    "leaf-spine",
    "fat-tree",
    "rail-optimized",
    "multi-plane",
    "rail-only",
    "collapsed-spine",
    "dragonfly",
    "torus",
]
MAX_SERVERS = 1_000_000
Routing = Literal["adaptive", "ecmp", "static"]
Purpose = Literal["compute", "storage", "in-band", "out-of-band"]
Bond = Literal["nic", "server"]


def _not_a_lookalike(value: Any) -> Any:
    # Python's True == 1 and 1.0 == 1 would let them pass as a literal 1.
    return repr(value) if isinstance(value, bool | float) else value


Tiers = Annotated[Literal["auto", 1, 2, 3], BeforeValidator(_not_a_lookalike)]
_Ports = Annotated[Int, Field(ge=0, le=100_000)]
_SomePorts = Annotated[Int, Field(ge=1, le=100_000)]
_Count = Annotated[Int, Field(ge=1, le=MAX_SERVERS)]
_LinksOfPair = Annotated[Int, Field(ge=1, le=4096)]


class ServerGroup(Strict):
    """Servers of one kind.

    ``fabrics`` says which NICs go to which fabric; without it each NIC of a compute server goes to the first fabric of its own
    purpose, and every NIC of a storage (management) server to the first storage (in-band) fabric.
    """

    name: Name = Field("servers", description="name of the group; names of its servers begin with it")
    model: PartId | GenericServer = Field(
        description="id of a server part (gpufabric parts), or a generic server"
    )
    count: _Count | None = Field(
        None, description="servers of this group; the first group may leave it to units"
    )
    purpose: Literal["compute", "storage", "management"] = Field(
        "compute", description="what the servers are for"
    )
    fabrics: dict[Name, Annotated[tuple[PartId, ...], Field(max_length=1024)]] | None = Field(
        None,
        max_length=64,
        description="fabric name → NIC names; default: each NIC to the first fabric of its purpose",
    )
    per_rack: Int | None = Field(
        None, ge=1, le=64, description="servers of this group in one rack; default: by power and height"
    )

    @model_validator(mode="after")
    def _a_nic_serves_one_fabric(self) -> ServerGroup:
        served: dict[str, str] = {}
        for fabric, nics in (self.fabrics or {}).items():
            for nic in nics:
                if nic in served:
                    where = fabric if served[nic] == fabric else f"{served[nic]} and {fabric}"
                    raise ValueError(
                        f'NIC "{nic}" is named twice under fabrics ({where}); a NIC serves one fabric; name it once'
                    )
                served[nic] = fabric
        return self


class Tier(Strict):
    """What is said of one tier; anything left out follows from the requirement."""

    switch: PartId | GenericSwitch | None = Field(
        None, description="id of a switch part or a generic switch; default: the fabric's"
    )
    ports_down: _SomePorts | None = Field(
        None, description="down ports of one switch, at the rate of the links below"
    )
    ports_up: _SomePorts | None = Field(
        None, description="up ports of one switch, at the rate of the links above"
    )
    count: _Count | None = Field(
        None,
        description="switches per plane (leaf), per plane and pod (spine), or per plane and spine position in a pod (core)",
    )
    reserved_ports: _Ports = Field(0, description="ports of each switch that stay free")
    oversubscription: Ratio | None = Field(
        None, description="capacity down : capacity up of this tier; default: the fabric's"
    )


class CableChoice(Strict):
    """How one kind of link is cabled."""

    technology: Literal["dac", "acc", "aoc", "fibre"] | None = Field(
        None, description="copper, active copper, active optical or fibre"
    )
    medium: Literal["multimode", "single-mode"] | None = Field(None, description="kind of fibre")
    part: PartId | None = Field(None, description="id of a cable or transceiver part")
    length: Length | None = Field(
        None, description="length of each cable, such as 3 m; default: from the floor plan"
    )
    trunk_fibres: Int | None = Field(
        None, ge=2, le=4096, description="fibres of one trunk between patch panels; default: no panels"
    )


class Cables(Strict):
    """Cable choices by kind of link."""

    server_leaf: CableChoice = Field(CableChoice(), description="servers to leaf switches")
    leaf_spine: CableChoice = Field(CableChoice(), description="leaf to spine switches")
    spine_core: CableChoice = Field(CableChoice(), description="spine to core switches")
    leaf_leaf: CableChoice = Field(
        CableChoice(), description="between leaf switches: inter-switch, dragonfly, torus"
    )
    other: CableChoice = Field(CableChoice(), description="managers, storage and everything else")


class Managers(Strict):
    """Fabric managers on leaf ports: ``count`` devices with ``links`` links each."""

    count: Int = Field(2, ge=1, le=64, description="manager devices")
    links: Int = Field(2, ge=1, le=64, description="links of each manager to leaf switches")
    part: PartId | None = Field(None, description="id of the manager's part")
    takes_server: Flag = Field(True, description="one server of the last unit gives its place up for them")


class Ecmp(Strict):
    """What decides how flow hashing spreads connections over equal paths."""

    seed: Int = Field(0, ge=0, le=2**32 - 1, description="seed of the hash")
    queue_pairs: Int | None = Field(
        None, ge=1, le=256, description="queue pairs of one connection; default: the library's"
    )
    polarised: Flag = Field(False, description="every tier hashes with the same seed")


class Torus(Strict):
    """Shape of a torus."""

    dimensions: tuple[Annotated[Int, Field(ge=2, le=1024)], ...] = Field(
        min_length=1, max_length=6, description="switches along each dimension"
    )
    switch_servers: _Count | None = Field(
        None, description="servers of one switch; default: as few as spread over all switches"
    )
    links: _LinksOfPair = Field(1, description="parallel links between two neighbours")


class Dragonfly(Strict):
    """Shape of a dragonfly."""

    groups: _Count | None = Field(
        None, description="groups of switches; default: the fewest that hold the servers"
    )
    group_switches: _Count | None = Field(
        None, description="switches of one group (a); default: twice the global links"
    )
    switch_servers: _Count | None = Field(
        None, description="server links of one switch (p); default: as many as global links"
    )
    global_links: _Count | None = Field(
        None, description="links of one switch to other groups (h); default: a quarter of its ports"
    )


class CollapsedSpine(Strict):
    """How two switches that are leaf and spine in one share the servers and are joined."""

    split: Literal["nic", "server"] = Field(
        "nic",
        description="what the two switches share out: the NICs of each server in turn, or the servers by halves",
    )
    links: _LinksOfPair | None = Field(
        None, description="inter-switch links of a pair; default: from oversubscription"
    )


class LeafUplinks(Strict):
    """Links from the leaves of a fabric to the leaves of another one, which then joins them."""

    fabric: Name = Field(description="name of a fabric that stands earlier in the list")
    links: _LinksOfPair = Field(
        2, description="links of each leaf, spread over the leaves of the other fabric"
    )
    rate: Rate = Field(description="rate of each, one direction, such as 100 Gb/s")


class FabricSpec(Strict):
    """One network of the cluster."""

    name: Name = Field("compute", description="name of the fabric")
    topology: Topology = Field(description="how its switches are wired")
    purpose: Purpose = Field("compute", description="what the fabric carries")
    network: Network | None = Field(None, description="follows from the switch")
    switch: PartId | GenericSwitch | None = Field(
        None, description="id of a switch part (gpufabric parts), or a generic switch"
    )
    unit_servers: _Count | None = Field(
        None, description="servers of a scalable unit; default: down ports of a leaf"
    )
    planes: Int | None = Field(None, ge=1, le=64, description="default: the planes of the server's NIC ports")
    tiers: Tiers = Field("auto", description="tiers of switches; auto: the fewest that do")
    oversubscription: Ratio = Field(
        1.0, description="capacity down : capacity up of every tier that does not say otherwise"
    )
    link_rate: Rate | None = Field(None, description="server to leaf; default: the NIC port's rate")
    uplink_rate: Rate | None = Field(
        None, description="between switches; default: the rate of the links below"
    )
    leaf: Tier = Field(Tier(), description="the switches that servers hang on")
    spine: Tier = Field(Tier(), description="the second tier")
    core: Tier = Field(Tier(), description="the third tier")
    pod_leaves: _Count | None = Field(None, description="leaves of a pod; default: half the ports of a spine")
    managers: Managers | None = Field(None, description="fabric managers on leaf ports; null: none")
    routing: Routing = Field("adaptive", description="how packets choose among equal paths")
    ecmp: Ecmp = Field(Ecmp(), description="used when routing is ecmp")
    in_network_reduction: Flag = Field(False, description="the switches reduce (SHARP)")
    bond: Bond | None = Field(
        None,
        description="ports that act as one interface, each on a leaf of its own: those of a NIC, or of a server",
    )
    torus: Torus | None = Field(None, description="shape, when topology is torus")
    dragonfly: Dragonfly | None = Field(None, description="shape, when topology is dragonfly")
    collapsed: CollapsedSpine = Field(CollapsedSpine(), description="when topology is collapsed-spine")
    uplinks: LeafUplinks | None = Field(None, description="links of every leaf to another fabric; null: none")
    pdus: _Ports = Field(
        0, description="power distribution units with a port of this fabric, when purpose is out-of-band"
    )
    cables: Cables = Field(Cables(), description="how links are cabled")
    grow_to_units: _Count | None = Field(
        None, description="units that this fabric must be able to grow to; default: grow_to"
    )
    reserved_cores: _Ports = Field(0, description="up ports of each spine that stay free for cores")


class Room(Strict):
    """The room that the racks stand in."""

    rack_power: Power | None = Field(None, description="power of one rack, such as 40 kW")
    rack_units: Int | None = Field(None, ge=1, le=100, description="height of one rack in rack units")
    racks_per_row: Int | None = Field(None, ge=1, le=1000, description="racks of one row")
    rows: Int | None = Field(None, ge=1, le=1000, description="rows; default: as many as needed")
    rack_width: Length | None = Field(None, description="such as 600 mm")
    rack_depth: Length | None = Field(None, description="such as 1200 mm")
    aisle_width: Length | None = Field(None, description="between two rows, such as 1.2 m")
    tray_height: Length | None = Field(None, description="from the rack top to the cable tray, such as 50 cm")
    slack: Length | None = Field(None, description="added to every cable, such as 1 m")
    leaf_placement: Literal["in-rack", "row-end", "row-middle"] | None = Field(
        None, description="where leaf switches stand"
    )
    airflow: Literal["front-to-back", "back-to-front"] | None = Field(
        None, description="seen from the cold aisle"
    )


class Fault(Strict):
    """Something that is broken on purpose, for what-ifs."""

    kind: Literal[
        "link-down", "link-slow", "switch-down", "nic-down", "rail-down", "plane-down", "nic-on-wrong-rail"
    ] = Field(description="what is broken")
    where: Text = Field(
        description="a switch, a link as device:port or A - B, a NIC by its port, rail:3 or plane:1"
    )
    rate: Rate | None = Field(None, description="what a slow link still runs at, such as 200 Gb/s")


class RankOrder(Strict):
    """The order of the ranks: in fabric order, shuffled with a seed, or as a file says."""

    order: Literal["fabric", "shuffled", "hostfile", "slurm", "log"] = Field(
        "fabric", description="where the order comes from"
    )
    seed: Int = Field(0, ge=0, le=2**32 - 1, description="seed of the shuffle")
    file: Text | None = Field(
        None, description="hostfile, Slurm node list or log; relative to this description's folder"
    )
    ranks: Int | None = Field(None, ge=1, le=2**31 - 1, description="ranks used; default: every GPU")
    placement: Literal["packed", "fragmented"] = Field(
        "packed",
        description="servers that a part of the cluster is taken from: the first ones, or some of every unit",
    )


class ClusterSpec(Strict):
    """A cluster as the user describes it."""

    name: Name = Field("cluster", description="name of the cluster")
    preset: Name | None = Field(
        None, description="id of a preset whose values stand where this description is silent"
    )
    units: _Count | None = Field(None, description="scalable units, instead of a server count")
    grow_to: _Count | None = Field(None, description="units that the wiring must be able to grow to")
    servers: tuple[ServerGroup, ...] = Field(
        min_length=1, max_length=64, description="one group of servers, or a list of groups"
    )
    fabrics: tuple[FabricSpec, ...] = Field(
        min_length=1, max_length=64, description="one fabric, or a list of fabrics"
    )
    room: Room = Field(Room(), description="the room that the racks stand in")
    rank_order: RankOrder = Field(RankOrder(), description="the order of the ranks")
    library: Library = Field(Library(), description="communication library, its version and settings")
    faults: tuple[Fault, ...] = Field(
        (), max_length=10_000, description="what is broken on purpose, for what-ifs"
    )
    parts: Text | None = Field(
        None, description="folder with the user's own parts; relative to this description's folder"
    )
    prices: Text | None = Field(None, description="file with prices; relative to this description's folder")
    notes: tuple[Text, ...] = Field((), max_length=100, description="free text that is carried along")

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
        for what, names in (
            ("fabric", [f.name for f in self.fabrics]),
            ("server group", [g.name for g in self.servers]),
        ):
            twice = {n for n in names if names.count(n) > 1}
            if twice:
                raise ValueError(f'{what} name "{min(twice)}" is used twice; give each {what} its own name')
        return self
