"""Links → what is bought to make them: assemblies, one transceiver a cage, and the patch cords of trunks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpufabric.kernels.distinct_values import distinct_values, number_values
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


@dataclass(frozen=True, slots=True)
class CabledAlike:
    """What the cages that a link shares with others must be cabled for. L rows.

    Attributes
    ----------
    longest_m : float64
        How far the longest of these links must reach; NaN where that is unknown.
    paired : bool
        Whether they all join the same two cages.
    """

    longest_m: NDArray[np.float64]
    paired: NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class LinksAlike:
    """The links of one fabric, kind, rate and pair of cages.

    Attributes
    ----------
    rows : int64 array
        Rows of ``Cluster.links``.
    need : LinkNeed
    wish : CableChoice
        What the description wants for them.
    where : str
        The place of the wish in the description.
    cages : LinkedCages
        Their groups that must be cabled alike.
    """

    rows: NDArray[np.intp]
    need: LinkNeed
    wish: CableChoice
    where: str
    cages: LinkedCages


def assign_assemblies(
    cluster: Cluster,
    spec: ClusterSpec,
    parts: PartSet,
    catalog: PartSource,
    lengths: LinkLengths | None = None,
    alike: CabledAlike | None = None,
    kinds: Sequence[LinksAlike] | None = None,
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
    alike
        What cages that share links must be cabled for, when links to come count too. None: the links of *cluster* only.
    kinds
        What :func:`links_alike` says of the same links and parts, wherever the devices stand. None: it is asked.

    Raises
    ------
    SpecError, UnbuildableError
        If the description asks for a cable that does not exist or does not fit.
    """
    draft = CablingDraft(cluster, catalog, lengths)
    for kind in links_alike(cluster, spec, parts) if kinds is None else kinds:
        rows, wish, cages = kind.rows, kind.wish, kind.cages
        needed, reached = _needed(draft.needed_m[rows], wish)
        if alike is not None:
            reached = np.maximum(reached, alike.longest_m[rows])
            cages = cages.paired_where(alike.paired[rows])
        for paired in (True, False):
            mine = np.flatnonzero(cages.paired == paired)
            if not len(mine):
                continue
            runs = cable_runs(kind.need.with_pairs(paired), wish, catalog, kind.where)
            if not runs:
                draft.add_unknown(rows[mine], needed[mine])
                continue
            for run, chosen in _by_length(runs, cages.take(mine), reached[mine]):
                draft.add(rows[mine[chosen]], run, needed[mine[chosen]], wish)
    return draft.finish()


def cabled_alike(cluster: Cluster, spec: ClusterSpec, parts: PartSet, lengths: LinkLengths) -> CabledAlike:
    """Return for each link what the cages that it shares with others must be cabled for.

    Parameters
    ----------
    cluster
    spec
        ``cables`` of its fabrics are the wishes.
    parts
        Its servers and switches, for the connectors of their cages.
    lengths
        The way of every link.
    """
    longest, paired = np.full(len(cluster.links), np.nan), np.zeros(len(cluster.links), bool)
    for kind in links_alike(cluster, spec, parts):
        rows, cages = kind.rows, kind.cages
        longest[rows] = cages.longest(_needed(lengths.total_m[rows], kind.wish)[1])[cages.group]
        paired[rows] = cages.paired
    return CabledAlike(longest, paired)


def _needed(way_m: NDArray[np.float64], wish: CableChoice) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return how long the cable of each link must be, and how far it must reach."""
    needed = way_m if wish.length is None else np.full(len(way_m), wish.length)
    # Trunk and patch cords are each rounded up to a full metre.
    return needed, needed + (3.0 if wish.trunk_fibres else 0.0)


def links_alike(cluster: Cluster, spec: ClusterSpec, parts: PartSet) -> tuple[LinksAlike, ...]:
    """Return the links of each fabric, kind, rate and pair of cages; nothing of it depends on where devices stand.

    Parameters
    ----------
    cluster
    spec
        ``cables`` of its fabrics are the wishes.
    parts
        Its servers and switches, for the connectors of their cages.
    """
    kinds, names = link_kinds(cluster)
    ports, links = cluster.ports, cluster.links
    connectors, table = cage_connectors(cluster, parts)
    code = table[cluster.devices.part[ports.device], ports.cage]
    cage = ports.device.astype(np.int64) << 16 | (ports.cage.astype(np.int64) & 0xFFFF)
    lower, upper = links.port_a, links.port_b
    rates, rate_code = number_values(links.bytes_per_s)
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
        return ()
    packed = np.ravel_multi_index(tuple(profile + 1), tuple(profile.max(axis=1) + 2))
    found = []
    for value in distinct_values(packed):
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
        where = f'fabric "{fabric_spec.name}", cables.{choice}'
        cages = linked_cages(cage[lower[rows]], cage[upper[rows]], ends[1], ends[3])
        found.append(LinksAlike(rows, need, wish, where, cages))
    return tuple(found)


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
