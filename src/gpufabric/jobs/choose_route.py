"""The name of a routing policy → the function that routes on this wiring."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from gpufabric.errors import InputError, did_you_mean, printable
from gpufabric.formats import opensm_tables
from gpufabric.graphs.cluster_subnet import lay_subnet, separate_subnets
from gpufabric.lab.opensm_on_ibsim import ENGINES, run_opensm
from gpufabric.lab.scratch_folder import scratch_folder
from gpufabric.records.cluster import Cluster
from gpufabric.records.flow_hashing import PLAIN, FlowHashing
from gpufabric.records.flows import LinkLoads, PortEdges
from gpufabric.records.graph import Graph
from gpufabric.records.part_lookup import PartLookup
from gpufabric.routing import ROUTING, WITHOUT_TIERS, ecmp, shortest_paths
from gpufabric.routing.forwarding_tables import BoundTables, bind_tables, route_by_tables
from gpufabric.routing.tier_links import TierLinks

OPENSM = "opensm:"


def choose_route(
    cluster: Cluster,
    graph: Graph,
    tiers: TierLinks | None,
    tables: BoundTables | None,
    routing: str,
    hashing: FlowHashing = PLAIN,
) -> Callable[[PortEdges, int], LinkLoads]:
    """Return the function from edges and seed to loads.

    Where there are no tiers to go up and down, shortest paths stand for the policy: sprayed for adaptive, hashed for ecmp, hashed
    by target for static.

    Parameters
    ----------
    cluster, graph
    tiers
        None where up–down routing does not apply.
    tables
        What :func:`load_tables` returned.
    routing : str
        A key of ``ROUTING``, or ``opensm:`` and an engine or file.
    hashing : FlowHashing
        What ecmp does besides its seed.

    Raises
    ------
    InputError
        If the policy is unknown.
    """
    if tables is not None:
        by_tables = route_by_tables(tables)
        return lambda edges, seed: by_tables(cluster, graph, tiers, edges, seed)
    if routing not in ROUTING:
        raise InputError(
            f'routing "{printable(routing)}" is unknown; known: {", ".join(ROUTING)}, {OPENSM}ENGINE or {OPENSM}FILE.'
            f"{did_you_mean(routing, ROUTING)}"
        )
    if routing == "ecmp":
        if tiers is None:
            return lambda edges, seed: shortest_paths.route_hashed(cluster, graph, None, edges, seed, hashing)
        climbing = tiers
        return lambda edges, seed: ecmp.route_hashed(cluster, graph, climbing, edges, seed, hashing)
    if tiers is None:
        anywhere = WITHOUT_TIERS[routing]
        return lambda edges, seed: anywhere(cluster, graph, None, edges, seed)
    route, known = ROUTING[routing], tiers
    return lambda edges, seed: route(cluster, graph, known, edges, seed)


def load_tables(
    cluster: Cluster, parts: PartLookup, fabric: int, routing: str
) -> tuple[BoundTables | None, str]:
    """Return the tables that *routing* asks for, None for other policies, and its name with the engine really used.

    ``opensm:ftree`` runs OpenSM on every subnet of the fabric; ``opensm:FILE`` reads a dump.

    Raises
    ------
    InputError
        If OpenSM can't be run, the file can't be read, or it is of another cluster.
    """
    if not routing.startswith(OPENSM):
        return None, routing
    asked = routing.removeprefix(OPENSM)
    if asked not in ENGINES:
        return bind_tables(cluster, [opensm_tables.read(Path(asked))], parts), routing
    found, used = [], set()
    for links in separate_subnets(cluster, fabric):
        with scratch_folder() as folder:
            run = run_opensm(lay_subnet(cluster, links, parts), asked, folder)
        found.append(run.tables)
        used.add(run.log.engine)
    fell_back = sorted(used - {asked})
    name = f"{routing} (fell back to {', '.join(fell_back)})" if fell_back else routing
    return bind_tables(cluster, found, parts), name


def routing_name(tiers: TierLinks | None, name: str) -> str:
    """Return what a result calls the policy."""
    return f"{name} (shortest paths)" if tiers is None and name in WITHOUT_TIERS else name
