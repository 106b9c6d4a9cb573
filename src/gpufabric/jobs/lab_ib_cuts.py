"""Names of links and switches, or a number and a seed → the cables of a subnet that are pulled."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from gpufabric.errors import InputError, printable
from gpufabric.jobs.fault_places import FaultPlaces
from gpufabric.records.cluster import Cluster, DeviceKind
from gpufabric.records.cluster_spec import Fault
from gpufabric.records.names import device_names, port_names
from gpufabric.records.part_lookup import PartLookup

CUT_KINDS = ("link-down", "switch-down")
_SHOWN = 5


@dataclass(frozen=True, slots=True)
class Cuts:
    """What to pull: switches and links by name, then so many links between switches at random, by a seed."""

    named: tuple[str, ...] = ()
    random: int = 0
    seed: int = 0

    def __bool__(self) -> bool:
        return bool(self.named or self.random)


def with_described(cuts: Cuts, faults: Sequence[Fault]) -> tuple[Cuts, tuple[str, ...]]:
    """Return *cuts* with the links and switches that a description says are down, and a note for what is not simulated."""
    down = tuple(fault.where for fault in faults if fault.kind in CUT_KINDS)
    other = sorted({fault.kind for fault in faults} - set(CUT_KINDS))
    note = (
        f"faults of the description that are left out: {', '.join(other)}; ibsim has links and switches only"
    )
    return replace(cuts, named=(*down, *cuts.named)), (note,) if other else ()


def cut_links(
    cluster: Cluster, links: NDArray[np.int64], cuts: Cuts, parts: PartLookup | None
) -> NDArray[np.int64]:
    """Return the links of the cluster that are pulled, ascending.

    Parameters
    ----------
    cluster
    links
        Those of the subnet.
    cuts
    parts
        Parts by id, for the labels of server ports.

    Raises
    ------
    InputError
        If a name is not in the subnet, or there are fewer links between switches than are to be cut.
    """
    places = FaultPlaces(cluster, parts)
    found = [_named(places, links, name) for name in cuts.named]
    named = np.unique(np.concatenate([*found, np.empty(0, np.int64)])).astype(np.int64)
    if not cuts.random:
        return named
    switch = cluster.devices.kind == DeviceKind.SWITCH
    between = links[switch[cluster.link_device_a[links]] & switch[cluster.link_device_b[links]]]
    free = np.setdiff1d(between, named)
    if cuts.random > len(free):
        raise InputError(
            f"--cut-random: {cuts.random:,} is too many; {len(free):,} links join switches of this subnet and are not cut by name"
        )
    drawn = np.random.default_rng(cuts.seed).choice(free, cuts.random, replace=False)
    return np.unique(np.concatenate([named, drawn]))


def cut_names(cluster: Cluster, rows: NDArray[np.int64], parts: PartLookup | None) -> tuple[str, ...]:
    """Return the first of the links that are pulled by their two ends, and how many more there are."""
    first = rows[:_SHOWN]
    ends = [
        device_names(cluster, cluster.ports.device[ports]) + ":" + port_names(cluster, ports, parts)
        for ports in (cluster.links.port_a[first], cluster.links.port_b[first])
    ]
    more = (f"and {len(rows) - _SHOWN:,} more",) if len(rows) > _SHOWN else ()
    return (*(f"{a} - {b}" for a, b in zip(*ends, strict=True)), *more)


def _named(places: FaultPlaces, links: NDArray[np.int64], name: str) -> NDArray[np.int64]:
    cluster, said = places.cluster, f'--cut "{printable(name)}"'
    alone = " - " not in name and " – " not in name and ":" not in name
    if alone:
        device = places.device(name, said)
        if cluster.devices.kind[device] != DeviceKind.SWITCH:
            raise InputError(f"{said}: is no switch; name a switch, or a link as device:port or A - B")
        rows = np.flatnonzero((cluster.link_device_a == device) | (cluster.link_device_b == device))
    else:
        rows = places.links(name, said)
    mine = np.intersect1d(rows, links)
    if not len(mine):
        raise InputError(
            f"{said}: is not in this subnet; choose it with --fabric and --plane, or cut one of its own"
        )
    return mine.astype(np.int64)
