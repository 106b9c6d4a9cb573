"""Two wirings of one cluster → what is kept, moved, added and removed: devices, links and cables."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpufabric.jobs.match_ports import match_ports
from gpufabric.jobs.pair_links import matched_rows, pair_links
from gpufabric.records.cluster import Cluster
from gpufabric.records.floor_plan import FloorPlan
from gpufabric.records.names import device_names, port_names
from gpufabric.records.part_lookup import PartLookup

_SAME_M = 1e-6


@dataclass(frozen=True, slots=True)
class Counts:
    """How many of one kind of thing are kept, moved (re-plugged or otherwise changed), added and removed."""

    kept: int
    moved: int
    added: int
    removed: int


@dataclass(frozen=True, slots=True)
class LinkChange:
    """One link, ends as ``device:port``: where it was and where it is; empty texts for one that is added or removed."""

    what: str
    old_a: str = ""
    old_b: str = ""
    new_a: str = ""
    new_b: str = ""


@dataclass(frozen=True, slots=True)
class CableChange:
    """The cable of one link that stays or is moved, ends as they are now: its part and length before and now.

    ``None`` is a part or length that is not known.
    """

    a: str
    b: str
    old_part: str | None
    new_part: str | None
    old_length_m: float | None
    new_length_m: float | None


@dataclass(frozen=True, slots=True)
class ClusterChanges:
    """What has to be done to turn the old wiring into the new one.

    ``links_moved`` are those with one end re-plugged, or that run at another rate. ``relabelled`` devices are the same with
    another label (their numbers have more digits now), as pairs old, new; ``replaced`` ones have another part.
    ``elsewhere`` are devices that stand in another rack or rack unit, with both places; ``recabled`` are links that need another
    part or length of cable. Both are empty where a floor plan of one of the two is not given.
    """

    old: str
    new: str
    devices: Counts
    links: Counts
    cables: Counts
    relabelled: tuple[tuple[str, str], ...]
    replaced: tuple[tuple[str, str, str], ...]
    devices_added: tuple[str, ...]
    devices_removed: tuple[str, ...]
    links_moved: tuple[LinkChange, ...]
    links_removed: tuple[LinkChange, ...]
    links_added: tuple[LinkChange, ...]
    elsewhere: tuple[tuple[str, str, str], ...] = ()
    recabled: tuple[CableChange, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the changes as plain JSON values."""
        return asdict(self)


def cluster_changes(
    old: Cluster,
    new: Cluster,
    parts: PartLookup | None = None,
    plans: tuple[FloorPlan, FloorPlan] | None = None,
) -> ClusterChanges:
    """Return what is moved, added, removed and kept on the way from one wiring to the next.

    Ports are matched by name. A link is kept when both its ports are joined in both; moved when one of its ports is joined to
    another one now (the lower end decides first, then the upper), or its rate has changed; else removed or added. A cable is
    moved when any of its links is.

    Parameters
    ----------
    old, new
        Two wirings of the same cluster.
    parts
        Parts by id, for the labels on server chassis.
    plans
        Floor plans of the two. None: nothing is said of places and cables.
    """
    match = match_ports(old, new)
    pairs = pair_links(old, new, match)
    same_rate = np.isclose(old.links.bytes_per_s[pairs.old_kept], new.links.bytes_per_s[pairs.new_kept])
    moved_old = np.concatenate([pairs.old_moved, pairs.old_kept[~same_rate]])
    moved_new = np.concatenate([pairs.new_moved, pairs.new_kept[~same_rate]])
    removed = np.setdiff1d(np.arange(len(old.links)), np.concatenate([pairs.old_moved, pairs.old_kept]))
    added = np.setdiff1d(np.arange(len(new.links)), np.concatenate([pairs.new_moved, pairs.new_kept]))
    old_rows, new_rows = matched_rows(match.old_device, match.new_device)
    gone = np.setdiff1d(np.arange(len(old.devices)), old_rows)
    fresh = np.setdiff1d(np.arange(len(new.devices)), new_rows)
    old_names, new_names = device_names(old), device_names(new)
    replaced = _replaced(old, new, (old_rows, new_rows), new_names)
    before, after = _Ends(old, old_names, parts), _Ends(new, new_names, parts)
    return ClusterChanges(
        old=old.name,
        new=new.name,
        devices=Counts(len(old_rows) - len(replaced), len(replaced), len(fresh), len(gone)),
        links=Counts(int(same_rate.sum()), len(moved_old), len(added), len(removed)),
        cables=_cables(old, new, (moved_old, removed), added),
        relabelled=tuple(
            (a, b)
            for a, b in zip(old_names[old_rows].tolist(), new_names[new_rows].tolist(), strict=True)
            if a != b
        ),
        replaced=replaced,
        devices_added=tuple(new_names[fresh].tolist()),
        devices_removed=tuple(old_names[gone].tolist()),
        links_moved=tuple(
            LinkChange("moved", *was, *now)
            for was, now in zip(before.of(moved_old), after.of(moved_new), strict=True)
        ),
        links_removed=tuple(LinkChange("removed", *was) for was in before.of(removed)),
        links_added=tuple(LinkChange("added", "", "", *now) for now in after.of(added)),
        elsewhere=_elsewhere(plans, (old_rows, new_rows), new_names) if plans else (),
        recabled=_recabled(
            (old, new),
            (
                np.concatenate([pairs.old_kept, pairs.old_moved]),
                np.concatenate([pairs.new_kept, pairs.new_moved]),
            ),
            after,
        )
        if plans
        else (),
    )


def _replaced(
    old: Cluster, new: Cluster, rows: tuple[NDArray[np.int64], NDArray[np.int64]], names: NDArray[np.object_]
) -> tuple[tuple[str, str, str], ...]:
    """Return name, old part and new part of the devices that are another model now."""
    parts = [
        np.array([*cluster.parts, ""], dtype=object)[cluster.devices.part[at]]
        for cluster, at in zip((old, new), rows, strict=True)
    ]
    return tuple(
        (str(names[rows[1][at]]), str(parts[0][at]), str(parts[1][at]))
        for at in np.flatnonzero(parts[0] != parts[1])
    )


def _elsewhere(
    plans: tuple[FloorPlan, FloorPlan],
    rows: tuple[NDArray[np.int64], NDArray[np.int64]],
    names: NDArray[np.object_],
) -> tuple[tuple[str, str, str], ...]:
    """Return name, old place and new place of the devices that stand elsewhere."""
    old, new = (plan.places(at) for plan, at in zip(plans, rows, strict=True))
    named = names[rows[1]].tolist()
    return tuple((name, was, now) for name, was, now in zip(named, old, new, strict=True) if was != now)


def _recabled(
    clusters: tuple[Cluster, Cluster], links: tuple[NDArray[np.int64], NDArray[np.int64]], ends: _Ends
) -> tuple[CableChange, ...]:
    """Return the links whose cable has another part or length."""
    part, length = [], []
    for cluster, rows in zip(clusters, links, strict=True):
        assembly = cluster.links.assembly[rows]
        part.append(np.array([*cluster.parts, None], object)[cluster.assemblies.part[assembly]])
        length.append(cluster.assemblies.length_m[assembly])
    same = np.isclose(length[0], length[1], rtol=0.0, atol=_SAME_M, equal_nan=True)
    rows = np.flatnonzero((part[0] != part[1]) | ~same)
    metres = [[None if np.isnan(m) else float(m) for m in column[rows]] for column in length]
    return tuple(
        CableChange(*end, *columns)
        for end, *columns in zip(
            ends.of(links[1][rows]), part[0][rows].tolist(), part[1][rows].tolist(), *metres, strict=True
        )
    )


def _cables(
    old: Cluster, new: Cluster, touched: tuple[NDArray[np.int64], NDArray[np.int64]], added: NDArray[np.int64]
) -> Counts:
    moved, removed = touched
    links_of = np.bincount(old.links.assembly, minlength=len(old.assemblies))
    gone = np.bincount(old.links.assembly[removed], minlength=len(old.assemblies))
    is_gone = (gone == links_of) & (links_of > 0)
    is_moved = np.zeros(len(old.assemblies), bool)
    is_moved[old.links.assembly[moved]] = True
    is_moved[old.links.assembly[removed]] = True  # a cable that loses one of its links is touched
    is_moved &= ~is_gone
    new_links = np.bincount(new.links.assembly, minlength=len(new.assemblies))
    fresh = np.bincount(new.links.assembly[added], minlength=len(new.assemblies))
    bought = int(np.count_nonzero((fresh == new_links) & (new_links > 0)))
    return Counts(
        int(np.count_nonzero(links_of)) - int(is_gone.sum()) - int(is_moved.sum()),
        int(is_moved.sum()),
        bought,
        int(is_gone.sum()),
    )


class _Ends:
    """Names of the ends of links, made for the links that are asked for."""

    def __init__(self, cluster: Cluster, names: NDArray[np.object_], parts: PartLookup | None) -> None:
        self._cluster = cluster
        self._names = names
        self._parts = parts

    def of(self, links: NDArray[np.int64]) -> list[tuple[str, str]]:
        """Return both ends of each link as ``device:port``."""
        cluster = self._cluster
        ends = []
        for ports in (cluster.links.port_a[links], cluster.links.port_b[links]):
            port = port_names(cluster, ports, self._parts)
            ends.append((self._names[cluster.ports.device[ports]] + ":" + port).tolist())
        return list(zip(*ends, strict=True))
