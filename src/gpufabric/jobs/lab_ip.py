"""Rehearse an Ethernet fabric on real FRRouting in network namespaces and check what it does: ``gpufabric lab ip``."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from gpufabric.errors import InputError, did_you_mean, printable
from gpufabric.jobs.lab_ip_checks import LabCheck, LabNetwork, check_network
from gpufabric.jobs.load_parts import catalog_for
from gpufabric.lab.host_networks import laid_network
from gpufabric.lab.scale_down import ScaledFabric, ScaleLimits, scale_down
from gpufabric.records.cluster import Cluster, Role
from gpufabric.records.cluster_spec import ClusterSpec
from gpufabric.records.findings import Finding
from gpufabric.topologies import build_cluster, resolve_parts


@dataclass(frozen=True, slots=True)
class LabIpOptions:
    """What to rehearse.

    ``fabric`` is the name of one, None the first Ethernet one; ``plane`` counts its routing domains from 1. ``limits`` say how
    much of it is kept; ``numbered`` and ``bfd`` are the options of ``gpufabric export --to frr``.
    """

    fabric: str | None = None
    plane: int = 1
    limits: ScaleLimits = field(default_factory=ScaleLimits)
    numbered: bool = False
    bfd: bool = False


@dataclass(frozen=True, slots=True)
class LabIpResult:
    """What the network did; the field names are those of the JSON output."""

    cluster: str
    fabric: str
    plane: int
    planes: int
    links: str
    bfd: bool
    scale: tuple[str, ...]
    devices: dict[str, int]
    checks: tuple[LabCheck, ...]
    findings: tuple[Finding, ...]
    assumptions: tuple[str, ...] = (
        "processors forward packets one by one: times of convergence are those of daemons, not of switches",
        "PFC, ECN and buffers of switches are not rehearsed",
    )

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain JSON values."""
        return asdict(self)


def lab_ip(spec: ClusterSpec, options: LabIpOptions | None = None) -> LabIpResult:
    """Wire the cluster, lay a small part of one plane as namespaces with FRRouting, and check its routing.

    Parameters
    ----------
    spec
    options

    Raises
    ------
    InputError
        If something asked for does not exist, we are not root, or a program is missing, fails or takes too long.
    UnbuildableError
        If the cluster can't be built.
    """
    options = options or LabIpOptions()
    scaled = scaled_fabric(spec, options)
    with laid_network(scaled, options.numbered, options.bfd) as net:
        checks, findings = check_network(LabNetwork.of(net, options.bfd))
    return LabIpResult(
        cluster=scaled.cluster.name,
        fabric=scaled.fabric,
        plane=scaled.domain,
        planes=scaled.domains,
        links="numbered" if options.numbered else "unnumbered",
        bfd=options.bfd,
        scale=scaled.rules,
        devices={
            word: len(scaled.rows(role))
            for word, role in (
                ("servers", Role.SERVER),
                ("leaves", Role.LEAF),
                ("spines", Role.SPINE),
                ("cores", Role.CORE),
            )
        },
        checks=checks,
        findings=findings,
    )


def scaled_fabric(spec: ClusterSpec, options: LabIpOptions) -> ScaledFabric:
    """Return the small fabric that is laid for a description.

    Raises
    ------
    InputError
        If something asked for does not exist, or is not Ethernet.
    UnbuildableError
        If the cluster can't be built.
    """
    catalog = catalog_for(spec)
    cluster, parts = build_cluster(spec, catalog), resolve_parts(spec, catalog)
    return scale_down(cluster, parts, ethernet_fabric(cluster, options.fabric), options.plane, options.limits)


def ethernet_fabric(cluster: Cluster, name: str | None) -> int:
    """Return the index of the fabric of that name, or of the first Ethernet one.

    Raises
    ------
    InputError
        If there is none, or it is not Ethernet.
    """
    names = [fabric.name for fabric in cluster.fabrics]
    if name is not None and name not in names:
        raise InputError(
            f'fabric "{printable(name)}" is not in the cluster; it has {", ".join(names)}.{did_you_mean(name, names)}'
        )
    fine = [index for index, fabric in enumerate(cluster.fabrics) if fabric.network == "ethernet"]
    wanted = names.index(name) if name is not None else (fine[0] if fine else 0)
    if wanted not in fine:
        raise InputError(
            f"fabric {printable(names[wanted])}: FRRouting routes Ethernet ({printable(cluster.fabrics[wanted].network)} found); "
            "rehearse InfiniBand with gpufabric lab ib, or choose another fabric with --fabric"
        )
    return wanted
