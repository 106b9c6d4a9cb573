"""A description and what the command line adds to it → predicted collectives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from gpufabric.collectives.rank_order import ORDERS
from gpufabric.errors import InputError
from gpufabric.jobs.collective import CollectiveOptions, predict_collective
from gpufabric.jobs.load_parts import catalog_for
from gpufabric.jobs.racked_cluster import racked_cluster
from gpufabric.jobs.unused_keys import PREDICT, unused_keys
from gpufabric.records.cluster_spec import ClusterSpec
from gpufabric.records.results import CollectiveResult


@dataclass(frozen=True, slots=True)
class RankChoice:
    """Order, seed and number of ranks (None: all GPUs), and what of the description was not acted on."""

    order: str
    seed: int
    ranks: int | None
    notes: tuple[str, ...]


def choose_ranks(spec: ClusterSpec, order: str | None, seed: int | None, ranks: int | None) -> RankChoice:
    """Return the choice: what is given here stands, the description fills the rest.

    Raises
    ------
    InputError
        If the order is to come from a file, which is not read yet.
    """
    said = spec.rank_order
    chosen = said.order if order is None else order
    if order is None and chosen not in ORDERS:
        raise InputError(
            f"rank_order.order: {chosen} is not read yet; allowed here: {', '.join(ORDERS)}; choose one with --order"
        )
    return RankChoice(
        chosen,
        said.seed if seed is None else seed,
        said.ranks if ranks is None else ranks,
        unused_keys(spec, PREDICT),
    )


def predict_described(
    spec: ClusterSpec, op: str, sizes: Sequence[int], options: CollectiveOptions
) -> list[CollectiveResult]:
    """Wire the cluster that *spec* describes and return what :func:`predict_collective` says of it.

    Raises
    ------
    InputError, PartError, UnbuildableError
        If the cluster can't be built or the collective can't be predicted.
    """
    racked = racked_cluster(spec, catalog_for(spec))
    hash_seeds = {fabric.name: fabric.ecmp.seed for fabric in spec.fabrics}
    chosen = replace(options, hash_seed=hash_seeds.get(options.fabric or spec.fabrics[0].name, 0))
    found = predict_collective(racked.cluster, racked.parts, op, sizes, chosen)
    return [replace(result, assumptions=(*racked.assumptions, *result.assumptions)) for result in found]
