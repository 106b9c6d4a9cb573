"""A number of GPUs, a server and a switch → the fabrics that could join them, as descriptions to be wired."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from gpufabric.catalog.load import Catalog
from gpufabric.errors import InputError, UnbuildableError
from gpufabric.jobs.port_arithmetic import PortFloor, clos_floor, mesh_floor, switch_floor
from gpufabric.records.cluster_spec import MAX_SERVERS, ClusterSpec
from gpufabric.records.parts import NicPart
from gpufabric.topologies import TOPOLOGIES, resolve_parts
from gpufabric.topologies.resolve_parts import server_of, switch_of
from gpufabric.topologies.switch_ports import switch_modes
from gpufabric.units import counted, format_gbps, parse_rate

SERVER, SWITCH = "dgx-h100", "sn5600"
MAX_PLANES = 64
GENERIC_GPUS = 8


@dataclass(frozen=True, slots=True)
class Alternative:
    """One fabric to be wired.

    ``floor`` is what port counts alone say of it; ``refusal`` what to say, in the words of the question, when it can't be wired.
    """

    name: str
    spec: ClusterSpec
    floor: PortFloor | None = None
    refusal: UnbuildableError | None = None


@dataclass(frozen=True, slots=True)
class CompareRequest:
    """How many GPUs to join and with what: ``server`` a part id, or ``nic_rate`` for a generic server of eight GPUs.

    Without ``gpus`` the classic fabrics are not asked for.
    """

    gpus: int | None = None
    server: str | None = None
    nic_rate: str | None = None
    switch: str | None = None

    @property
    def switch_id(self) -> str:
        """The switch asked for, or the one that stands for the classic story."""
        return self.switch or SWITCH


@dataclass(frozen=True, slots=True)
class _Site:
    """What all alternatives share: the server with its ports, the switch with its radix at their rate."""

    gpus: int
    model: str | dict[str, Any]
    servers: int
    ports: int
    planes: int
    rate_bytes_per_s: float
    switch: str
    radix: int | None

    def spec(self, topology: str, **fabric: Any) -> ClusterSpec:
        return _spec(self.model, self.servers, {"topology": topology, "switch": self.switch, **fabric})

    @property
    def endpoints(self) -> int:
        return self.servers * self.ports


def classic_alternatives(request: CompareRequest, gpus: int, catalog: Catalog) -> list[Alternative]:
    """Return the classic ways to join so many GPUs, from a full mesh to planes, in the order of the story.

    Parameters
    ----------
    request
        With which servers and switches.
    gpus : int
        Servers are as many as hold them, the last one perhaps with some too many.
    catalog
        Where server and switch are looked up.

    Raises
    ------
    InputError, PartError
        If the number of GPUs is out of range, a rate is not understood, or a part does not exist.
    """
    if not 2 <= gpus <= MAX_SERVERS:
        raise InputError(f"gpus: {gpus:,} is out of range; allowed is 2 to {MAX_SERVERS:,}")
    site = _site(request, gpus, catalog)
    found = [*_meshes(site), *_one_switch_and_two_tiers(site), *_three_tiers(site)]
    planes = site.ports if site.ports <= MAX_PLANES else site.planes
    return [*found, Alternative(counted(planes, "plane"), site.spec("multi-plane", planes=planes))]


def _spec(model: str | dict[str, Any], count: int, fabric: dict[str, Any]) -> ClusterSpec:
    return ClusterSpec.model_validate({"servers": {"model": model, "count": count}, "fabrics": fabric})


def _site(request: CompareRequest, gpus: int, catalog: Catalog) -> _Site:
    if request.server is not None and request.nic_rate is not None:
        raise InputError(
            "compare: --server and --nic-rate are both given; allowed is one of them; leave one out"
        )
    model: str | dict[str, Any] = request.server or SERVER
    if request.nic_rate is not None:
        parse_rate(request.nic_rate)
        model = {"gpus": GENERIC_GPUS, "nics": GENERIC_GPUS, "nic_rate": request.nic_rate}
    probe = _spec(model, 1, {"topology": "fat-tree", "switch": request.switch_id})
    part = server_of(probe.servers[0].model, catalog)
    compute = [nic for nic in part.nics if nic.purpose == "compute"]
    if not compute:
        raise InputError(
            f"server {part.id} has no compute NIC to join; allowed is one with NICs; name another"
        )
    nics = resolve_parts(probe, catalog).nics
    rate = min(_port_rate(nics[nic.part], len(nic.ports)) for nic in compute)
    try:
        radix = switch_modes(switch_of(request.switch_id, catalog)).radix(rate)
    except UnbuildableError:
        radix = None  # every row then says which rates the switch has
    return _Site(
        gpus=gpus,
        model=model,
        servers=-(-gpus // len(part.gpus)),
        ports=sum(len(nic.ports) for nic in compute),
        planes=max(port.plane for nic in compute for port in nic.ports) + 1,
        rate_bytes_per_s=rate,
        switch=request.switch_id,
        radix=radix,
    )


def _port_rate(nic: NicPart, used: int) -> float:
    """Return what each of the used ports of a NIC can do when all of them are busy, bytes/s."""
    if used > 1 and nic.total_bytes_per_s:
        return min(nic.port_bytes_per_s, nic.total_bytes_per_s / used)
    return nic.port_bytes_per_s


def _meshes(site: _Site) -> list[Alternative]:
    alone = {"gpus": 1, "nics": 1, "nic_rate": f"{site.rate_bytes_per_s!r} B/s"}
    by_gpu = _spec(alone, site.gpus, {"topology": "full-mesh"})
    floor = mesh_floor(site.gpus, "gpu")
    refusal = UnbuildableError(
        f"each GPU needs a port for every other one, {floor.ports_per_gpu:,} ports "
        f"a GPU and {floor.cables:,} cables; a GPU has 1 port",
        "2 GPUs, or switches",
    )
    by_server = _spec(site.model, site.servers, {"topology": "full-mesh"})
    return [
        Alternative("full mesh, GPU by GPU", by_gpu, floor, refusal),
        Alternative("full mesh, server by server", by_server, mesh_floor(site.servers, "server")),
    ]


def _one_switch_and_two_tiers(site: _Site) -> list[Alternative]:
    radix = site.radix
    one = switch_floor(site.endpoints, site.planes, radix) if radix else None
    two = clos_floor(site.endpoints, site.planes, radix, 2) if radix else None
    return [
        Alternative("one giant switch", site.spec("single-switch"), one),
        Alternative("leaf-spine, two tiers", site.spec("leaf-spine"), two),
    ]


def _three_tiers(site: _Site) -> list[Alternative]:
    radix = site.radix
    three = clos_floor(site.endpoints, site.planes, radix, 3) if radix else None
    half = max(1, (radix or 2) // 2)
    leaves = -(-site.endpoints // site.planes // half)
    # Two pods at least, or the third tier would have nothing to join.
    pod = max(1, min(half, -(-leaves // 2)))
    rows = [
        Alternative("fat tree, three tiers", site.spec("fat-tree", tiers=3, pod_leaves=pod), three),
        Alternative("rail-optimized", site.spec("rail-optimized")),
    ]
    if "rail-only" in TOPOLOGIES:
        rows.append(Alternative("rail-only", site.spec("rail-only")))
    return rows


def describe_request(request: CompareRequest) -> str:
    """Return in words what all alternatives are made of."""
    if request.nic_rate is not None:
        servers = f"servers of {counted(GENERIC_GPUS, 'GPU')} and NICs of {format_gbps(parse_rate(request.nic_rate))}"
    else:
        servers = f"{request.server or SERVER} servers"
    return f"{counted(request.gpus or 0, 'GPU')} in {servers}, switches {request.switch_id}"
