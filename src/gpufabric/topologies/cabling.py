"""Links → what is bought to make them: assemblies, one transceiver a cage, and the patch cords of trunks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpufabric.records.cluster import Cluster
from gpufabric.records.cluster_spec import CableChoice, Cables, ClusterSpec
from gpufabric.records.floor_plan import LinkLengths
from gpufabric.records.link_kinds import link_kinds
from gpufabric.records.part_set import PartSet
from gpufabric.records.port_cages import cage_connectors
from gpufabric.topologies.cable_parts import CableRun, CageEnd, LinkNeed, cable_runs
from gpufabric.topologies.cabling_draft import CablingDraft
from gpufabric.topologies.linked_cages import LinkedCages, linked_cages
from gpufabric.topologies.resolve_parts import PartSource


def assign_assemblies(
    cluster: Cluster,
    spec: ClusterSpec,
    parts: PartSet,
    catalog: PartSource,
    lengths: LinkLengths | None = None,
) -> Cluster:
    """Return *cluster* with an assembly for every link and the transceivers and patch cords that the assemblies need.

    Links of the same kind, cages and rate choose among the same cables. Without a wish in the description it is the cheapest that
    fits the cages and reaches; cages that share links are cabled alike, because a cage takes one plug or one transceiver. Where
    nothing reaches, it is what reaches furthest, for a rule to find. A link for which the catalogue has no fitting cable gets an
    assembly whose part is unknown.

    Parameters
    ----------
    cluster
        With links; what it says of assemblies and transceivers is replaced.
    spec
        ``cables`` of its fabrics are the wishes.
    parts
        Its servers and switches, for the connectors of their cages.
    catalog
        Cables and transceivers to choose from.
    lengths
        What each link needs. None: there is no floor plan, so fibre is preferred, which is never too short, and only lengths
        that the description gives are known.

    Raises
    ------
    SpecError, UnbuildableError
        If the description asks for a cable that does not exist or does not fit.
    """
    draft = CablingDraft(cluster, catalog, lengths)
    for rows, need, wish, where in _alike(cluster, spec, parts):
        needed = draft.needed_m[rows] if wish.length is None else np.full(len(rows), wish.length)
        # Trunk and patch cords are each rounded up to a full metre.
        reached = needed + (3.0 if wish.trunk_fibres else 0.0)
        cages = linked_cages(
            draft.lower_cage[rows], draft.upper_cage[rows], need.lower.ports, need.upper.ports
        )
        for paired in (True, False):
            mine = np.flatnonzero(cages.paired == paired)
            if not len(mine):
                continue
            runs = cable_runs(need.with_pairs(paired), wish, catalog, where)
            if not runs:
                draft.add_unknown(rows[mine], needed[mine])
                continue
            for run, chosen in _by_length(runs, cages.take(mine), reached[mine]):
                draft.add(rows[mine[chosen]], run, needed[mine[chosen]], wish)
    return draft.finish()


def _alike(
    cluster: Cluster, spec: ClusterSpec, parts: PartSet
) -> Iterator[tuple[NDArray[np.intp], LinkNeed, CableChoice, str]]:
    """Yield the links of each fabric, kind, rate and pair of cages, with what they need and what is wished for them."""
    kinds, names = link_kinds(cluster)
    ports, links = cluster.ports, cluster.links
    connectors, table = cage_connectors(cluster, parts)
    code = table[cluster.devices.part[ports.device], ports.cage]
    lower, upper = links.port_a, links.port_b
    rates, rate_code = np.unique(links.bytes_per_s, return_inverse=True)
    columns: list[NDArray[Any]] = [
        ports.fabric[lower],
        kinds,
        rate_code,
        code[lower],
        ports.lanes_in_cage[lower],
        code[upper],
        ports.lanes_in_cage[upper],
    ]
    profile = np.stack(columns).astype(np.int64)
    if not len(links):
        return
    packed = np.ravel_multi_index(tuple(profile + 1), tuple(profile.max(axis=1) + 2))
    for value in np.unique(packed):
        rows = np.flatnonzero(packed == value)
        fabric, kind, rate, *ends = profile[:, rows[0]].tolist()
        choice = names[kind] if names[kind] in Cables.model_fields else "other"
        fabric_spec = spec.fabrics[fabric]
        need = LinkNeed(
            CageEnd(connectors[ends[0]], ends[1]),
            CageEnd(connectors[ends[2]], ends[3]),
            float(rates[rate]),
            cluster.fabrics[fabric].network,
            pairs_cages=False,
            splits_upper=ends[1] == 1,
        )
        wish: CableChoice = getattr(fabric_spec.cables, choice)
        yield rows, need, wish, f'fabric "{fabric_spec.name}", cables.{choice}'


def _by_length(
    runs: list[CableRun], cages: LinkedCages, needed: NDArray[np.float64]
) -> Iterator[tuple[CableRun, NDArray[np.intp]]]:
    """Yield each run with the links that it is for: the first that reaches as far as the longest link of their cages."""
    choice = np.full(cages.count, _furthest(runs), np.int64)
    longest = cages.longest(needed)
    for index in reversed(range(len(runs))):
        choice[longest <= runs[index].reach_m] = index
    choice[np.isnan(longest)] = _safest(runs)
    of_link = choice[cages.group]
    for index, run in enumerate(runs):
        rows = np.flatnonzero(of_link == index)
        if len(rows):
            yield run, rows


def _furthest(runs: list[CableRun]) -> int:
    return max(range(len(runs)), key=lambda index: runs[index].reach_m)


def _safest(runs: list[CableRun]) -> int:
    """Return the run for an unknown length: fibre, because it can always be had longer."""
    fibre = [index for index, run in enumerate(runs) if run.technology == "fibre"]
    optical = [index for index, run in enumerate(runs) if run.technology == "aoc"]
    return next(iter([*fibre, *optical, len(runs) - 1]))
