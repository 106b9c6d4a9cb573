"""Route a designed InfiniBand fabric by real OpenSM and say what its tables do: ``gpufabric lab ib``."""

from __future__ import annotations

import shutil
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpufabric.errors import InputError, did_you_mean, printable
from gpufabric.graphs.cluster_subnet import lay_subnet, separate_subnets
from gpufabric.graphs.fabric_level import build_fabric_graph
from gpufabric.jobs.load_parts import catalog_for
from gpufabric.jobs.table_balance import TableBalance, table_balance
from gpufabric.lab.opensm_on_ibsim import (
    DEFAULT_TIMEOUT_S,
    LOG,
    NETLIST,
    TABLES,
    OpensmRun,
    check_engine,
    run_opensm,
    scratch_folder,
)
from gpufabric.records.cluster import Cluster
from gpufabric.records.cluster_spec import ClusterSpec
from gpufabric.records.findings import Finding
from gpufabric.records.flows import LinkLoads, PortEdges
from gpufabric.report.write_files import folder_beside
from gpufabric.routing import ROUTING
from gpufabric.routing.forwarding_tables import bind_tables
from gpufabric.routing.tier_links import index_tiers, why_no_tiers
from gpufabric.topologies import build_cluster, resolve_parts

MANUAL = "OpenSM 3.3.23, manual page and doc/current-routing.txt"


@dataclass(frozen=True, slots=True)
class LabIbOptions:
    """How to route.

    ``fabric`` is the name of one, None the first InfiniBand one; ``plane`` counts its separate subnets from 1. ``give_roots``
    tells OpenSM which switches are the roots. ``timeout_s`` is what OpenSM may take.
    """

    engine: str = "ftree"
    fabric: str | None = None
    plane: int = 1
    give_roots: bool = False
    timeout_s: float = DEFAULT_TIMEOUT_S


@dataclass(frozen=True, slots=True)
class LabIbResult:
    """What OpenSM made of one plane; the field names are those of the JSON output."""

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
    findings: tuple[Finding, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain JSON values."""
        return asdict(self)


def lab_ib(spec: ClusterSpec, options: LabIbOptions, output: Path | None = None) -> LabIbResult:
    """Wire the cluster, let OpenSM route one plane of it on ibsim, and follow its tables.

    Parameters
    ----------
    spec
    options
    output
        Folder for the ibsim network file, the forwarding tables and OpenSM's log; None to keep nothing.

    Raises
    ------
    InputError
        If something asked for does not exist, or a program is missing, fails or takes too long.
    UnbuildableError
        If the cluster can't be built.
    """
    check_engine(options.engine)
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
    laid = lay_subnet(cluster, links, parts)
    with scratch_folder() as folder:
        run = run_opensm(laid, options.engine, folder, options.give_roots, options.timeout_s)
        if output is not None:
            with folder_beside(output) as beside:
                for name in (NETLIST, TABLES, LOG):
                    shutil.copyfile(folder / name, beside / name)
    balance = _balance(cluster, run, links, parts)
    return LabIbResult(
        cluster=cluster.name,
        fabric=cluster.fabrics[fabric].name,
        plane=options.plane,
        planes=len(subnets),
        engine_asked=options.engine,
        engine_used=run.log.engine,
        opensm_version=run.log.version,
        run_s=run.run_s,
        switches=int(laid.subnet.is_switch.sum()),
        end_ports=len(laid.subnet) - int(laid.subnet.is_switch.sum()),
        links=len(links),
        tables=balance,
        findings=tuple(_findings(options, run, balance)),
    )


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


def _balance(cluster: Cluster, run: OpensmRun, links: NDArray[np.int64], parts: Any) -> TableBalance:
    bound = bind_tables(cluster, [run.tables], parts)
    graph = build_fabric_graph(cluster, np.zeros((len(cluster.links), 2)))
    if why_no_tiers(cluster):
        return table_balance(cluster, bound, links, None, graph)
    tiers = index_tiers(cluster, graph)

    def static(edges: PortEdges) -> LinkLoads:
        return ROUTING["static"](cluster, graph, tiers, edges, 0)

    return table_balance(cluster, bound, links, static, graph)


def _findings(options: LabIbOptions, run: OpensmRun, balance: TableBalance) -> list[Finding]:
    found = []
    if run.log.engine != options.engine:
        complaints = [error.text for error in run.log.errors]
        why = f" ({complaints[0].split(': ', 2)[-1].rstrip(':')})" if complaints else ""
        found.append(
            Finding(
                "opensm-fell-back",
                "warning",
                "opensm",
                f"OpenSM did not route with {options.engine} but fell back to {run.log.engine}{why}",
                expected=options.engine,
                found=run.log.engine,
                evidence="; ".join(complaints[:3]),
                fix="make the tree pure (equally many links in every group of a tier), or name the roots with --roots",
                source=MANUAL,
            )
        )
    if balance.unreachable:
        found.append(
            Finding(
                "opensm-unreachable",
                "error",
                "forwarding tables",
                f"{balance.unreachable:,} of {balance.pairs:,} pairs of switch and end port have no way",
                expected="0",
                found=f"{balance.unreachable:,}",
                fix="choose another engine, or leave the roots out",
                source=MANUAL,
            )
        )
    if balance.longer:
        found.append(
            Finding(
                "opensm-longer-ways",
                "warning",
                "forwarding tables",
                f"{balance.longer:,} of {balance.pairs:,} pairs take more links than a shortest way",
                expected=f"at most {balance.most_shortest_hops} links between switches",
                found=f"{balance.most_hops}",
                fix="choose another engine, or name the roots with --roots",
                source=MANUAL,
            )
        )
    return found
