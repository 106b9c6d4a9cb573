"""A wired cluster and what is broken on purpose → predicted collectives, each beside the one without faults."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from gpufabric.jobs.collective import CollectiveOptions, predict_collective
from gpufabric.jobs.faulty_cluster import apply_faults
from gpufabric.records.cluster import Cluster
from gpufabric.records.cluster_spec import Fault
from gpufabric.records.part_set import PartSet
from gpufabric.records.results import CollectiveResult

_ASSUMPTION = (
    "a new job on what the faults leave: a rail that one server has lost is lost to the rings and trees of the whole job, and "
    "sprayed traffic is spread evenly over the links left"
)


def predict_with_faults(
    wired: tuple[Cluster, PartSet],
    faults: Sequence[Fault],
    op: str,
    sizes: Sequence[int],
    options: CollectiveOptions,
) -> list[CollectiveResult]:
    """Return what :func:`gpufabric.jobs.collective.predict_collective` says of the cluster with its faults.

    Parameters
    ----------
    wired
        The cluster without faults, and its parts.
    faults
        As :func:`gpufabric.jobs.faulty_cluster.apply_faults` takes them.
    op, sizes, options
        As of any prediction.

    Returns
    -------
    list of CollectiveResult
        Each with the bus bandwidth of the same size and order without the faults.

    Raises
    ------
    InputError, PartError
        If something asked for does not exist or is out of range.
    UnbuildableError
        If a server is cut off, or nothing that the library may run has a way.
    """
    cluster, parts = wired
    broken, notes = apply_faults(cluster, faults, parts)
    found = predict_collective(broken, parts, op, sizes, options)
    healthy = predict_collective(cluster, parts, op, sizes, replace(options, compare_shuffled=False))
    if len(found) > len(sizes):
        # Shuffled ranks stand below those in fabric order, because with the faults they differ.
        shuffled = replace(options, order="shuffled", compare_shuffled=False)
        healthy += predict_collective(cluster, parts, op, sizes, shuffled)
    return [
        replace(
            result,
            healthy_busbw_bytes_per_s=whole.busbw_bytes_per_s,
            assumptions=(*notes, _ASSUMPTION, *result.assumptions),
        )
        for result, whole in zip(found, healthy, strict=True)
    ]
