"""Fabrics to choose from → one row each, counted from its wiring, or the reason why it can't be wired: ``gpufabric compare``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from gpufabric.catalog.load import load_catalog
from gpufabric.errors import InputError, UnbuildableError
from gpufabric.formats.cluster_yaml import resolve_spec
from gpufabric.graphs.bisection import bisection_bytes_per_s, injection_bytes_per_s
from gpufabric.graphs.hops import fabric_reach
from gpufabric.jobs.alternatives import Alternative, CompareRequest, classic_alternatives
from gpufabric.jobs.cluster_changes import ClusterChanges, cluster_changes
from gpufabric.jobs.load_parts import catalog_for
from gpufabric.jobs.port_arithmetic import PortFloor
from gpufabric.jobs.racked_cluster import racked_cluster
from gpufabric.records.cluster import Cluster, DeviceKind, Role
from gpufabric.records.cluster_spec import ClusterSpec
from gpufabric.records.part_set import PartSet
from gpufabric.records.tiers import link_fabrics
from gpufabric.report.bill_of_materials import bill_of_materials
from gpufabric.report.fabric_counts import link_counts, switch_counts

Progress = Callable[[str], AbstractContextManager[None]]
ASSUMPTIONS = (
    "counts are of the first fabric and over all its planes, from the wiring; power and price are of switches, cables and "
    "transceivers, without servers",
    "floors are arithmetic: ports divided by ports at 1:1, with no regard to equal groups; nothing of them is wired",
    "hops are switches on a shortest way from server to server; latency is one way over cables and switches, without NICs",
    "latency: cables as long as the floor plan makes them, switches of unpublished latency take 0.45 µs (InfiniBand) "
    "or 1 µs (Ethernet)",
)


@dataclass(frozen=True, slots=True)
class WiredFigures:
    """What was counted on a wired fabric; None is unknown.

    ``power_w`` and ``price_usd`` are lower bounds where parts are unknown. ``near_gpus`` are the GPUs within the near hops.
    """

    gpus: int
    servers: int
    ports_per_gpu: float
    planes: int
    tiers: int
    switches: dict[str, int]
    links: dict[str, int]
    cables: int
    cable_length_m: float | None
    cables_of_unknown_length: int
    near_hops: int | None
    far_hops: int | None
    near_latency_s: float | None
    far_latency_s: float | None
    near_gpus: int | None
    unreached_servers: int
    injection_bytes_per_s: float
    bisection_bytes_per_s: float | None
    power_w: float | None
    unknown_power_parts: int
    parts_of_unknown_power: tuple[str, ...]
    parts_of_typical_power: tuple[str, ...]
    price_usd: float | None
    unknown_price_parts: int


@dataclass(frozen=True, slots=True)
class CompareRow:
    """One alternative: its figures where it can be built, else the reason and the nearest that can."""

    name: str
    topology: str
    buildable: bool
    reason: str = ""
    nearest: str = ""
    wired: WiredFigures | None = None
    floor: PortFloor | None = None
    assumptions: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the row as plain JSON values; the figures of a fabric that can't be built are null."""
        figures = dict.fromkeys(WiredFigures.__dataclass_fields__) | (
            {} if self.wired is None else asdict(self.wired)
        )
        return {
            "name": self.name,
            "topology": self.topology,
            "buildable": self.buildable,
            "reason": self.reason or None,
            "nearest": self.nearest or None,
            **figures,
            "floor": None if self.floor is None else self.floor.to_dict(),
        }


@dataclass(frozen=True, slots=True)
class Comparison:
    """Alternatives side by side, in the order given."""

    rows: tuple[CompareRow, ...]
    changes: ClusterChanges | None = None

    @property
    def all_buildable(self) -> bool:
        """Whether every alternative can be wired."""
        return all(row.buildable for row in self.rows)

    def to_dict(self) -> dict[str, Any]:
        """Return the comparison as plain JSON values."""
        unknown = sorted(
            {part for row in self.rows if row.wired for part in row.wired.parts_of_unknown_power}
        )
        typical = sorted(
            {part for row in self.rows if row.wired for part in row.wired.parts_of_typical_power}
        )
        left_out = [
            *(f"typical power of {part}; its largest is not published" for part in typical),
            *(
                [f"power is a lower bound without that of {', '.join(unknown)}, which no source gives"]
                if unknown
                else []
            ),
        ]
        return {
            "rows": [row.to_dict() for row in self.rows],
            "changes": None if self.changes is None else self.changes.to_dict(),
            "assumptions": [*ASSUMPTIONS, *left_out, *self._assumed_of_rows()],
        }

    def _assumed_of_rows(self) -> list[str]:
        """Return what is assumed of some alternatives only: each with the names of these, if it isn't said of all."""
        rows_of: dict[str, list[str]] = {}
        for row in self.rows:
            for text in row.assumptions:
                rows_of.setdefault(text, []).append(row.name)
        return [
            text if len(names) == len(self.rows) else f"{', '.join(names)}: {text}"
            for text, names in rows_of.items()
        ]


def compare(
    alternatives: Sequence[Alternative], progress: Progress = lambda text: nullcontext()
) -> Comparison:
    """Wire each alternative and count what it takes.

    Parameters
    ----------
    alternatives
    progress
        Called with what is being done; the work runs inside of what it returns.

    Raises
    ------
    SpecError, PartError
        If a description names what does not exist. A fabric that can't be wired is a row.
    """
    rows = []
    for alternative in alternatives:
        with progress(f"wiring {alternative.name}"):
            rows.append(_row(alternative))
    return Comparison(tuple(rows))


def with_changes(comparison: Comparison, old: ClusterSpec, new: ClusterSpec) -> Comparison:
    """Return *comparison* with what changes from one wiring of a cluster to the next.

    Raises
    ------
    UnbuildableError
        If one of the two can't be wired.
    """
    catalog = catalog_for(new)
    was, now = racked_cluster(old, catalog_for(old)), racked_cluster(new, catalog)
    plans = (was.floor_plan, now.floor_plan)
    return replace(comparison, changes=cluster_changes(was.cluster, now.cluster, now.parts, plans))


def chosen_alternatives(arguments: Sequence[str], request: CompareRequest) -> list[Alternative]:
    """Return what is to be compared: the descriptions that were named, or else the classic fabrics for a number of GPUs.

    Raises
    ------
    InputError, PartError
        If both or neither are given, or one of them can't be used.
    """
    if request.gpus is None:
        if request.server or request.nic_rate or request.switch:
            raise InputError(
                "compare: --server, --nic-rate and --switch are for --gpus N; add it or leave them out"
            )
        return described_alternatives(arguments)
    if arguments:
        raise InputError(
            "compare: descriptions and --gpus are both given; allowed is one of them; leave one out"
        )
    return classic_alternatives(request, request.gpus, load_catalog())


def described_alternatives(arguments: Sequence[str]) -> list[Alternative]:
    """Return the descriptions that SPEC arguments mean, named by their clusters, or as written where two have one name.

    Raises
    ------
    InputError
        If there are fewer than two, or one can't be read.
    """
    if len(arguments) < 2:
        raise InputError(
            f"compare: at least two descriptions are needed ({len(arguments)} given); "
            "name another, or write --gpus N for the classic alternatives"
        )
    if list(arguments).count("-") > 1:
        raise InputError("-: standard input can be read once; name files for the others")
    specs = [resolve_spec(argument) for argument in arguments]
    names = [spec.name for spec in specs]
    return [
        Alternative(argument if names.count(spec.name) > 1 else spec.name, spec)
        for argument, spec in zip(arguments, specs, strict=True)
    ]


def _row(alternative: Alternative) -> CompareRow:
    spec = alternative.spec
    topology = spec.fabrics[0].topology
    catalog = catalog_for(spec)
    try:
        racked = racked_cluster(spec, catalog)
    except UnbuildableError as error:
        said = alternative.refusal or error
        return CompareRow(
            alternative.name, topology, False, said.reason, said.nearest, floor=alternative.floor
        )
    wired = wired_figures(racked.cluster, racked.parts)
    return CompareRow(
        alternative.name,
        topology,
        True,
        wired=wired,
        floor=alternative.floor,
        assumptions=racked.assumptions,
    )


def wired_figures(cluster: Cluster, parts: PartSet, fabric: int = 0) -> WiredFigures:
    """Return what one fabric of a wired cluster takes and gives.

    Parameters
    ----------
    cluster
    parts
        With the cables of the cluster.
    fabric : int
        Index into ``cluster.fabrics``.
    """
    inside = np.flatnonzero(link_fabrics(cluster) == fabric)
    bill = bill_of_materials(cluster, parts, fabric)
    length = cluster.assemblies.length_m[np.unique(cluster.links.assembly[inside])]
    known = ~np.isnan(length)
    reach = fabric_reach(cluster, parts, fabric)
    ends = np.concatenate([cluster.link_device_a[inside], cluster.link_device_b[inside]])
    on_servers = np.count_nonzero(
        (cluster.devices.kind[ends] == DeviceKind.SERVER) & (cluster.devices.role[ends] == Role.SERVER)
    )
    return WiredFigures(
        gpus=len(cluster.gpus),
        servers=int(np.count_nonzero(cluster.devices.role == Role.SERVER)),
        ports_per_gpu=on_servers / max(1, len(cluster.gpus)),
        planes=cluster.fabrics[fabric].planes,
        tiers=cluster.fabrics[fabric].tiers,
        switches=switch_counts(cluster, fabric),
        links=link_counts(cluster, fabric),
        cables=len(length),
        cable_length_m=float(length[known].sum()) if known.any() else None,
        cables_of_unknown_length=int(np.count_nonzero(~known)),
        near_hops=reach.near_hops if reach else None,
        far_hops=reach.far_hops if reach else None,
        near_latency_s=reach.near_latency_s if reach else None,
        far_latency_s=reach.far_latency_s if reach else None,
        near_gpus=reach.near_gpus if reach else None,
        unreached_servers=reach.unreached if reach else 0,
        injection_bytes_per_s=injection_bytes_per_s(cluster, fabric),
        bisection_bytes_per_s=bisection_bytes_per_s(cluster, fabric),
        power_w=bill.power_w,
        unknown_power_parts=bill.unknown_power_parts,
        parts_of_unknown_power=tuple(
            sorted(
                {
                    row.part or "cables without a part"
                    for row in bill.rows
                    if row.added_power_w is None and not row.included
                }
            )
        ),
        parts_of_typical_power=tuple(row.part for row in bill.rows if row.part and row.typical_power),
        price_usd=bill.price_usd,
        unknown_price_parts=bill.unknown_price_parts,
    )
