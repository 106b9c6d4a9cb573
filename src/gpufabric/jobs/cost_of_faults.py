"""A design and the wiring that was found → what the faults cost until they are mended."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from gpufabric.errors import GpufabricError
from gpufabric.graphs.bisection import bisection_bytes_per_s, least_cut_found
from gpufabric.graphs.fabric_links import fabric_links
from gpufabric.jobs.choose_ranks import choose_ranks
from gpufabric.jobs.collective import CollectiveOptions, predict_collective
from gpufabric.jobs.described_collective import with_description
from gpufabric.jobs.found_wiring import servers_cut_off, without_gpus_of
from gpufabric.jobs.unused_keys import CHECK
from gpufabric.records.as_built import FaultCost
from gpufabric.records.calibration import Calibration
from gpufabric.records.cluster import Cluster
from gpufabric.records.cluster_spec import ClusterSpec
from gpufabric.records.part_set import PartSet
from gpufabric.records.tiers import link_fabrics

OP, SIZE_BYTES = "all_reduce", 1 << 33


_NO_GPUS = "no GPUs in the design: a description beside it gives all_reduce"
_NO_RATES = "no rates in the design: bisection is not known"
_NO_LOSS = "no loss: for one job the links that are left have room, at more hops"
_NOTICED = 5e-4


@dataclass(frozen=True, slots=True)
class CostedDesign:
    """A design that costs can be predicted on: its cluster, parts and description.

    Without parts and description only cuts are known. Where the design is a cabling file laid over a described cluster,
    ``device`` and ``port`` are those of the cluster for each of the file; None: the cluster is the design.
    """

    cluster: Cluster
    parts: PartSet | None
    spec: ClusterSpec | None
    device: NDArray[np.int64] | None = None
    port: NDArray[np.int64] | None = None


def cost_of_faults(
    design: CostedDesign, built: Cluster, calibration: Calibration | None = None
) -> tuple[FaultCost, ...]:
    """Return what each fabric with other links than designed loses.

    Parameters
    ----------
    design
    built
        From :func:`gpufabric.jobs.found_wiring.found_wiring`.
    calibration
        None: the shipped one.
    """
    changed = _changed_fabrics(design.cluster, built)
    first = next(iter(design.cluster.fabrics)).name if design.cluster.fabrics else ""
    return tuple(
        _cost(design, built, fabric, calibration, design.cluster.fabrics[fabric].name == first)
        for fabric in changed
    )


def _changed_fabrics(design: Cluster, built: Cluster) -> list[int]:
    sets = []
    for cluster in (design, built):
        links = cluster.links
        rows = zip(
            links.port_a.tolist(),
            links.port_b.tolist(),
            np.nan_to_num(links.bytes_per_s, nan=-1.0).tolist(),
            link_fabrics(cluster).tolist(),
            strict=True,
        )
        sets.append(set(rows))
    return sorted({row[3] for row in sets[0] ^ sets[1] if row[3] >= 0})


def _cost(
    design: CostedDesign, built: Cluster, fabric: int, calibration: Calibration | None, priced: bool
) -> FaultCost:
    whole = design.cluster
    gone = servers_cut_off(built, fabric)
    left_whole, left_built = (without_gpus_of(cluster, gone) for cluster in (whole, built))
    notes = []
    busbw: list[float | None] = [None, None]
    if design.spec is None:
        notes.append(_NO_GPUS)
    elif priced and len(left_built.gpus):
        try:
            busbw = [_busbw(design, cluster, calibration) for cluster in (left_whole, left_built)]
        except GpufabricError as error:
            notes.append(str(error))
    elif not priced:
        notes.append("jobs run over the first fabric")
    told = not np.isnan(whole.links.bytes_per_s[link_fabrics(whole) == fabric]).any()
    planned, cut, is_least = None, None, True
    if told:
        planned = bisection_bytes_per_s(whole, fabric)
        cut, is_least = least_cut_found(fabric_links(left_built, fabric))
    else:
        notes.append(_NO_RATES)
    if not len(gone) and _same((planned, cut)) and (design.spec is None or _same((busbw[0], busbw[1]))):
        notes.append(_NO_LOSS)
    return FaultCost(
        fabric=whole.fabrics[fabric].name,
        bisection_designed_bytes_per_s=planned,
        bisection_found_bytes_per_s=cut,
        bisection_found_is_bound=cut is not None and not is_least,
        op=OP,
        size_bytes=SIZE_BYTES,
        gpus=len(left_built.gpus) if design.spec is not None else 0,
        servers_cut_off=len(gone),
        busbw_designed_bytes_per_s=busbw[0],
        busbw_found_bytes_per_s=busbw[1],
        note="; ".join(notes),
    )


def _same(pair: tuple[float | None, float | None]) -> bool:
    """Say whether both figures are known and differ by less than what is shown."""
    designed, found = pair
    return designed is not None and found is not None and abs(found - designed) <= _NOTICED * designed


def _busbw(design: CostedDesign, cluster: Cluster, calibration: Calibration | None) -> float | None:
    if design.spec is None or design.parts is None:
        return None
    choice = choose_ranks(design.spec, use=CHECK)
    options = with_description(
        design.spec,
        CollectiveOptions(
            order=choice.order,
            seed=choice.seed,
            calibration=calibration,
            placement=choice.placement if choice.places is None else "packed",
        ),
    )
    options = replace(options, ranks=None)
    (result, *_) = predict_collective(cluster, design.parts, OP, [SIZE_BYTES], options)
    busbw = float(result.busbw_bytes_per_s)
    return busbw if np.isfinite(busbw) else None
