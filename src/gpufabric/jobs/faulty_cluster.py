"""A cluster and what is broken on purpose → the wiring that is left."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from gpufabric.errors import InputError, printable
from gpufabric.jobs.fault_places import FaultPlaces
from gpufabric.records.cluster import Cluster, DeviceKind, Jumpers, Links
from gpufabric.records.cluster_spec import Fault
from gpufabric.records.part_lookup import PartLookup
from gpufabric.units import counted, format_gbps

_Find = Callable[[FaultPlaces, Fault], NDArray[np.int64]]


def apply_faults(
    cluster: Cluster, faults: Sequence[Fault], parts: PartLookup | None = None
) -> tuple[Cluster, tuple[str, ...]]:
    """Return the cluster with links gone, slower or on other ports, and a line for each fault that says what it did.

    Devices, ports, cables and GPUs stay, so that their rows mean the same in both. Places are looked up in the whole cluster.

    Parameters
    ----------
    cluster
    faults
        In order; ``where`` of a link is ``device:port`` or ``A - B`` with a device or a port on each side, of a NIC a port of
        it or ``server:NIC``, of a rail ``rail:3``, of a plane ``plane:1``.
    parts
        Parts by id, for the labels of server ports and the names of NICs.

    Raises
    ------
    InputError
        If a place does not exist or is not of the kind that the fault needs, or a slow link would not be slower.
    """
    places = FaultPlaces(cluster, parts)
    links, kept = cluster.links, np.ones(len(cluster.links), np.bool_)
    notes = []
    for fault in faults:
        if fault.rate is not None and fault.kind != "link-slow":
            raise InputError(f"{_name(fault)}: {fault.kind} has no rate; only link-slow does; leave it out")
        if fault.kind == "link-slow":
            links, note = _slow(places, links, fault)
        elif fault.kind == "nic-on-wrong-rail":
            links, note = _swap(places, links, fault)
        else:
            rows = _LOST[fault.kind](places, fault)
            note = f"{counted(int(kept[rows].sum()), 'link')} down"
            kept[rows] = False
        notes.append(f"fault {fault.kind} at {printable(fault.where)}: {note}")
    return without_links(replace(cluster, links=links), kept), tuple(notes)


def without_links(cluster: Cluster, kept: NDArray[np.bool_]) -> Cluster:
    """Return the cluster with some of its links only; everything else stays.

    Parameters
    ----------
    cluster
    kept : bool array, L
    """
    links = cluster.links
    left = Links(
        links.port_a[kept],
        links.port_b[kept],
        links.bytes_per_s[kept],
        links.assembly[kept],
        None if links.where is None else tuple(np.array(links.where, object)[kept]),
    )
    return replace(cluster, links=left, jumpers=_jumpers(cluster, kept))


def _name(fault: Fault) -> str:
    return f"fault {fault.kind}:{printable(fault.where)}"


def _jumpers(cluster: Cluster, kept: NDArray[np.bool_]) -> Jumpers:
    jumpers, row = cluster.jumpers, np.cumsum(kept) - 1
    stays = kept[jumpers.link]
    return Jumpers(row[jumpers.link[stays]].astype(np.int32), jumpers.part[stays], jumpers.length_m[stays])


def _switch(places: FaultPlaces, fault: Fault) -> NDArray[np.int64]:
    device = places.device(fault.where, _name(fault))
    cluster = places.cluster
    if cluster.devices.kind[device] != DeviceKind.SWITCH:
        raise InputError(f"{_name(fault)}: is no switch; name one of the cabling plan")
    return np.flatnonzero((cluster.link_device_a == device) | (cluster.link_device_b == device))


def _numbered(word: str) -> _Find:
    def find(places: FaultPlaces, fault: Fault) -> NDArray[np.int64]:
        return places.of_number(fault.where, word, _name(fault))

    return find


_LOST: Mapping[str, _Find] = {
    "link-down": lambda places, fault: places.links(fault.where, _name(fault)),
    "switch-down": _switch,
    "nic-down": lambda places, fault: places.nic_links(fault.where, _name(fault)),
    "rail-down": _numbered("rail"),
    "plane-down": _numbered("plane"),
}


def _slow(places: FaultPlaces, links: Links, fault: Fault) -> tuple[Links, str]:
    if fault.rate is None:
        raise InputError(f"{_name(fault)}: says no rate; write what the link still runs at, such as 200 Gb/s")
    rows = places.links(fault.where, _name(fault))
    nominal = float(places.cluster.links.bytes_per_s[rows].max())
    if fault.rate >= nominal:
        raise InputError(
            f"{_name(fault)}: {format_gbps(fault.rate)} is not slower than the link; "
            f"allowed is less than {format_gbps(nominal)}"
        )
    rate = links.bytes_per_s.copy()
    rate[rows] = np.minimum(rate[rows], fault.rate)
    return replace(links, bytes_per_s=rate), f"{counted(len(rows), 'link')} at {format_gbps(fault.rate)}"


def _swap(places: FaultPlaces, links: Links, fault: Fault) -> tuple[Links, str]:
    """Exchange the far ends of two cables of one server, as somebody who plugs them the wrong way round does."""
    one, other, names = places.swapped(fault.where, _name(fault))
    row_a, row_b = (int(places.port_link[port]) for port in (one, other))
    ends = [links.port_a.copy(), links.port_b.copy()]
    sides = [int(links.port_a[row] != port) for row, port in ((row_a, one), (row_b, other))]
    ends[sides[0]][row_a], ends[sides[1]][row_b] = other, one
    # Where the two cables have different rates, each port can only run at its own or less.
    rate = links.bytes_per_s.copy()
    rate[[row_a, row_b]] = rate[[row_a, row_b]].min()
    return replace(
        links, port_a=ends[0], port_b=ends[1], bytes_per_s=rate
    ), f"the cables of {names} are swapped"
