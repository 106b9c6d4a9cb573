"""htsim's fat tree (``.topo``) ↔ its tiers, with the checks that htsim itself makes before it builds.

Header: Nodes, Tiers (2 or 3), Podsize. Then for each tier from 0: its number, Downlink_speed_Gbps, Radix_Down, Radix_Up (not on
top), Downlink_Latency_ns and, where other than their defaults, Switch_Latency_ns, Oversubscribed, Bundle. Source:
fat_tree_topology.cpp of https://github.com/Broadcom/csg-htsim, read 2026-12-01.
"""

from __future__ import annotations

from pathlib import Path
from typing import BinaryIO

from gpufabric.errors import InputError
from gpufabric.formats.strict_lines import WordLine, word_lines
from gpufabric.records.simulator_inputs import HtsimTier, HtsimTopology
from gpufabric.units import from_gbps, from_nanoseconds, gbps, nanoseconds

_HEAD = ("nodes", "tiers", "podsize")
_NEEDED = ("downlink_speed_gbps", "radix_down", "downlink_latency_ns")
_DEFAULTS = {"radix_up": 0, "switch_latency_ns": 0, "oversubscribed": 1, "bundle": 1}
#: Ports that htsim allows a switch of each tier.
MOST_PORTS = (96, 64, 64)


def write(topology: HtsimTopology, comment: str = "") -> str:
    """Return the file of a fat tree; rates are whole Gb/s, latencies whole nanoseconds of 1 or more."""
    lines = [f"# {comment}"] if comment else []
    lines += [f"Nodes {topology.nodes}", f"Tiers {len(topology.tiers)}", f"Podsize {topology.pod_nodes}"]
    for number, tier in enumerate(topology.tiers):
        lines += [
            "",
            f"Tier {number}",
            f"Downlink_speed_Gbps {round(gbps(tier.bytes_per_s))}",
            f"Radix_Down {tier.radix_down}",
        ]
        lines += [f"Radix_Up {tier.radix_up}"] if tier.radix_up else []
        lines += [f"Downlink_Latency_ns {max(round(nanoseconds(tier.latency_s)), 1)}"]
        lines += [
            f"Switch_Latency_ns {round(nanoseconds(tier.switch_latency_s))}",
            f"Oversubscribed {tier.oversubscribed}",
        ]
        lines += [f"Bundle {tier.bundle}"]
    return "\n".join(lines) + "\n"


def read(source: str | Path | BinaryIO, name: str = "") -> HtsimTopology:
    """Read such a file and check it as htsim does.

    Raises
    ------
    InputError
        For a key that htsim would silently leave out, a value that is missing or given twice, or a tree that it can't build.
    """
    head: dict[str, int] = {}
    tiers: list[dict[str, int]] = []
    line = WordLine(name or "htsim", ())
    for line in word_lines(source, name):
        key = line.words[0].lower()
        if len(line.words) != 2:
            line.refuse("is not a key and a number", "write one key and one whole number a line")
        if key == "tier":
            if line.whole(1) != len(tiers):
                line.refuse("tiers are out of order", f"tier {len(tiers)} comes next")
            tiers.append({})
            continue
        into, allowed = (tiers[-1], (*_NEEDED, *_DEFAULTS)) if tiers else (head, _HEAD)
        if key not in allowed or key in into:
            line.refuse("is no key of this place, or given twice", f"allowed are {', '.join(allowed)}")
        into[key] = line.whole(1)
    missing = [key for key in _HEAD if key not in head]
    missing += [key for tier in tiers for key in _NEEDED if not tier.get(key)]
    if missing or len(tiers) != head.get("tiers"):
        raise InputError(
            f"{line.where}: {missing[0] if missing else 'a tier'} is missing; write it with a number above 0"
        )
    found = HtsimTopology(head["nodes"], head["podsize"], tuple(map(_tier, tiers)))
    wrong = why_unbuildable(found)
    if wrong:
        raise InputError(f"{line.where}: htsim can't build it ({wrong}); make the counts fit")
    return found


def _tier(given: dict[str, int]) -> HtsimTier:
    values = _DEFAULTS | given
    return HtsimTier(
        bytes_per_s=from_gbps(values["downlink_speed_gbps"]),
        radix_down=values["radix_down"],
        radix_up=values["radix_up"],
        oversubscribed=values["oversubscribed"],
        bundle=values["bundle"],
        latency_s=from_nanoseconds(values["downlink_latency_ns"]),
        switch_latency_s=from_nanoseconds(values["switch_latency_ns"]),
    )


def why_unbuildable(topology: HtsimTopology) -> str:
    """Return which of htsim's own checks the tree does not pass; empty when it passes all."""
    tiers, nodes, pod = topology.tiers, topology.nodes, topology.pod_nodes
    if not 2 <= len(tiers) <= 3:
        return f"{len(tiers)} tiers; 2 or 3 are possible"
    if any(tier.radix_up < 1 for tier in tiers[:-1]) or tiers[-1].radix_up:
        return "every tier but the highest needs Radix_Up"
    for number, tier in enumerate(tiers):
        above = tiers[number + 1].bundle if number + 1 < len(tiers) else 1
        if (
            tier.bundle < 1
            or tier.oversubscribed < 1
            or tier.radix_down % tier.bundle
            or tier.radix_up % above
        ):
            return f"tier {number}: its radix is no multiple of the bundle"
        if tier.radix_down + tier.radix_up > MOST_PORTS[number]:
            return f"tier {number}: {tier.radix_down + tier.radix_up} ports on a switch; htsim allows {MOST_PORTS[number]}"
    if not pod or nodes % pod or pod % tiers[0].radix_down or tiers[0].bundle != 1:
        return f"{nodes} nodes are not whole pods of {pod} with {tiers[0].radix_down} nodes a switch and one link a node"
    return _why_uplinks_differ(topology)


def _why_uplinks_differ(topology: HtsimTopology) -> str:
    tiers, pods = topology.tiers, topology.nodes // topology.pod_nodes
    low, middle = tiers[0], tiers[1]
    uplinks, rest = divmod(
        round(topology.nodes * low.bytes_per_s), round(middle.bytes_per_s * low.oversubscribed)
    )
    if rest or low.radix_down // low.radix_up != low.oversubscribed:
        return f"tier 0: {low.radix_down} links down and {low.radix_up} up do not fit oversubscription {low.oversubscribed}"
    switches, rest = divmod(uplinks, pods * middle.radix_down)
    if rest or switches * middle.bundle != low.radix_up:
        return f"tier 1: {uplinks} uplinks do not fill switches of {middle.radix_down} ports, {low.radix_up} a switch below"
    if len(tiers) == 2:
        return "" if pods == 1 else "two tiers are one pod; Podsize must be Nodes"
    up, rest = divmod(
        round(uplinks * middle.bytes_per_s), round(tiers[2].bytes_per_s * middle.oversubscribed)
    )
    cores, left = divmod(up, tiers[2].radix_down)
    if rest or left or cores % switches or cores * tiers[2].bundle // switches != middle.radix_up:
        return f"tier 2: {up} uplinks do not fill switches of {tiers[2].radix_down} ports, {middle.radix_up} a switch below"
    return ""
