"""The bisection bandwidth of the wiring is what the oversubscription that was asked for leaves of the injection bandwidth."""

from __future__ import annotations

from gpufabric.graphs.bisection import injection_of_links, least_cut_found
from gpufabric.graphs.fabric_links import FabricLinks, fabric_links
from gpufabric.graphs.tier_ratios import worst_ratio
from gpufabric.records.cluster import Cluster
from gpufabric.records.cluster_spec import ClusterSpec, FabricSpec
from gpufabric.records.findings import Finding
from gpufabric.records.part_set import PartSet
from gpufabric.units import format_gbps

RULE = "bisection-as-asked"
_ROUNDING = 1 - 1e-6
_NEARLY = 0.95


def check(cluster: Cluster, parts: PartSet, spec: ClusterSpec) -> list[Finding]:
    """Return a finding for each folded Clos with two halves between which less passes than injection / 2 / oversubscription.

    It is an error where more than 5 % is missing, else a warning.
    """
    del parts
    asked = {fabric.name: fabric for fabric in spec.fabrics}
    findings = []
    for index, fabric in enumerate(cluster.fabrics):
        links = fabric_links(cluster, index)
        if fabric.name not in asked or not links.is_tiered:
            continue
        # A cut that is too small is a fault whether or not there is a smaller one.
        bisection, _ = least_cut_found(links)
        ratio = _asked_ratio(asked[fabric.name], links)
        wanted = injection_of_links(links) / 2 / ratio
        if bisection is not None and bisection < wanted * _ROUNDING:
            findings.append(_finding(fabric.name, ratio, wanted, bisection))
    return findings


def _asked_ratio(spec: FabricSpec, links: FabricLinks) -> float:
    """Return capacity down : capacity up over all tiers together; where ports are given, what they come to is what was asked."""
    ratio = 1.0
    top = int(links.tier[links.upper].max())
    for tier, said in ((1, spec.leaf), (2, spec.spine)):
        if tier < top:
            given = said.ports_up is not None and said.oversubscription is None
            asked = worst_ratio(links, tier) if given else said.oversubscription or spec.oversubscription
            ratio *= max(1.0, asked)
    return ratio


def _finding(fabric: str, ratio: float, wanted: float, found: float) -> Finding:
    return Finding(
        RULE,
        "error" if found < wanted * _NEARLY else "warning",
        f'fabric "{fabric}"',
        "less passes between the two halves of the GPUs than was asked for",
        expected=f"{format_gbps(wanted)}: half of the injection at {ratio:.4g}:1",
        found=f"{format_gbps(found)}, {found / wanted:.1%} of it",
        fix="add or repair links between leaves, spines and cores, or ask for a higher oversubscription",
    )
