"""Links → what is bought to make them: assemblies, and one transceiver a cage."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from gpufabric.records.cluster import UNKNOWN, Assemblies, Cluster, Modules
from gpufabric.records.cluster_spec import CableChoice, Cables, ClusterSpec
from gpufabric.records.link_kinds import link_kinds
from gpufabric.records.part_set import PartSet
from gpufabric.topologies.cable_parts import CableRun, CageEnd, LinkNeed, choose_cable
from gpufabric.topologies.resolve_parts import PartSource


def assign_assemblies(cluster: Cluster, spec: ClusterSpec, parts: PartSet, catalog: PartSource) -> Cluster:
    """Return *cluster* with an assembly for every link and the transceivers that the assemblies need.

    Links of the same kind, cages and rate are cabled alike. A link for which the catalogue has no fitting cable gets an assembly
    whose part is unknown.

    Raises
    ------
    SpecError, UnbuildableError
        If the description asks for a cable that does not exist or does not fit.
    """
    kinds, names = link_kinds(cluster)
    connectors, code = _connectors(cluster, parts)
    ports, links = cluster.ports, cluster.links
    lower, upper = links.port_a, links.port_b
    rates, rate_code = np.unique(links.bytes_per_s, return_inverse=True)
    profile = np.stack(
        [
            ports.fabric[lower],
            kinds,
            rate_code,
            code[lower],
            ports.lanes_in_cage[lower],
            code[upper],
            ports.lanes_in_cage[upper],
        ]
    ).astype(np.int64)
    draft = _CablingDraft(cluster)
    packed = (
        np.ravel_multi_index(tuple(profile + 1), tuple(profile.max(axis=1) + 2))
        if len(links)
        else np.empty(0, np.int64)
    )
    for value in np.unique(packed):
        rows = np.flatnonzero(packed == value)
        fabric, kind, rate, *ends = profile[:, rows[0]]
        need = LinkNeed(
            CageEnd(connectors[ends[0]], int(ends[1])),
            CageEnd(connectors[ends[2]], int(ends[3])),
            float(rates[rate]),
            cluster.fabrics[fabric].network,
            _ends_match(draft.lower_cage[rows], draft.upper_cage[rows], int(ends[1])),
            int(ends[1]) == 1,
        )
        fabric_spec = spec.fabrics[fabric]
        choice = names[kind] if names[kind] in Cables.model_fields else "other"
        wish: CableChoice = getattr(fabric_spec.cables, choice)
        run = choose_cable(need, wish, catalog, f'fabric "{fabric_spec.name}", cables.{choice}')
        draft.add(rows, run, wish.length)
    return draft.finish()


def _connectors(cluster: Cluster, parts: PartSet) -> tuple[list[str], NDArray[np.int64]]:
    """Return connector names and, for each port, the index of its cage's connector (0: not known)."""
    names = [""]
    ports = cluster.ports
    part = cluster.devices.part[ports.device]
    table = np.zeros((len(cluster.parts) + 1, int(ports.cage.max(initial=0)) + 1), np.int64)

    def number(connector: str | None) -> int:
        if connector and connector not in names:
            names.append(connector)
        return names.index(connector) if connector else 0

    for index, part_id in enumerate(cluster.parts):
        if part_id in parts.switches:
            groups = [g for g in parts.switches[part_id].cages if g.purpose == "fabric"]
            table[index, :] = number(groups[0].connector)
        for cage in parts.servers[part_id].cages if part_id in parts.servers else ():
            table[index, cage.first : cage.first + cage.count] = number(cage.connector)
    return names, table[part, ports.cage]


def _ends_match(lower: NDArray[np.int64], upper: NDArray[np.int64], per_cage: int) -> bool:
    """Whether the links of each lower cage all end in one upper cage, and the other way round."""
    pairs = np.unique(np.stack([lower, upper]), axis=1)
    one_to_one = len(np.unique(pairs[0])) == len(np.unique(pairs[1])) == pairs.shape[1]
    return per_cage == 1 or one_to_one


class _CablingDraft:
    """Assemblies and modules while they are being assigned."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        ports, links = cluster.ports, cluster.links
        self._cages = int(ports.cage.max(initial=0)) + 1
        cage = ports.device.astype(np.int64) * self._cages + ports.cage
        self.lower_cage = cage[links.port_a]
        self.upper_cage = cage[links.port_b]
        self._assembly = np.full(len(links), UNKNOWN, np.int64)
        self._parts = dict.fromkeys(cluster.parts)
        self._rows: list[tuple[int, int, float]] = []
        self._modules: list[tuple[NDArray[np.int64], int]] = []
        self._count = 0

    def _part(self, part_id: str | None) -> int:
        if part_id is None:
            return UNKNOWN
        self._parts.setdefault(part_id)
        return list(self._parts).index(part_id)

    def add(self, rows: NDArray[np.intp], run: CableRun | None, length_m: float | None) -> None:
        """Cable the links *rows* alike."""
        cages = {"cage-pair": self.lower_cage, "upper-cage": self.upper_cage}.get(
            run.together if run else "one"
        )
        group = np.arange(len(rows)) if cages is None else np.unique(cages[rows], return_inverse=True)[1]
        count = int(group.max(initial=-1)) + 1
        self._assembly[rows] = self._count + group
        self._count += count
        self._rows.append(
            (count, self._part(run.cable if run else None), np.nan if length_m is None else length_m)
        )
        if run and run.lower_transceiver and run.upper_transceiver:
            self._modules.append((np.unique(self.lower_cage[rows]), self._part(run.lower_transceiver)))
            self._modules.append((np.unique(self.upper_cage[rows]), self._part(run.upper_transceiver)))

    def finish(self) -> Cluster:
        """Return the cluster with its assemblies and modules."""
        cages = np.concatenate([c for c, _ in self._modules]) if self._modules else np.empty(0, np.int64)
        module_part = (
            np.concatenate([np.full(len(c), p) for c, p in self._modules]) if self._modules else np.empty(0)
        )
        cages, first = np.unique(cages, return_index=True)
        counts = [count for count, _, _ in self._rows]
        return replace(
            self._cluster,
            parts=tuple(self._parts),
            links=replace(self._cluster.links, assembly=self._assembly.astype(np.int32)),
            assemblies=Assemblies(
                np.repeat([part for _, part, _ in self._rows], counts).astype(np.int32),
                np.repeat([length for _, _, length in self._rows], counts).astype(np.float64),
            ),
            modules=Modules(
                (cages // self._cages).astype(np.int32),
                (cages % self._cages).astype(np.int16),
                module_part[first].astype(np.int32),
            ),
        )
