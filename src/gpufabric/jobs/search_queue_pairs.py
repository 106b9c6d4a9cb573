"""A job whose messages are hashed → its algorithms priced with the numbers of queue pairs that serve them best."""

from __future__ import annotations

from dataclasses import dataclass, replace

from gpufabric.collectives.job_wiring import JobWiring
from gpufabric.jobs.even_spread_bound import even_spread_bound
from gpufabric.jobs.lay_wiring import Wiring
from gpufabric.jobs.price_menu import RouteChoice, price_menu
from gpufabric.records.collective import Collective
from gpufabric.records.flow_hashing import FlowHashing
from gpufabric.records.library_model import LibraryModel
from gpufabric.records.priced_algorithm import PricedAlgorithm

# Beyond these the search would take longer than the prediction itself.
_MOST_MESSAGES, _MOST_EXCHANGED, _MOST_POLARISED = 1 << 18, 1 << 21, 1 << 23
_EXCHANGES = ("all_to_all", "all_to_all_v")
#: What is left to gain below this is not looked for.
_GAIN = 1.005
# Where the limit inside nodes is this much lower, that between them does not count any more, whatever shares a class reaches.
_INSIDE_COUNTS = 2.0

Priced = dict[str, PricedAlgorithm]


@dataclass(frozen=True, slots=True)
class PairsToTry:
    """Numbers of queue pairs that a setting may have, the largest ``most``; what so many cost a NIC is not modelled."""

    counts: tuple[int, ...]
    most: int


def pairs_to_try(model: LibraryModel) -> PairsToTry:
    """Return the powers of two that the library's setting allows, and the most; only one pair where it has no such setting."""
    rule = next((rule for rule in model.settings if rule.acts == "queue-pairs"), None)
    most = 1 if rule is None else rule.most
    return PairsToTry(tuple(1 << power for power in range(most.bit_length())), most)


def search_queue_pairs(
    wiring: Wiring,
    job: JobWiring,
    collective: Collective,
    as_set: Priced,
    choice: RouteChoice,
    tried: PairsToTry,
) -> tuple[dict[int, Priced], tuple[str, ...]]:
    """Return for each algorithm the number of queue pairs of a connection that serves it best, and its price with them.

    Numbers are tried upwards, and only for algorithms that even spreading would serve better than what was found so far. Where
    there are too many messages to hash them all, the most queue pairs stand with the rates of even spreading, which no number
    exceeds.

    Parameters
    ----------
    wiring : Wiring
        With the hashing as it is set.
    job, collective
    as_set : dict from algorithm to PricedAlgorithm
        As priced with that hashing.
    choice : RouteChoice
    tried : PairsToTry

    Returns
    -------
    dict from queue pairs to priced algorithms
        Each algorithm once at most; empty where their number changes nothing.
    notes : tuple of str
    """
    if choice.routing != "ecmp" or wiring.tables is not None or len(job.nodes) < 2:
        return {}, ()
    now = wiring.hashing.queue_pairs
    bound = {name: even_spread_bound(wiring, one) for name, one in as_set.items()}
    best = {name: (now, one) for name, one in as_set.items()}
    left = _worth(bound, best)
    untried = False
    for pairs in tried.counts:
        if not left or pairs == now:
            continue
        if _too_many(wiring, job, collective, pairs):
            untried = True
            break
        hashed = replace(wiring, hashing=FlowHashing(pairs, wiring.hashing.polarised))
        priced, _ = price_menu(hashed, job, collective, left, choice)
        for name, one in priced.items():
            if one.fabric_bytes_per_s > best[name][1].fabric_bytes_per_s:
                best[name] = pairs, one
        left = _worth(bound, best)
    if untried:
        best |= {name: (tried.most, bound[name]) for name in left}
    found: dict[int, Priced] = {}
    for name, (pairs, one) in best.items():
        if pairs != now:
            found.setdefault(pairs, {})[name] = one
    note = "attainable is an upper bound: with so many messages, queue pairs are taken to spread them evenly"
    return found, (note,) if untried else ()


def _worth(bound: Priced, best: dict[str, tuple[int, PricedAlgorithm]]) -> list[str]:
    """Return the algorithms that even spreading would serve better than the best that was found."""
    return [
        name
        for name, (_, one) in best.items()
        if bound[name].fabric_bytes_per_s > _GAIN * one.fabric_bytes_per_s
        and one.fabric_bytes_per_s < _INSIDE_COUNTS * one.inside_bytes_per_s
    ]


def _too_many(wiring: Wiring, job: JobWiring, collective: Collective, pairs: int) -> bool:
    ranks = len(job.gpu)
    if collective.op not in _EXCHANGES:
        return ranks * pairs > _MOST_MESSAGES
    # Exchanges are dealt with by sums, unless equal hashes of all tiers ask for every message.
    if wiring.hashing.polarised:
        return ranks * ranks * pairs > _MOST_POLARISED
    return ranks * ranks > _MOST_EXCHANGED
