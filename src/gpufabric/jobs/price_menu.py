"""A job and a menu of algorithms → each of them priced on the wiring."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from gpufabric.collectives.job_wiring import JobWiring
from gpufabric.errors import UnbuildableError
from gpufabric.jobs.edge_loads import find_routes
from gpufabric.jobs.lay_wiring import Wiring
from gpufabric.jobs.price_algorithm import price_routed
from gpufabric.jobs.refuse_long_routing import refuse_long_routing
from gpufabric.records.collective import Collective
from gpufabric.records.priced_algorithm import PricedAlgorithm


@dataclass(frozen=True, slots=True)
class RouteChoice:
    """Routing policy, seed of its hashes, and simulator."""

    routing: str
    seed: int
    simulator: str


def price_menu(
    wiring: Wiring, job: JobWiring, collective: Collective, algorithms: Iterable[str], choice: RouteChoice
) -> tuple[dict[str, PricedAlgorithm], dict[str, UnbuildableError]]:
    """Return the priced algorithms, and why the others can't run on this wiring.

    Raises
    ------
    InputError
        If an algorithm, the routing or the simulator is unknown, or the routing would take minutes.
    """
    priced, refused = {}, {}
    algorithms = tuple(algorithms)
    refuse_long_routing(wiring, job, collective.op, len(algorithms), choice.routing)
    routes = find_routes(wiring, job, choice.routing, choice.seed)
    for algorithm in algorithms:
        try:
            priced[algorithm] = price_routed(routes, collective, algorithm, choice.simulator)
        except UnbuildableError as error:
            refused[algorithm] = error
    return priced, refused
