"""Two wirings of one cluster → what is kept, moved, added and removed: devices, links and cables."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpufabric.jobs.match_ports import PortMatch, match_ports
from gpufabric.records.cluster import Cluster
from gpufabric.records.names import device_names, port_names
from gpufabric.records.part_lookup import PartLookup


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
class ClusterChanges:
    """What has to be done to turn the old wiring into the new one.

    ``links_moved`` are those with one end re-plugged, or that run at another rate. ``relabelled`` devices are the same with
    another label (their numbers have more digits now), as pairs old, new; ``replaced`` ones have another part.
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

    def to_dict(self) -> dict[str, Any]:
        """Return the changes as plain JSON values."""
        return asdict(self)


def cluster_changes(old: Cluster, new: Cluster, parts: PartLookup | None = None) -> ClusterChanges:
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
    """
    match = match_ports(old, new)
    pairs = _pair_links(old, new, match)
    same_rate = np.isclose(old.links.bytes_per_s[pairs.old_kept], new.links.bytes_per_s[pairs.new_kept])
    moved_old = np.concatenate([pairs.old_moved, pairs.old_kept[~same_rate]])
    moved_new = np.concatenate([pairs.new_moved, pairs.new_kept[~same_rate]])
    removed = np.setdiff1d(np.arange(len(old.links)), np.concatenate([pairs.old_moved, pairs.old_kept]))
    added = np.setdiff1d(np.arange(len(new.links)), np.concatenate([pairs.new_moved, pairs.new_kept]))
    old_rows, new_rows = _matched(match.old_device, match.new_device)
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
    )


@dataclass(frozen=True, slots=True)
class _Pairs:
    """Rows of links that are the same in both; row *i* of an old column belongs to row *i* of the new one."""

    old_kept: NDArray[np.int64]
    new_kept: NDArray[np.int64]
    old_moved: NDArray[np.int64]
    new_moved: NDArray[np.int64]


def _pair_links(old: Cluster, new: Cluster, match: PortMatch) -> _Pairs:
    old_ends = _sorted_ends(match.old_port[old.links.port_a], match.old_port[old.links.port_b])
    new_ends = _sorted_ends(match.new_port[new.links.port_a], match.new_port[new.links.port_b])
    both = np.concatenate([old_ends, new_ends])
    _, code = np.unique(both, axis=0, return_inverse=True)
    code = code.reshape(-1)
    old_kept, new_kept = _matched(code[: len(old_ends)], code[len(old_ends) :])
    old_left = np.setdiff1d(np.arange(len(old_ends)), old_kept)
    new_left = np.setdiff1d(np.arange(len(new_ends)), new_kept)
    moved: list[tuple[NDArray[np.int64], NDArray[np.int64]]] = []
    for old_end, new_end in ((old.links.port_a, new.links.port_a), (old.links.port_b, new.links.port_b)):
        at = _matched(match.old_port[old_end[old_left]], match.new_port[new_end[new_left]])
        moved.append((old_left[at[0]], new_left[at[1]]))
        old_left, new_left = np.delete(old_left, at[0]), np.delete(new_left, at[1])
    return _Pairs(
        old_kept, new_kept, np.concatenate([m[0] for m in moved]), np.concatenate([m[1] for m in moved])
    )


def _sorted_ends(a: NDArray[np.int64], b: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.stack([np.minimum(a, b), np.maximum(a, b)], axis=1)


def _matched(old: NDArray[np.int64], new: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the rows with equal values, the first of each value."""
    _, old_rows, new_rows = np.intersect1d(old, new, return_indices=True)
    order = np.argsort(old_rows)
    return old_rows[order].astype(np.int64), new_rows[order].astype(np.int64)


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
