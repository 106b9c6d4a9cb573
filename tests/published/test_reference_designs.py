"""Published reference designs come out of the wiring: leaf, spine, core, links and tiers as printed."""

from __future__ import annotations

import importlib.util
import tomllib
from pathlib import Path

import numpy as np
import pytest

from gpufabric.catalog.load import load_catalog
from gpufabric.formats.cluster_yaml import parse_cluster_spec
from gpufabric.graphs.bisection import injection_bytes_per_s
from gpufabric.records.cluster import MANAGEMENT_CAGE, Cluster, DeviceKind, Role
from gpufabric.records.tiers import link_fabrics
from gpufabric.report.fabric_counts import link_counts, switch_counts, tier_counts
from gpufabric.rules import RULES
from gpufabric.topologies import build_cluster, resolve_parts, with_cables

HERE = Path(__file__).parent
DESIGNS = tomllib.loads((HERE / "reference_designs.toml").read_text(encoding="utf-8"))["design"]
FURTHER = tomllib.loads((HERE / "further_designs.toml").read_text(encoding="utf-8"))["design"]
WIRED = [*DESIGNS, *(design for design in FURTHER if "spec" in design)]
LARGE = 50_000
CONVERSIONS = {
    # the printed column counts the links to the fabric managers with those to the servers
    "managers-counted": lambda found: {**found, "server_leaf": found["server_leaf"] + found["other"]},
    # the printed columns count 800G cables, each of which carries two 400G links
    "two-links-a-cable": lambda found: {
        **found,
        "server_leaf": found["server_leaf"] // 2,
        "leaf_spine": found["leaf_spine"] // 2,
    },
    # the printed columns count cages and copper cables, each of which carries two links
    "two-links-a-cage": lambda found: {
        **found,
        "server_leaf": found["server_leaf"] // 2,
        "leaf_leaf": found["leaf_leaf"] // 2,
    },
    # these name an input that is not the default: no count is converted
    "mixed-speeds": lambda found: found,
    "ports-given": lambda found: found,
    "endpoints-given": lambda found: found,
}


def counted(cluster: Cluster, fabric: int) -> dict[str, float]:
    """Count what the tables print, from the wiring."""
    roles = cluster.devices.role
    leaf = next(t for t in tier_counts(cluster, fabric) if t.role == "leaf")
    switches = switch_counts(cluster, fabric)
    return {
        "gpus": len(cluster.gpus),
        "servers": int((roles == Role.SERVER).sum()),
        "tiers": cluster.fabrics[fabric].tiers,
        "planes": cluster.fabrics[fabric].planes,
        "switches": sum(switches.values()),
        **switches,
        **link_counts(cluster, fabric),
        "oversubscription": leaf.oversubscription,
    }


@pytest.mark.parametrize(
    "design",
    [
        pytest.param(d, id=d["id"], marks=pytest.mark.slow if d["printed"].get("gpus", 0) > LARGE else ())
        for d in WIRED
    ],
)
def test_the_wiring_has_the_printed_counts(design):
    catalog = load_catalog(HERE / "parts")
    spec = parse_cluster_spec(design["spec"], design["id"])
    cluster = build_cluster(spec, catalog)
    names = [fabric.name for fabric in cluster.fabrics]
    fabric = names.index(design.get("fabric", names[0]))
    found = counted(cluster, fabric)
    if "conversion" in design:
        found = CONVERSIONS[design["conversion"]](found)
    printed = dict(design["printed"])
    # a leaf whose uplinks wait for the next tier has its ratio in its reserved ports, not in links
    if printed.get("tiers") == 1 and "oversubscription" in printed:
        ratio = printed.pop("oversubscription")
        ports = cluster.ports
        leaf = ports.device == ports.device[cluster.links.port_b[0]]
        down = ports.bytes_per_s[leaf & ~ports.reserved].sum()
        up = ports.bytes_per_s[
            leaf & ports.reserved & (ports.bytes_per_s > ports.bytes_per_s[leaf].min())
        ].sum()
        assert down / up == pytest.approx(ratio, rel=1e-3)  # printed with three decimals
    assert {key: found[key] for key in printed} == printed
    parts = with_cables(resolve_parts(spec, catalog), cluster, catalog)
    serious = [f for check in RULES.values() for f in check(cluster, parts, spec) if f.severity != "info"]
    assert serious == []
    mine = (cluster.devices.role[cluster.link_device_a] == Role.SERVER) & (link_fabrics(cluster) == fabric)
    assert injection_bytes_per_s(cluster, fabric) == pytest.approx(np.sum(cluster.links.bytes_per_s[mine]))


def test_every_row_says_how_far_rules_reach():
    assert {design["reproduce"] for design in DESIGNS} == {"exact", "convention"}
    assert all(("conversion" in d) == (d["reproduce"] == "convention") for d in DESIGNS)
    assert {design["reach"] for design in FURTHER} == {"built", "differs", "not asked"}
    assert all("spec" in design for design in FURTHER if design["reach"] == "built")
    assert all("spec" not in design for design in FURTHER if design["reach"] == "not asked")
    assert all(design["why"] for design in FURTHER)
    ids = [design["id"] for design in (*DESIGNS, *FURTHER)]
    assert len(ids) == len(set(ids))


def test_the_page_of_published_designs_is_current():
    root = HERE.parents[1]
    path = root / "scripts" / "write_published_designs.py"
    spec = importlib.util.spec_from_file_location("write_published_designs", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    written = (root / "docs" / "reference" / "published-designs.md").read_text(encoding="utf-8")
    assert written == module.published_designs(), "run scripts/write_published_designs.py"


def parts_used(cluster: Cluster, column: np.ndarray) -> dict[str, int]:
    """Count the rows of a column of parts by part."""
    used = zip(*np.unique(column[column >= 0], return_counts=True), strict=True)
    return {cluster.parts[part]: int(count) for part, count in used}


def test_the_superpod_bill_of_materials_has_the_published_totals():
    """RA-11333-001 V11 (DGX H100, four units), Table 8: 2,040 fibres, 1,536 switch and 508 server transceivers."""
    design = next(d for d in DESIGNS if d["id"] == "dgx-h100-sp-4su")
    cluster = build_cluster(parse_cluster_spec(design["spec"], "h100"), load_catalog())
    assert parts_used(cluster, cluster.assemblies.part) == {"mfp7e10": 2040}
    assert parts_used(cluster, cluster.modules.part) == {"mma4z00-ns": 1536, "mma4z00-ns-flt": 508}


def test_the_basepod_bill_of_materials_has_the_published_totals():
    """RA-11127-001 V5, Table 4.2, 8 servers: 32 transceivers on each side, 16 copper cables between the switches."""
    design = next(d for d in FURTHER if d["id"] == "dgx-basepod-8")
    cluster = build_cluster(parse_cluster_spec(design["spec"], "basepod"), load_catalog())
    assert parts_used(cluster, cluster.modules.part) == {"mma4z00-ns": 32, "mma4z00-ns-flt": 32}
    assert parts_used(cluster, cluster.assemblies.part)["mcp4y10"] == 16


STORAGE = """
servers: {model: dgx-h100, count: 127, fabrics: {storage: [mlx5_7, mlx5_1]}}
fabrics:
  - {name: storage, topology: leaf-spine, switch: qm9700, leaf: LEAF, spine: {count: 4}, managers: {count: 2, links: 2}}
"""


def test_the_storage_fabric_has_the_published_links_only_with_unequal_groups():
    """RA-11333-001 V11, Table 8: 2 · 127 + 240 cables, (254 + 4 + 2 · 240) / 2 = 369 switch transceivers.

    240 uplinks of 8 leaves are 30 each, and 30 is no multiple of 4 spines. A subnet manager's fat-tree routing needs equal
    groups, so the preset has 28 each. The part of the managers is unknown, so their four ports have no transceivers here.
    """
    text = STORAGE.replace("LEAF", "{ports_down: 34, ports_up: 30}")
    spec = parse_cluster_spec(text, "storage")
    catalog = load_catalog()
    cluster = build_cluster(spec, catalog)
    found = counted(cluster, 0)
    assert (found["leaf"], found["spine"], found["server_leaf"], found["leaf_spine"], found["other"]) == (
        8,
        4,
        254,
        240,
        4,
    )
    assert parts_used(cluster, cluster.modules.part)["mma4z00-ns"] == 369 - 4 // 2
    findings = RULES["equal-groups"](cluster, resolve_parts(spec, catalog), spec)
    assert [finding.severity for finding in findings] == ["error"]


def test_the_full_superpod_has_the_published_management_links():
    """RA-11333-001 V11, Tables 7 and 8: 127 servers, 8 management and UFM nodes, switches and 108 PDUs; 16 uplinks."""
    spec = parse_cluster_spec("preset: superpod-h100-full", "full")
    cluster = build_cluster(spec, load_catalog())
    index = [fabric.name for fabric in cluster.fabrics].index("out-of-band")
    mine = link_fabrics(cluster) == index
    managed = cluster.ports.cage[cluster.links.port_a] == MANAGEMENT_CAGE
    kinds = cluster.devices.kind[cluster.link_device_a]
    count = {kind: int((mine & managed & (kinds == kind)).sum()) for kind in range(5)}
    assert count == {
        DeviceKind.SERVER: 127,
        DeviceKind.SWITCH: 32 + 16 + 8 + 4 + 6 + 2,
        DeviceKind.MANAGER: 8,
        DeviceKind.STORAGE: 0,
        DeviceKind.PDU: 108,
    }
    uplinks = mine & ~managed
    assert uplinks.sum() == 16
    leaves = np.stack([cluster.link_device_a[uplinks], cluster.link_device_b[uplinks]])
    assert (np.unique(leaves[0], return_counts=True)[1] == 2).all()
    assert np.unique(leaves, axis=1).shape[1] == 16  # the two uplinks of a switch end on different switches
