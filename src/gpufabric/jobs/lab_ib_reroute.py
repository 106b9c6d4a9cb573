"""Cables that are pulled while OpenSM runs → what it makes of the rest, and what collectives cost before and after."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from gpufabric.errors import GpufabricError
from gpufabric.jobs.choose_route import OPENSM
from gpufabric.jobs.collective import CollectiveOptions, predict_collective
from gpufabric.jobs.table_balance import TableBalance
from gpufabric.records.cluster import Cluster
from gpufabric.records.part_set import PartSet

OPS = ("all_reduce", "all_to_all")
SIZE_BYTES = 1 << 30


@dataclass(frozen=True, slots=True)
class PricedBeforeAfter:
    """Bus bandwidth of one collective of all GPUs on the tables before and after; None where it has no way, with the reason."""

    op: str
    size_bytes: int
    before_busbw_bytes_per_s: float | None
    after_busbw_bytes_per_s: float | None
    note: str


@dataclass(frozen=True, slots=True)
class Reroute:
    """What OpenSM made of the fabric without some cables; ``end_ports_cut_off`` can't be reached at all."""

    links_cut: int
    cut: tuple[str, ...]
    engine_used: str
    run_s: float
    switches: int
    end_ports: int
    end_ports_cut_off: int
    tables: TableBalance
    collectives: tuple[PricedBeforeAfter, ...]


def subnet_rows(links: NDArray[np.int64], cut: NDArray[np.int64]) -> list[int]:
    """Return the rows of a subnet's links that are these links of the cluster."""
    rows: list[int] = np.searchsorted(links, cut).tolist()
    return rows


def price_before_after(
    before: tuple[Cluster, Path], after: tuple[Cluster, Path], parts: PartSet, fabric: str
) -> tuple[PricedBeforeAfter, ...]:
    """Predict collectives of all GPUs on the wiring and the tables of both.

    Parameters
    ----------
    before, after
        Cluster and dump of the tables.
    parts
    fabric
        Name of the fabric that carries them.
    """
    rows = []
    for op in OPS:
        (whole, why), (cut, why_cut) = (_busbw(*one, parts, fabric, op) for one in (before, after))
        note = f"before: {why}" if why else why_cut
        rows.append(PricedBeforeAfter(op, SIZE_BYTES, whole, cut, note))
    return tuple(rows)


def _busbw(cluster: Cluster, dump: Path, parts: PartSet, fabric: str, op: str) -> tuple[float | None, str]:
    options = CollectiveOptions(routing=f"{OPENSM}{dump}", fabric=fabric)
    try:
        found = predict_collective(cluster, parts, op, [SIZE_BYTES], options)
    except GpufabricError as error:
        return None, str(error)
    return found[0].busbw_bytes_per_s, ""
