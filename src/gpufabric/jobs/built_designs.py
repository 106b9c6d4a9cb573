"""A description, a cabling file, both or none → the design to compare a fabric with, and what its costs are predicted on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from gpufabric.errors import InputError, printable
from gpufabric.formats.recognise_fabric import read_fabric
from gpufabric.jobs.check_wiring import WiringDesign
from gpufabric.jobs.cost_of_faults import CostedDesign
from gpufabric.jobs.extra_ports import ExtraPort, add_device, add_ports, with_links
from gpufabric.jobs.found_wiring import lay_over
from gpufabric.jobs.load_parts import catalog_for
from gpufabric.jobs.racked_cluster import racked_cluster
from gpufabric.recognition.infer_design import InferredDesign, infer_design
from gpufabric.recognition.intended_wiring import intended_wiring
from gpufabric.recognition.match_fabric import match_fabric
from gpufabric.recognition.recognise_roles import with_roles
from gpufabric.records.cluster import Assemblies, Cluster, DeviceKind, Gpus, Role
from gpufabric.records.cluster_spec import ClusterSpec
from gpufabric.records.fabric_match import FabricMatch, MatchedBy
from gpufabric.records.found_fabric import FoundFabric
from gpufabric.records.names import device_names

_LEAST_LAID = 0.5


def described_design(spec: ClusterSpec) -> WiringDesign:
    """Return the design of a description, with racks.

    Raises
    ------
    UnbuildableError, PartError, SpecError
        As of the description.
    """
    racked = racked_cluster(spec, catalog_for(spec))
    cluster, names = racked.cluster, racked.floor_plan.racks.names
    racks = {
        device: names[rack]
        for device, rack in zip(device_names(cluster).tolist(), cluster.devices.rack.tolist(), strict=True)
        if rack >= 0
    }
    costed = CostedDesign(cluster, racked.parts, spec) if len(cluster.gpus) else None
    return WiringDesign(cluster, "description", racked.parts, costed, racks)


def designed_by_file(
    path: str, spec: ClusterSpec | None = None, columns: Mapping[str, str] | None = None
) -> WiringDesign:
    """Return the design that a cabling file or an earlier discovery is.

    Parameters
    ----------
    path
    spec
        Of the same cluster: it gives parts and GPUs, so that collectives can be predicted; the file is the wiring.
    columns
        Titles of its columns by field, where their words do not tell.

    Raises
    ------
    InputError
        When the file can't be read, or tells of no wiring.
    UnbuildableError, PartError, SpecError
        As of the description.
    """
    found = read_fabric(path, columns=columns)
    if found is None or not len(found.cluster.links):
        raise InputError(
            f"--design {printable(path)}: is no cabling file (no links found); allowed are cable lists as CSV or XLSX, "
            "ibnetdiscover, iblinkinfo, LLDP, DOT and others; a description is the first argument instead"
        )
    return designed_by(with_roles(found), found, spec, path)


def designed_by(
    cluster: Cluster, found: FoundFabric, spec: ClusterSpec | None = None, path: str = ""
) -> WiringDesign:
    """Return the design that a found fabric is; see :func:`designed_by_file`.

    Raises
    ------
    InputError
        When the description and the file are of different clusters.
    """
    names = cluster.devices.names or ()
    racks = {name: rack for name, rack in zip(names, found.device_rack, strict=False) if rack}
    costed = CostedDesign(with_ports_as_gpus(cluster), None, None)
    if spec is not None:
        costed = _with_parts(replace(found, cluster=cluster), spec, path)
    return WiringDesign(cluster, "cabling file", None, costed, racks)


def with_ports_as_gpus(cluster: Cluster) -> Cluster:
    """Return the cluster with a GPU for each linked port of a server: what halves of it are counted by."""
    ports = np.concatenate([cluster.links.port_a, cluster.links.port_b])
    host = np.sort(cluster.ports.device[ports])
    host = host[cluster.devices.kind[host] == DeviceKind.SERVER].astype(np.int32)
    local = np.arange(len(host)) - np.searchsorted(host, host)
    return replace(cluster, gpus=Gpus(host, local.astype(np.int16), host))


def _with_parts(plan: FoundFabric, spec: ClusterSpec, path: str) -> CostedDesign:
    racked = racked_cluster(spec, catalog_for(spec))
    match = match_fabric(racked.cluster, plan, racked.parts)
    laid = int((match.device >= 0).sum())
    ends = racked.cluster.link_device_a, racked.cluster.link_device_b
    described = len(np.unique(np.concatenate([end[match.in_scope] for end in ends])))
    if laid < _LEAST_LAID * max(len(match.device), described):
        raise InputError(
            f"--design {printable(path)}: is not the cluster of {printable(spec.name)} ({laid:,} of its {len(match.device):,} "
            f"devices are among the {described:,} described); name a description of the same size, or leave it out"
        )
    cluster, port = lay_over(racked.cluster, plan, match)
    return CostedDesign(cluster, racked.parts, spec, match.device.astype(np.int64), port)


@dataclass(frozen=True, slots=True)
class InferredWiring:
    """What a fabric seems to be meant as: the design, how the fabric lies over it, and what is said of it."""

    design: WiringDesign
    match: FabricMatch
    inferred: InferredDesign


def inferred_design(found: FoundFabric) -> InferredWiring:
    """Return the design that a fabric without one seems to have had.

    Findings of ``inferred`` are those that the design leaves unexplained.
    """
    cluster = with_roles(found)
    seen = infer_design(cluster)
    wanted = intended_wiring(cluster, found)
    grown = cluster
    for name, like in wanted.servers:
        grown = add_device(grown, like, name)
    roles = grown.devices.role.copy()
    roles[len(cluster.devices) :] = Role.SERVER
    grown = replace(grown, devices=replace(grown.devices, role=roles))
    fastest = float(np.nanmax(wanted.bytes_per_s, initial=0.0)) or np.nan
    places = [
        ExtraPort(device, row + 1, 1, 1, fastest, name) for row, (device, name) in enumerate(wanted.ports)
    ]
    grown = add_ports(grown, places)
    part_of = {part: row for row, part in enumerate(dict.fromkeys(wanted.parts))}
    assemblies = Assemblies(
        np.array([part_of[part] if part else -1 for part in wanted.parts], np.int32).reshape(-1),
        np.full(len(wanted.parts), np.nan),
    )
    rates = np.where(np.isnan(wanted.bytes_per_s), fastest, wanted.bytes_per_s)
    count = len(wanted.port_a)
    assembly = np.arange(count) if wanted.parts else np.full(count, -1, np.int64)
    rates[: len(cluster.links)] = wanted.bytes_per_s[: len(cluster.links)]
    meant = with_links(grown, (wanted.port_a, wanted.port_b), rates, assembly)
    meant = replace(meant, parts=tuple(part_of), assemblies=assemblies)
    left = infer_design(replace(meant, links=replace(meant.links, where=None)))
    racks = {
        name: rack for name, rack in zip(cluster.devices.names or (), found.device_rack, strict=False) if rack
    }
    design = WiringDesign(meant, "inferred", None, CostedDesign(with_ports_as_gpus(meant), None, None), racks)
    devices = len(cluster.devices)
    match = FabricMatch(
        device=np.arange(devices, dtype=np.int32),
        how=np.full(devices, MatchedBy.NAME, np.int8),
        certainty=np.full(devices, seen.certainty),
        port=np.arange(len(cluster.ports), dtype=np.int32),
        in_scope=np.ones(count, np.bool_),
    )
    return InferredWiring(design, match, replace(seen, findings=left.findings))
