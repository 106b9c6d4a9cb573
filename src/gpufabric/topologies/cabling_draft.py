"""Assemblies, transceivers and patch cords while links are being cabled, and the cabled :class:`Cluster`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpufabric.kernels.distinct_values import distinct_values, number_values
from gpufabric.kernels.group_maximum import group_maximum
from gpufabric.kernels.stable_order import stable_order
from gpufabric.records.cluster import UNKNOWN, Assemblies, Cluster, Jumpers, Modules
from gpufabric.records.cluster_spec import CableChoice
from gpufabric.records.floor_plan import LinkLengths
from gpufabric.topologies.cable_parts import CableRun
from gpufabric.topologies.resolve_parts import PartSource
from gpufabric.topologies.trunk_parts import links_of_trunk, trunk_part


class CablingDraft:
    """What is bought, while it is being chosen."""

    def __init__(self, cluster: Cluster, catalog: PartSource, lengths: LinkLengths | None) -> None:
        self._cluster = cluster
        self._catalog = catalog
        self._lengths = lengths
        ports, links = cluster.ports, cluster.links
        self._cages = int(ports.cage.max(initial=0)) + 1
        cage = ports.device.astype(np.int64) * self._cages + ports.cage
        self.lower_cage = cage[links.port_a]
        self.upper_cage = cage[links.port_b]
        self.needed_m = np.full(len(links), np.nan) if lengths is None else lengths.total_m
        self._assembly = np.full(len(links), UNKNOWN, np.int64)
        self._parts = dict.fromkeys(cluster.parts)
        self._blocks: list[tuple[int, NDArray[np.float64]]] = []
        self._modules: list[tuple[NDArray[np.int64], int]] = []
        self._jumpers: list[tuple[NDArray[np.intp], int, NDArray[np.float64]]] = []
        self._count = 0

    def add_unknown(self, rows: NDArray[np.intp], needed_m: NDArray[np.float64]) -> None:
        """Give each of the links *rows* an assembly without a part."""
        self._add(rows, UNKNOWN, np.arange(len(rows)), on_sale((), needed_m))

    def add(
        self, rows: NDArray[np.intp], run: CableRun, needed_m: NDArray[np.float64], wish: CableChoice
    ) -> None:
        """Cable the links *rows* by *run*; a length that is wished is bought as it is, else the next one on sale."""
        if run.lower_transceiver and run.upper_transceiver:
            self._modules.append((distinct_values(self.lower_cage[rows]), self._part(run.lower_transceiver)))
            self._modules.append((distinct_values(self.upper_cage[rows]), self._part(run.upper_transceiver)))
        if wish.trunk_fibres is not None and run.technology == "fibre" and self._lengths is not None:
            between = np.isfinite(self._lengths.lower_m[rows])
            self._add_trunks(rows[between], run, wish.trunk_fibres, self._lengths)
            rows, needed_m = rows[~between], needed_m[~between]
        cages = {"cage-pair": self.lower_cage, "upper-cage": self.upper_cage}.get(run.together)
        group = np.arange(len(rows)) if cages is None else number_values(cages[rows])[1]
        bought = needed_m if wish.length is not None else on_sale(run.lengths_m, needed_m, run.reach_m)
        self._add(rows, self._part(run.cable), group, bought)

    def _add_trunks(self, rows: NDArray[np.intp], run: CableRun, fibres: int, lengths: LinkLengths) -> None:
        """Lead links over the patch panels of their racks: neighbours between the same two racks share a trunk."""
        rack = self._cluster.devices.rack
        ends = rack[self._cluster.link_device_a[rows]], rack[self._cluster.link_device_b[rows]]
        pair = np.minimum(*ends).astype(np.int64) << 32 | np.maximum(*ends)
        order = stable_order(pair)
        rows, pair = rows[order], pair[order]
        first = np.flatnonzero(np.diff(pair, prepend=-1))
        size = np.diff(np.append(first, len(pair)))
        in_pair = np.arange(len(pair)) - np.repeat(first, size)
        trunks = -(-size // links_of_trunk(fibres, run.fibre_connector))
        start = np.repeat(np.cumsum(trunks) - trunks, size)
        group = start + in_pair // links_of_trunk(fibres, run.fibre_connector)
        part = trunk_part(fibres, run.medium, run.fibre_connector, self._catalog.of_kind("cable"))
        between = (lengths.total_m - lengths.lower_m - lengths.upper_m)[rows]
        self._add(rows, self._part(part), group, on_sale((), between))
        cord = self._part(run.cable)
        for end in (lengths.lower_m, lengths.upper_m):
            self._jumpers.append((rows, cord, on_sale(run.lengths_m, end[rows])))

    def _part(self, part_id: str) -> int:
        self._parts.setdefault(part_id)
        return list(self._parts).index(part_id)

    def _add(
        self, rows: NDArray[np.intp], part: int, group: NDArray[np.integer], length_m: NDArray[np.float64]
    ) -> None:
        """Append assemblies: *group* numbers them, each is as long as its longest link."""
        count = int(group.max(initial=-1)) + 1
        self._assembly[rows] = self._count + group
        self._count += count
        self._blocks.append((part, group_maximum(length_m, group, count)))

    def finish(self) -> Cluster:
        """Return the cluster with its assemblies, modules and jumpers."""
        cages = _joined([cages for cages, _ in self._modules], np.int64)
        module_part = _joined([np.full(len(cages), part) for cages, part in self._modules], np.int64)
        cages, first = np.unique(cages, return_index=True)
        sizes = [len(lengths) for _, lengths in self._blocks]
        link = _joined([rows for rows, _, _ in self._jumpers], np.int32)
        order = np.argsort(link, kind="stable")
        return replace(
            self._cluster,
            parts=tuple(self._parts),
            links=replace(self._cluster.links, assembly=self._assembly.astype(np.int32)),
            assemblies=Assemblies(
                np.repeat([part for part, _ in self._blocks], sizes).astype(np.int32),
                _joined([lengths for _, lengths in self._blocks], np.float64),
            ),
            modules=Modules(
                (cages // self._cages).astype(np.int32),
                (cages % self._cages).astype(np.int16),
                module_part[first].astype(np.int32),
            ),
            jumpers=Jumpers(
                link[order],
                _joined([np.full(len(rows), part) for rows, part, _ in self._jumpers], np.int32)[order],
                _joined([lengths for _, _, lengths in self._jumpers], np.float64)[order],
            ),
        )


def on_sale(
    lengths_m: tuple[float, ...], needed_m: NDArray[np.float64], reach_m: float = math.inf
) -> NDArray[np.float64]:
    """Return the shortest length on sale that is long enough for each need; the next full metre where none is known or enough.

    A full metre that is more than *reach_m* is cut to it, where the need is not.

    Parameters
    ----------
    lengths_m
        Lengths on sale; empty when they are not known.
    needed_m : float64 array
        NaN stays NaN.
    reach_m : float
        The longest that works.
    """
    bought = np.ceil(needed_m - 1e-9)
    bought = np.where(needed_m <= reach_m, np.minimum(bought, reach_m), bought)
    if not lengths_m:
        return bought
    offered = np.sort(lengths_m)
    at = np.searchsorted(offered, needed_m - 1e-9)
    return np.where(at < len(offered), offered[np.minimum(at, len(offered) - 1)], bought)


def _joined(blocks: Sequence[NDArray[Any]], dtype: Any) -> NDArray[Any]:
    return np.concatenate(blocks).astype(dtype) if blocks else np.empty(0, dtype)
