"""A found fabric alone → the wiring that it was meant to have: the same devices and ports, with what is odd put right.

The same port of all servers of a unit leads to one leaf, the same port of all leaves of a group to one spine: a link that leads
elsewhere was meant for what most have. It is given the port there that another odd link leaves, or that its device has elsewhere.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gpufabric.recognition.found_slots import natural_order
from gpufabric.recognition.infer_design import WiringView, units_of
from gpufabric.recognition.missing_servers import MissingServer, missing_servers
from gpufabric.records.cluster import Cluster, Role
from gpufabric.records.found_fabric import FoundFabric

Int = NDArray[np.int64]
_MAJORITY = 0.6
_MOST_PARTS = 0.9
_FEW_PARTS = 0.005
_LEAST = 3
_MOST_SERVERS = 100


@dataclass(frozen=True, slots=True)
class IntendedWiring:
    """The wiring as it seems to be meant, beside the tables of the found cluster.

    Attributes
    ----------
    port_a, port_b : int64 array, L
        Ports of the links, first those that were found. Ports from the number of found ones on are those of ``ports``.
    bytes_per_s : float64 array, L
    parts : tuple of str, L
        Parts of the cables, empty where none is usual; no entries where files tell none.
    ports : tuple of (int, str)
        Device and name of each port that the files don't have. Devices from the number of found ones on are those of ``servers``.
    servers : tuple of (str, int)
        Name of each server that is missing, and a device that it is like.
    """

    port_a: Int
    port_b: Int
    bytes_per_s: NDArray[np.float64]
    parts: tuple[str, ...]
    ports: tuple[tuple[int, str], ...]
    servers: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class _Want:
    """A cable that should lead from a port to a device: its link, -1 where it is missing, and the name of the port there."""

    lower: int
    device: int
    link: int
    name: str


def intended_wiring(cluster: Cluster, found: FoundFabric) -> IntendedWiring:
    """Return what a fabric was meant to be.

    Parameters
    ----------
    cluster
        Of *found*, with roles, from :func:`gpufabric.recognition.recognise_roles.with_roles`.
    found

    Returns
    -------
    IntendedWiring
        Rows of devices and ports of the cluster stay; what is added stands after them.
    """
    view = WiringView(cluster)
    draft = _Draft(cluster)
    unit = units_of(view)
    _put_right(view, draft, _wants(view, draft, unit))
    for missing in missing_servers(view, unit)[:_MOST_SERVERS]:
        draft.add_server(missing)
    rates, parts = _usual_rates(view), _usual_parts(view, found)
    return draft.finish(rates, parts)


class _Draft:
    """Upper ports of the links, and what is added."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self.upper: Int = cluster.links.port_b.astype(np.int64)
        self.port_row = {
            (device, name.lower()): row
            for row, (device, name) in enumerate(
                zip(cluster.ports.device.tolist(), cluster.ports.names or (), strict=True)
            )
        }
        self.linked = np.zeros(len(cluster.ports), np.bool_)
        self.linked[cluster.links.port_a] = self.linked[cluster.links.port_b] = True
        self.new_ports: list[tuple[int, str]] = []
        self.new_links: list[tuple[int, int]] = []
        self.new_servers: list[tuple[str, int]] = []

    def port(self, device: int, name: str) -> int:
        """Return the free port of a name on a device, added where the files don't have it; -1 where it is taken."""
        row = self.port_row.get((device, name.lower()), -1)
        if row < 0:
            row = len(self.linked) + len(self.new_ports)
            self.new_ports.append((device, name))
            self.port_row[device, name.lower()] = row
            return row
        return row if row < len(self.linked) and not self.linked[row] else -1

    def add_server(self, missing: MissingServer) -> None:
        """Add a server that is missing, with its links."""
        device = len(self.cluster.devices) + len(self.new_servers)
        self.new_servers.append((missing.name, missing.like))
        for own, leaf, far in missing.links:
            upper = self.port(leaf, far)
            if upper >= 0:
                self.new_links.append((self.port(device, own), upper))

    def finish(self, rates: NDArray[np.float64], parts: tuple[str, ...]) -> IntendedWiring:
        """Return all of it; links that are added are as fast as most between the same roles."""
        ends = np.array(self.new_links, np.int64).reshape(-1, 2)
        more = len(ends)
        return IntendedWiring(
            port_a=np.append(self.cluster.links.port_a.astype(np.int64), ends[:, 0]),
            port_b=np.append(self.upper, ends[:, 1]),
            bytes_per_s=np.append(rates, np.full(more, np.nan)),
            parts=(*parts, *[""] * more) if parts else (),
            ports=tuple(self.new_ports),
            servers=tuple(self.new_servers),
        )


def _wants(view: WiringView, draft: _Draft, unit: dict[int, int]) -> list[_Want]:
    """Return the links that lead elsewhere than most of their kind, and those that are missing."""
    wants: list[_Want] = []
    server_links = view.between(Role.SERVER, Role.LEAF)
    group_of = {row: unit.get(int(view.a[row]), -1) for row in server_links.tolist()}
    wants += _odd(view, draft, server_links, group_of, True)
    for lower, upper in ((Role.LEAF, Role.SPINE), (Role.SPINE, Role.CORE)):
        links = view.between(lower, upper)
        group = _groups_above(view, links)
        wants += _odd(view, draft, links, {row: group[int(view.a[row])] for row in links.tolist()}, False)
    return wants


def _groups_above(view: WiringView, links: Int) -> dict[int, int]:
    """Return a number for each lower device: those with mostly the same devices above are one group."""
    above: dict[int, set[int]] = defaultdict(set)
    for low, high in zip(view.a[links].tolist(), view.b[links].tolist(), strict=True):
        above[low].add(high)
    known: list[set[int]] = []
    group = {}
    for low, own in sorted(above.items(), key=lambda item: -len(item[1])):
        hit = next((at for at, one in enumerate(known) if 2 * len(one & own) > len(own)), -1)
        if hit < 0:
            hit = len(known)
            known.append(own)
        group[low] = hit
    return group


def _odd(view: WiringView, draft: _Draft, links: Int, group: dict[int, int], whole: bool) -> list[_Want]:
    port_a, port_b = view.cluster.links.port_a, view.cluster.links.port_b
    leads: dict[tuple[int, str], Counter[int]] = defaultdict(Counter)
    members: dict[int, set[int]] = defaultdict(set)
    used: dict[int, dict[str, int]] = defaultdict(dict)
    names_shown: dict[str, str] = {}
    for row in links.tolist():
        name = view.ports[port_a[row]].lower()
        names_shown[name] = view.ports[port_a[row]]
        leads[group[row], name][int(view.b[row])] += 1
        members[group[row]].add(int(view.a[row]))
        used[int(view.a[row])][name] = row
    usual_count = Counter(len(own) for own in used.values())
    usual = usual_count.most_common(1)[0][0] if usual_count else 0
    target: dict[tuple[int, str], int] = {}
    for key, counts in leads.items():
        device, most = counts.most_common(1)[0]
        if counts.total() >= _LEAST and most >= _MAJORITY * counts.total():
            target[key] = device
    wants = []
    for one, devices in members.items():
        names = [name for known_group, name in target if known_group == one]
        for device in sorted(devices):
            if 2 * len(used[device]) < usual:
                continue  # a manager or a visitor: it has a place of its own
            there = Counter(
                view.ports[port_b[row]]
                for name, row in used[device].items()
                if target.get((one, name)) == view.b[row]
            )
            far = there.most_common(1)[0][0] if there and there.most_common(1)[0][1] > 1 else ""
            for name in names:
                row = used[device].get(name, -1)
                wanted = target[one, name]
                if row >= 0 and int(view.b[row]) != wanted:
                    wants.append(_Want(int(port_a[row]), wanted, row, far))
                elif (
                    row < 0
                    and whole
                    and len(used[device]) < usual
                    and leads[one, name].total() > 0.5 * len(devices)
                ):
                    own = draft.port(device, names_shown[name])
                    wants += [_Want(own, wanted, -1, far)] if own >= 0 and far else []
    return wants


def _put_right(view: WiringView, draft: _Draft, wants: list[_Want]) -> None:
    """Give each odd link a port of the device that it was meant for."""
    odd = {want.link for want in wants if want.link >= 0}
    freed: dict[int, list[int]] = defaultdict(list)
    for row in sorted(odd):
        freed[int(view.b[row])].append(int(draft.upper[row]))
    by_device: dict[int, list[_Want]] = defaultdict(list)
    for want in wants:
        by_device[want.device].append(want)
    for device, own in sorted(by_device.items()):
        ports = freed[device]
        left = []
        for want in own:
            hit = next((port for port in ports if view.ports[port] == want.name), -1)
            if hit < 0:
                left.append(want)
                continue
            ports.remove(hit)
            _settle(draft, want, hit)
        ports.sort(key=lambda port: natural_order(view.ports[port]))
        for want in left:
            spare = draft.port(device, want.name) if want.name else -1
            if spare < 0 and ports and want.link >= 0:
                spare = ports.pop(0)
            if spare >= 0:
                _settle(draft, want, spare)


def _settle(draft: _Draft, want: _Want, upper: int) -> None:
    if want.link >= 0:
        draft.upper[want.link] = upper
    elif want.lower >= 0:
        draft.new_links.append((want.lower, upper))


def _usual_rates(view: WiringView) -> NDArray[np.float64]:
    """Return the rate of each link, that of most between its two roles where it runs slower."""
    rate = view.cluster.links.bytes_per_s.copy()
    for rows in view.by_roles():
        known = rows[~np.isnan(rate[rows])]
        if len(known):
            usual, number = Counter(rate[known].tolist()).most_common(1)[0]
            if number >= _MAJORITY * len(known):
                rate[known] = np.maximum(rate[known], usual)
    return rate


def _usual_parts(view: WiringView, found: FoundFabric) -> tuple[str, ...]:
    """Return the part that nearly all cables between two roles are of, for each link; empty where there is none."""
    if not found.link_part:
        return ()
    parts = [""] * len(view.cluster.links)
    for rows in view.by_roles():
        told = Counter(found.link_part[row] for row in rows.tolist() if found.link_part[row])
        if not told:
            continue
        usual, most = told.most_common(1)[0]
        others = told.total() - most
        # Long ways have cables of their own: only few others are an accident.
        if most >= _MOST_PARTS * told.total() and others <= max(_LEAST, _FEW_PARTS * told.total()):
            for row in rows.tolist():
                parts[row] = usual
    return tuple(parts)
