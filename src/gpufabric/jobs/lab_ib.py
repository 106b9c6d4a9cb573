"""Route a designed InfiniBand fabric by real OpenSM and say what its tables do: ``gpufabric lab ib``."""

from __future__ import annotations

import shutil
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpufabric.errors import InputError, did_you_mean, printable
from gpufabric.graphs.cluster_subnet import LaidSubnet, lay_subnet, separate_subnets
from gpufabric.graphs.fabric_level import build_fabric_graph
from gpufabric.jobs.faulty_cluster import without_links
from gpufabric.jobs.lab_ib_cuts import Cuts, cut_links, cut_names, with_described
from gpufabric.jobs.lab_ib_findings import routing_findings
from gpufabric.jobs.lab_ib_reroute import PricedBeforeAfter, Reroute, price_before_after, subnet_rows
from gpufabric.jobs.lab_ib_wiring import (
    NAMES,
    ROOTS,
    DiscoveredWiring,
    compare_discovered,
    name_adapters,
    write_maps,
)
from gpufabric.jobs.load_parts import catalog_for
from gpufabric.jobs.table_balance import TableBalance, table_balance
from gpufabric.lab.discover_on_ibsim import DISCOVERED, discovering
from gpufabric.lab.ibsim_session import NETLIST, ibsim_running
from gpufabric.lab.opensm_on_ibsim import (
    DEFAULT_TIMEOUT_S,
    LOG,
    TABLES,
    OpensmRun,
    OpensmSession,
    check_engine,
    opensm_running,
)
from gpufabric.lab.scratch_folder import scratch_folder
from gpufabric.records.cluster import Cluster
from gpufabric.records.cluster_spec import ClusterSpec
from gpufabric.records.findings import Finding
from gpufabric.records.flows import LinkLoads, PortEdges
from gpufabric.records.forwarding_tables import ForwardingTables
from gpufabric.records.part_set import PartSet
from gpufabric.report.write_files import folder_beside
from gpufabric.routing import ROUTING
from gpufabric.routing.forwarding_tables import bind_tables
from gpufabric.routing.tier_links import index_tiers, why_no_tiers
from gpufabric.topologies import build_cluster, resolve_parts

AFTER = "opensm-lfts-after-cut.dump"
KEPT = (NETLIST, TABLES, LOG, ROOTS, NAMES, DISCOVERED, AFTER)
"""What ``-o`` keeps, as far as the run has made it."""
_STATIC = (
    "static tables: this OpenSM has no engine for adaptive routing and no manager of in-network reduction (SHARP), which "
    "NVIDIA's has"
)
_ONE_SUBNET = "collectives are not priced: the fabric has several subnets, and tables of one are known"


@dataclass(frozen=True, slots=True)
class LabIbOptions:
    """How to route.

    ``fabric`` is the name of one, None the first InfiniBand one; ``plane`` counts its separate subnets from 1. ``give_roots``
    tells OpenSM which switches are the roots. ``timeout_s`` is what one sweep of OpenSM may take. ``cuts`` are pulled while it
    runs; ``discover`` compares what ibnetdiscover sees with the design.
    """

    engine: str = "ftree"
    fabric: str | None = None
    plane: int = 1
    give_roots: bool = False
    timeout_s: float = DEFAULT_TIMEOUT_S
    cuts: Cuts = field(default_factory=Cuts)
    discover: bool = True


@dataclass(frozen=True, slots=True)
class LabIbResult:
    """What OpenSM made of one plane; the field names are those of the JSON output.

    ``wiring`` is None where nothing was discovered, ``reroute`` where nothing was cut.
    """

    cluster: str
    fabric: str
    plane: int
    planes: int
    engine_asked: str
    engine_used: str
    opensm_version: str
    run_s: float
    switches: int
    end_ports: int
    links: int
    tables: TableBalance
    wiring: DiscoveredWiring | None
    reroute: Reroute | None
    findings: tuple[Finding, ...]
    assumptions: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain JSON values."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class _Subnet:
    """One subnet of a wired cluster."""

    cluster: Cluster
    parts: PartSet
    spec: ClusterSpec
    fabric: int
    planes: int
    links: NDArray[np.int64]
    laid: LaidSubnet


@dataclass(frozen=True, slots=True)
class _Ran:
    """What the real programs gave."""

    run: OpensmRun
    wiring: DiscoveredWiring | None
    reroute: Reroute | None
    findings: tuple[Finding, ...]


def lab_ib(spec: ClusterSpec, options: LabIbOptions, output: Path | None = None) -> LabIbResult:
    """Wire the cluster, let OpenSM route one plane of it on ibsim, and follow its tables.

    Parameters
    ----------
    spec
    options
    output
        Folder for the files of ``KEPT``; None to keep nothing.

    Raises
    ------
    InputError
        If something asked for does not exist, or a program is missing, fails or takes too long.
    UnbuildableError
        If the cluster can't be built.
    """
    check_engine(options.engine)
    subnet = _subnet(spec, options)
    cuts, notes = with_described(options.cuts, spec.faults)
    cut = cut_links(subnet.cluster, subnet.links, cuts, subnet.parts)
    with scratch_folder() as folder:
        ran = _run(subnet, options, cut, folder)
        if output is not None:
            with folder_beside(output) as beside:
                for name in KEPT:
                    if (folder / name).is_file():
                        shutil.copyfile(folder / name, beside / name)
    run = ran.run
    balance = _balance(subnet.cluster, run.tables, subnet.links, subnet.parts)
    laid = subnet.laid.subnet
    several = (_ONE_SUBNET,) if len(cut) and subnet.planes > 1 else ()
    after = ran.reroute
    return LabIbResult(
        cluster=subnet.cluster.name,
        fabric=subnet.cluster.fabrics[subnet.fabric].name,
        plane=options.plane,
        planes=subnet.planes,
        engine_asked=options.engine,
        engine_used=run.log.engine,
        opensm_version=run.log.version,
        run_s=run.run_s,
        switches=int(laid.is_switch.sum()),
        end_ports=len(laid) - int(laid.is_switch.sum()),
        links=len(subnet.links),
        tables=balance,
        wiring=ran.wiring,
        reroute=after,
        findings=(*routing_findings(options.engine, run, balance), *ran.findings),
        assumptions=(_STATIC, *notes, *several),
    )


def _subnet(spec: ClusterSpec, options: LabIbOptions) -> _Subnet:
    catalog = catalog_for(spec)
    cluster, parts = build_cluster(spec, catalog), resolve_parts(spec, catalog)
    fabric = infiniband_fabric(cluster, options.fabric)
    subnets = separate_subnets(cluster, fabric)
    if not 1 <= options.plane <= len(subnets):
        raise InputError(
            f"--plane: {options.plane} is not there; fabric {printable(cluster.fabrics[fabric].name)} has subnets "
            f"1 to {len(subnets)}"
        )
    links = subnets[options.plane - 1]
    return _Subnet(cluster, parts, spec, fabric, len(subnets), links, lay_subnet(cluster, links, parts))


def _run(subnet: _Subnet, options: LabIbOptions, cut: NDArray[np.int64], folder: Path) -> _Ran:
    place = subnet.fabric, options.plane
    roots, names = write_maps((subnet.cluster, subnet.parts), subnet.spec, place, folder)
    with (
        ibsim_running(subnet.laid.subnet, folder) as simulator,
        opensm_running(
            simulator, options.engine, roots if options.give_roots else None, options.timeout_s
        ) as manager,
    ):
        manager.wait()
        wiring: DiscoveredWiring | None = None
        findings: tuple[Finding, ...] = ()
        if options.discover:
            with discovering(simulator, names) as discovery:
                run = manager.result()
                text = name_adapters(discovery.text(options.timeout_s), names.read_text(encoding="utf-8"))
            wiring, findings = compare_discovered(subnet.cluster, subnet.parts, subnet.links, text)
        else:
            run = manager.result()
        if not len(cut):
            return _Ran(run, wiring, None, findings)
        reroute, broken = _reroute(subnet, options, cut, manager, folder)
    return _Ran(run, wiring, reroute, (*findings, *broken))


def _reroute(
    subnet: _Subnet, options: LabIbOptions, cut: NDArray[np.int64], manager: OpensmSession, folder: Path
) -> tuple[Reroute, tuple[Finding, ...]]:
    """Pull the cables; the dump of before stays where it was, that of after lies beside it."""
    before = folder / "before.dump"
    shutil.copyfile(folder / TABLES, before)
    manager.cut(subnet_rows(subnet.links, cut))
    run = manager.result()
    after = folder / AFTER
    shutil.move(folder / TABLES, after)
    before.rename(folder / TABLES)
    kept = np.ones(len(subnet.cluster.links), np.bool_)
    kept[cut] = False
    broken = without_links(subnet.cluster, kept)
    rows = np.cumsum(kept)[subnet.links[kept[subnet.links]]] - 1
    balance = _balance(broken, run.tables, rows, subnet.parts)
    ends = int((~subnet.laid.subnet.is_switch).sum())
    priced: tuple[PricedBeforeAfter, ...] = ()
    if subnet.planes == 1:
        name = subnet.cluster.fabrics[subnet.fabric].name
        priced = price_before_after((subnet.cluster, folder / TABLES), (broken, after), subnet.parts, name)
    reached = len(run.tables.end_port_lids)
    return Reroute(
        links_cut=len(cut),
        cut=cut_names(subnet.cluster, cut, subnet.parts),
        engine_used=run.log.engine,
        run_s=run.run_s,
        switches=len(run.tables.switch_names),
        end_ports=reached,
        end_ports_cut_off=ends - reached,
        tables=balance,
        collectives=priced,
    ), tuple(routing_findings(options.engine, run, balance, " after the cut"))


def infiniband_fabric(cluster: Cluster, name: str | None) -> int:
    """Return the index of the fabric of that name, or of the first InfiniBand one.

    Raises
    ------
    InputError
        If there is none, or it is not InfiniBand.
    """
    names = [fabric.name for fabric in cluster.fabrics]
    if name is not None and name not in names:
        raise InputError(
            f'fabric "{printable(name)}" is not in the cluster; it has {", ".join(names)}.{did_you_mean(name, names)}'
        )
    fine = [index for index, fabric in enumerate(cluster.fabrics) if fabric.network == "infiniband"]
    wanted = names.index(name) if name is not None else (fine[0] if fine else 0)
    if wanted not in fine:
        raise InputError(
            f"fabric {printable(names[wanted])}: OpenSM routes InfiniBand ({printable(cluster.fabrics[wanted].network)} found); "
            "set network: infiniband, or choose another fabric with --fabric"
        )
    return wanted


def _balance(
    cluster: Cluster, tables: ForwardingTables, links: NDArray[np.int64], parts: PartSet
) -> TableBalance:
    bound = bind_tables(cluster, [tables], parts)
    graph = build_fabric_graph(cluster, np.zeros((len(cluster.links), 2)))
    if why_no_tiers(cluster):
        return table_balance(cluster, bound, links, None, graph)
    tiers = index_tiers(cluster, graph)

    def static(edges: PortEdges) -> LinkLoads:
        return ROUTING["static"](cluster, graph, tiers, edges, 0)

    return table_balance(cluster, bound, links, static, graph)
