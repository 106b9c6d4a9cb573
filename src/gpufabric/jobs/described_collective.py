"""A description and what the command line adds to it → predicted collectives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from gpufabric.jobs.collective import CollectiveOptions, predict_collective
from gpufabric.jobs.load_parts import catalog_for
from gpufabric.jobs.predict_with_faults import predict_with_faults
from gpufabric.jobs.racked_cluster import RackedCluster, racked_cluster
from gpufabric.records.cluster_spec import ClusterSpec
from gpufabric.records.results import CollectiveResult


def predict_described(
    spec: ClusterSpec,
    op: str,
    sizes: Sequence[int],
    options: CollectiveOptions,
    racked: RackedCluster | None = None,
) -> list[CollectiveResult]:
    """Wire the cluster that *spec* describes, with its faults, and return what :func:`predict_collective` says of it.

    *racked* is that cluster where it is wired already, without its faults.

    Raises
    ------
    InputError, PartError, UnbuildableError
        If the cluster can't be built or the collective can't be predicted.
    """
    racked = racked or racked_cluster(spec, catalog_for(spec))
    chosen = with_description(spec, options)
    wired = racked.cluster, racked.parts
    found = (
        predict_with_faults(wired, spec.faults, op, sizes, chosen)
        if spec.faults
        else predict_collective(*wired, op, sizes, chosen)
    )
    return [replace(result, assumptions=(*racked.assumptions, *result.assumptions)) for result in found]


def with_description(spec: ClusterSpec, options: CollectiveOptions) -> CollectiveOptions:
    """Return *options* with what the description says of the library and of the fabric that carries the collective."""
    fabrics = {fabric.name: fabric for fabric in spec.fabrics}
    fabric = fabrics.get(options.fabric or "", spec.fabrics[0])
    return replace(
        options,
        hash_seed=fabric.ecmp.seed,
        queue_pairs=fabric.ecmp.queue_pairs,
        polarised=fabric.ecmp.polarised,
        in_network=fabric.in_network_reduction,
        library=options.library or spec.library,
    )
