"""A job whose messages are hashed → its algorithms priced with other numbers of queue pairs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from gpufabric.collectives.job_wiring import JobWiring
from gpufabric.jobs.lay_wiring import Wiring
from gpufabric.jobs.price_menu import RouteChoice, price_menu
from gpufabric.records.collective import Collective
from gpufabric.records.flow_hashing import FlowHashing
from gpufabric.records.priced_algorithm import PricedAlgorithm

#: Numbers that are tried; what many more cost a NIC is not modelled.
QUEUE_PAIRS = (8, 2, 4, 16)
# Beyond these the search would take longer than the prediction itself.
_MOST_MESSAGES, _MOST_RANKS = 1 << 23, 1 << 15
_EXCHANGES = ("all_to_all", "all_to_all_v")
_GAIN = 1.01

Priced = dict[str, PricedAlgorithm]


def search_queue_pairs(
    wiring: Wiring, job: JobWiring, collective: Collective, as_set: Priced, choice: RouteChoice
) -> tuple[dict[int, Priced], tuple[str, ...]]:
    """Return the priced algorithms by queue pairs of a connection, and what to say of numbers that were not tried.

    Parameters
    ----------
    wiring : Wiring
        With the hashing as it is set.
    job, collective
    as_set : dict from algorithm to PricedAlgorithm
        As priced with that hashing.
    choice : RouteChoice

    Returns
    -------
    dict from queue pairs to priced algorithms
        Empty where their number changes nothing.
    notes : tuple of str
    """
    if choice.routing != "ecmp" or wiring.tables is not None or len(job.nodes) < 2:
        return {}, ()
    ranks = len(job.gpu)
    messages = ranks * ranks if collective.op in _EXCHANGES else ranks
    left_out, found = [], {}
    for pairs in QUEUE_PAIRS:
        if pairs == wiring.hashing.queue_pairs:
            continue
        if messages * pairs > _MOST_MESSAGES or ranks > _MOST_RANKS:
            left_out.append(pairs)
            continue
        hashed = replace(wiring, hashing=FlowHashing(pairs, wiring.hashing.polarised))
        priced, _ = price_menu(hashed, job, collective, as_set, choice)
        if pairs == QUEUE_PAIRS[0] and not _gains(as_set, priced.values()):
            return {}, ()
        found[pairs] = priced
    if not left_out:
        return found, ()
    tried = ", ".join(str(pairs) for pairs in sorted(left_out))
    return found, (f"attainable: {tried} queue pairs a connection are not tried for so large a job",)


def _gains(as_set: Priced, priced: Iterable[PricedAlgorithm]) -> bool:
    """Tell whether any algorithm's links between nodes get more out of other queue pairs."""
    return any(
        one.fabric_bytes_per_s > _GAIN * as_set[one.algorithm].fabric_bytes_per_s
        for one in priced
        if one.algorithm in as_set
    )
