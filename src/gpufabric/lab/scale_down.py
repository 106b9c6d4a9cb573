"""One routing domain of a large fabric → a few of its switches and servers, with its ratios.

What is kept is real: names, ports, who is linked with whom. How many are kept is bounded, and rates make up for it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from gpufabric.errors import InputError, printable
from gpufabric.exports.plan_addresses import plan_addresses
from gpufabric.exports.routed_interfaces import routed_interfaces
from gpufabric.kernels.connected_components import connected_components
from gpufabric.records.cluster import Assemblies, Cluster, Devices, Gpus, Links, Modules, Ports, Role
from gpufabric.records.names import device_names
from gpufabric.records.part_set import PartSet
from gpufabric.units import counted, format_gbps


@dataclass(frozen=True, slots=True)
class ScaleLimits:
    """How much is kept at most.

    Attributes
    ----------
    leaves, spines, cores
        Switches; spines are counted in each pod.
    leaf_hosts
        Servers of one leaf.
    host_bytes_per_s
        What the fastest link of a server runs at, one direction.
    """

    leaves: int = 4
    spines: int = 2
    cores: int = 4
    leaf_hosts: int = 2
    host_bytes_per_s: float = 25e6


@dataclass(frozen=True, slots=True)
class ScaledFabric:
    """A small fabric that stands for a large one.

    Attributes
    ----------
    cluster
        The small one; ``links.bytes_per_s`` are its own rates.
    parts
        Parts of both.
    fabric, domain, domains
        Name of the fabric, which of its routing domains (from 1) is taken, and how many it has.
    rules
        What was kept, one sentence each.
    """

    cluster: Cluster
    parts: PartSet
    fabric: str
    domain: int
    domains: int
    rules: tuple[str, ...]

    def rows(self, role: int) -> list[int]:
        """Return the devices of a role."""
        return np.flatnonzero(self.cluster.devices.role == role).tolist()


@dataclass(frozen=True, slots=True)
class _Wires:
    """Links of the domain, as devices: ``lower`` and ``upper`` ends; ``to_host`` where the lower one is no switch."""

    link: NDArray[np.int64]
    lower: NDArray[np.int32]
    upper: NDArray[np.int32]
    to_host: NDArray[np.bool_]
    rate: NDArray[np.float64]

    def of(self, rows: NDArray[Any]) -> _Wires:
        return _Wires(
            self.link[rows], self.lower[rows], self.upper[rows], self.to_host[rows], self.rate[rows]
        )


def scale_down(
    cluster: Cluster, parts: PartSet, fabric: int, domain: int, limits: ScaleLimits | None = None
) -> ScaledFabric:
    """Return a small part of one routing domain.

    Leaves are taken from the first and the last pod and unit, spines at the same places of each pod, cores that join them, and of
    each leaf the servers that most of the leaves taken share. Of parallel links one is kept. A link of a server runs at
    ``limits.host_bytes_per_s``; the links of a switch upwards share what keeps its oversubscription as it is in the large fabric.

    Parameters
    ----------
    cluster, parts
        The large one.
    fabric, domain
        Index of the fabric; which of its routing domains, from 1.
    limits

    Raises
    ------
    InputError
        If the domain does not exist, or what is kept would not hang together.
    """
    limits = limits or ScaleLimits()
    plan = plan_addresses(cluster, (fabric,))
    count = len(plan.domains)
    name = cluster.fabrics[fabric].name
    if not 1 <= domain <= count:
        raise InputError(
            f"--plane: {domain} is not there; fabric {printable(name)} has routing domains 1 to {count}"
        )
    inside = np.full(len(cluster.devices), -1, np.int64)
    inside[plan.switches.device] = plan.switches.domain
    device = cluster.ports.device
    link = np.concatenate([plan.hosts.link, plan.between.link])
    lower = device[np.concatenate([plan.hosts.lower_port, plan.between.lower_port])]
    upper = device[np.concatenate([plan.hosts.upper_port, plan.between.upper_port])]
    wires = _Wires(
        link, lower, upper, np.arange(len(link)) < len(plan.hosts), cluster.links.bytes_per_s[link]
    )
    wires = wires.of(inside[upper] == domain - 1)
    switches = _chosen_switches(cluster, wires, limits)
    kept = _one_a_pair(wires, _chosen_links(wires, switches, limits))
    _refuse_apart(cluster, fabric, kept)
    rates = _scaled_rates(cluster, wires, kept, limits.host_bytes_per_s)
    small = _small_cluster(cluster, fabric, kept.link, rates)
    return ScaledFabric(
        small,
        parts,
        name,
        domain,
        count,
        tuple(_rules(cluster, wires, small, limits)),
    )


def _spread(rows: NDArray[Any], most: int) -> NDArray[Any]:
    """Return at most so many rows, evenly spread, the first and the last among them."""
    if len(rows) <= most:
        return rows
    return rows[np.unique(np.linspace(0, len(rows) - 1, most).round().astype(np.int64))]


def _chosen_switches(cluster: Cluster, wires: _Wires, limits: ScaleLimits) -> NDArray[np.int64]:
    devices = cluster.devices
    leaves = _chosen_leaves(cluster, np.unique(wires.upper[wires.to_host]).astype(np.int64), limits.leaves)
    pods = devices.pod
    up = wires.of(~wires.to_host & np.isin(wires.lower, leaves) & (devices.role[wires.upper] > Role.LEAF))
    spines = np.unique(up.upper).astype(np.int64)
    cored = bool((devices.role[wires.upper] == Role.CORE).any())
    groups = np.unique(pods[spines]) if cored else [None]
    chosen = [
        _spread(spines if pod is None else spines[pods[spines] == pod], limits.spines) for pod in groups
    ]
    taken = np.concatenate(chosen) if chosen else spines
    across = wires.of(np.isin(wires.lower, taken) & (devices.role[wires.upper] == Role.CORE))
    cores = _chosen_cores(across, limits.cores)
    return np.concatenate([leaves, taken, cores]).astype(np.int64)


def _chosen_leaves(cluster: Cluster, leaves: NDArray[np.int64], most: int) -> NDArray[np.int64]:
    """Return leaves: of the first and the last pod and unit, and of each unit as many as there is room for."""
    devices = cluster.devices
    unit = np.where(devices.unit[leaves] < 0, leaves, devices.unit[leaves])
    key = np.stack([devices.pod[leaves].astype(np.int64), unit.astype(np.int64)], axis=1)
    groups, group = np.unique(key, axis=0, return_inverse=True)
    group = group.reshape(-1)
    size = int(np.bincount(group).max())
    wanted = max(2, most // size) if most >= 2 else 1
    pods = _spread(np.unique(groups[:, 0]), 2)
    chosen = np.concatenate(
        [_spread(np.flatnonzero(groups[:, 0] == pod), max(1, wanted // len(pods))) for pod in pods.tolist()]
    )
    each = max(1, most // len(chosen))
    return np.concatenate([leaves[group == number][:each] for number in chosen.tolist()])


def _chosen_cores(across: _Wires, most: int) -> NDArray[np.int64]:
    """Return cores: as many of every set of spines that cores have in common as there is room for."""
    if not len(across.link):
        return np.empty(0, np.int64)
    reach: dict[tuple[int, ...], list[int]] = {}
    for core in np.unique(across.upper).tolist():
        below = tuple(sorted(set(across.lower[across.upper == core].tolist())))
        reach.setdefault(below, []).append(core)
    each = max(1, most // len(reach))
    return np.array([core for cores in reach.values() for core in cores[:each]], np.int64)


def _chosen_links(wires: _Wires, switches: NDArray[np.int64], limits: ScaleLimits) -> NDArray[np.bool_]:
    """Return for each link whether its ends are kept: switches that were chosen, and few servers of each leaf."""
    upper = np.isin(wires.upper, switches)
    between = ~wires.to_host & upper & np.isin(wires.lower, switches)
    below = wires.of(wires.to_host & upper)
    pairs = np.unique(np.stack([below.lower, below.upper], axis=1), axis=0)
    hosts, shared = np.unique(pairs[:, 0], return_counts=True)
    # Servers on most of the leaves come first, so that a server with a leaf for each rail brings several.
    order = hosts[np.lexsort((hosts, -shared))]
    room = dict.fromkeys(np.unique(below.upper).tolist(), limits.leaf_hosts)
    leaves_of: dict[int, list[int]] = {}
    for host, leaf in pairs.tolist():
        leaves_of.setdefault(host, []).append(leaf)
    taken = []
    for host in order.tolist():
        leaves = leaves_of[host]
        if all(room[leaf] > 0 for leaf in leaves):
            taken.append(host)
            for leaf in leaves:
                room[leaf] -= 1
    return between | (wires.to_host & upper & np.isin(wires.lower, taken))


def _one_a_pair(wires: _Wires, rows: NDArray[np.bool_]) -> _Wires:
    kept = wires.of(rows)
    _, first = np.unique(np.stack([kept.lower, kept.upper], axis=1), axis=0, return_index=True)
    return kept.of(np.sort(first))


def _refuse_apart(cluster: Cluster, fabric: int, kept: _Wires) -> None:
    ends = np.unique(np.concatenate([kept.lower, kept.upper]))
    label = connected_components(len(cluster.devices), kept.lower, kept.upper)[ends]
    if len(np.unique(label)) > 1:
        name, topology = cluster.fabrics[fabric].name, cluster.fabrics[fabric].topology
        raise InputError(
            f"fabric {printable(name)}: its topology ({topology}) falls apart when a few switches are taken; "
            "keep more with --leaves, or choose a fabric of leaves and spines"
        )


def _scaled_rates(
    cluster: Cluster, wires: _Wires, kept: _Wires, host_bytes_per_s: float
) -> NDArray[np.float64]:
    """Return the rate of each kept link, in order of tiers from the servers upwards."""
    rates = np.zeros(len(kept.link))
    hosts = kept.to_host
    rates[hosts] = host_bytes_per_s * kept.rate[hosts] / kept.rate[hosts].max()
    role = cluster.devices.role
    for tier in (Role.LEAF, Role.SPINE):
        for switch in np.unique(kept.lower[~hosts & (role[kept.lower] == tier)]).tolist():
            up = np.flatnonzero(~hosts & (kept.lower == switch))
            below = (kept.upper == switch) & (rates > 0)
            if tier == Role.LEAF and (role[kept.upper[up]] == Role.LEAF).all():
                continue
            real = wires.rate[wires.upper == switch].sum() / wires.rate[wires.lower == switch].sum()
            rates[up] = rates[below].sum() / real / len(up)
    sideways = np.flatnonzero(rates == 0)
    if len(sideways):
        # Leaves that are linked with each other: each link has its part of what both ends would spend on it.
        for row in sideways.tolist():
            ends = [kept.lower[row], kept.upper[row]]
            rates[row] = min(_sideways_rate(wires, kept, rates, hosts, int(end)) for end in ends)
    return rates


def _sideways_rate(
    wires: _Wires, kept: _Wires, rates: NDArray[np.float64], hosts: NDArray[np.bool_], switch: int
) -> float:
    beside = ~wires.to_host & ((wires.lower == switch) | (wires.upper == switch))
    real = wires.rate[wires.to_host & (wires.upper == switch)].sum() / wires.rate[beside].sum()
    links = int((~hosts & ((kept.lower == switch) | (kept.upper == switch))).sum())
    below = float(rates[hosts & (kept.upper == switch)].sum())
    return below / real / links if real else float(rates[hosts].max())


def _small_cluster(
    cluster: Cluster, fabric: int, links: NDArray[np.int64], rates: NDArray[np.float64]
) -> Cluster:
    order = np.argsort(links)
    links, rates = links[order], rates[order]
    port_rows = np.unique(np.concatenate([cluster.links.port_a[links], cluster.links.port_b[links]]))
    device_rows = np.unique(cluster.ports.device[port_rows])
    new_device = np.full(len(cluster.devices), -1, np.int32)
    new_device[device_rows] = np.arange(len(device_rows), dtype=np.int32)
    new_port = np.full(len(cluster.ports), -1, np.int32)
    new_port[port_rows] = np.arange(len(port_rows), dtype=np.int32)
    ports = _taken(cluster.ports, port_rows)
    ends = np.concatenate([new_port[cluster.links.port_a[links]], new_port[cluster.links.port_b[links]]])
    own_rate = np.zeros(len(port_rows))
    own_rate[ends] = np.tile(rates, 2)
    hosts = np.flatnonzero(np.isin(cluster.gpus.host, device_rows))
    used = np.bincount(new_device[cluster.ports.device[port_rows]], minlength=len(device_rows))
    hosts = hosts[cluster.gpus.local[hosts] < used[new_device[cluster.gpus.host[hosts]]]]
    empty = np.empty(0, np.int32)
    return Cluster(
        name=cluster.name,
        parts=cluster.parts,
        fabrics=(cluster.fabrics[fabric],),
        devices=replace(
            _taken(cluster.devices, device_rows),
            fabric=np.where(cluster.devices.fabric[device_rows] < 0, -1, 0).astype(np.int16),
            names=tuple(device_names(cluster, device_rows).tolist()),
        ),
        ports=replace(
            ports,
            device=new_device[ports.device],
            bytes_per_s=own_rate,
            fabric=np.zeros(len(port_rows), np.int16),
            names=tuple(routed_interfaces(cluster)[port_rows].tolist()),
        ),
        links=Links(
            port_a=new_port[cluster.links.port_a[links]],
            port_b=new_port[cluster.links.port_b[links]],
            bytes_per_s=rates,
            assembly=np.arange(len(links), dtype=np.int32),
        ),
        assemblies=Assemblies(np.full(len(links), -1, np.int32), np.full(len(links), np.nan)),
        modules=Modules(empty, empty.astype(np.int16), empty),
        gpus=Gpus(
            new_device[cluster.gpus.host[hosts]], cluster.gpus.local[hosts], cluster.gpus.domain[hosts]
        ),
    )


_Table = TypeVar("_Table", Devices, Ports)


def _taken(table: _Table, rows: NDArray[Any]) -> _Table:
    """Return the rows of a table of devices or ports."""
    columns: dict[str, Any] = {}
    for name in table.__dataclass_fields__:
        column = getattr(table, name)
        if isinstance(column, tuple):
            columns[name] = tuple(column[row] for row in rows.tolist())
        elif column is not None:
            columns[name] = column[rows]
    return type(table)(**columns)


def _rules(cluster: Cluster, wires: _Wires, small: Cluster, limits: ScaleLimits) -> list[str]:
    large_ends = np.unique(np.concatenate([wires.lower, wires.upper]))
    found = []
    for role, word in ((Role.SERVER, "server"), (Role.LEAF, "leaf"), (Role.SPINE, "spine"), (Role.CORE, "core")):  # fmt: skip
        before = int((cluster.devices.role[large_ends] == role).sum())
        after = int((small.devices.role == role).sum())
        if before:
            plural = "leaves" if word == "leaf" else ""
            found.append(f"{after:,} of {counted(before, word, plural)} kept")
    found.append(
        f"{len(small.links):,} of {counted(len(wires.link), 'link')} kept: one of parallel links, one of a server to a leaf"
    )
    fast = format_gbps(float(wires.rate[wires.to_host].max()))
    found.append(
        f"{fast} of a server become {format_gbps(limits.host_bytes_per_s)}; links above keep the oversubscription of their switch"
    )
    return found
