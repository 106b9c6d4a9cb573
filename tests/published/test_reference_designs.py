"""Published reference designs come out of the wiring: leaf, spine, core, links and tiers as printed."""

from __future__ import annotations

import tomllib
from pathlib import Path

import numpy as np
import pytest

from gpufabric.catalog.load import load_catalog
from gpufabric.formats.cluster_yaml import parse_cluster_spec
from gpufabric.graphs.bisection import injection_bytes_per_s
from gpufabric.records.cluster import Cluster, Role
from gpufabric.report.fabric_counts import link_counts, switch_counts, tier_counts
from gpufabric.rules import RULES
from gpufabric.topologies import build_cluster, resolve_parts, with_cables

HERE = Path(__file__).parent
DESIGNS = tomllib.loads((HERE / "reference_designs.toml").read_text(encoding="utf-8"))["design"]
LARGE = 100_000
CONVERSIONS = {
    # the printed column counts the links to the fabric managers with those to the servers
    "managers-counted": lambda found: {**found, "server_leaf": found["server_leaf"] + found["other"]},
    # the printed columns count 800G cables, each of which carries two 400G links
    "two-links-a-cable": lambda found: {
        **found,
        "server_leaf": found["server_leaf"] // 2,
        "leaf_spine": found["leaf_spine"] // 2,
    },
    # these name an input that is not the default: no count is converted
    "mixed-speeds": lambda found: found,
    "ports-given": lambda found: found,
    "endpoints-given": lambda found: found,
}


def counted(cluster: Cluster) -> dict[str, float]:
    """Count what the tables print, from the wiring."""
    roles = cluster.devices.role
    leaf = next(t for t in tier_counts(cluster, 0) if t.role == "leaf")
    return {
        "gpus": len(cluster.gpus),
        "servers": int((roles == Role.SERVER).sum()),
        "tiers": cluster.fabrics[0].tiers,
        **switch_counts(cluster, 0),
        **link_counts(cluster, 0),
        "oversubscription": leaf.oversubscription,
    }


@pytest.mark.parametrize(
    "design",
    [
        pytest.param(d, id=d["id"], marks=pytest.mark.slow if d["printed"]["gpus"] > LARGE else ())
        for d in DESIGNS
    ],
)
def test_the_wiring_has_the_printed_counts(design):
    catalog = load_catalog(HERE / "parts")
    spec = parse_cluster_spec(design["spec"], design["id"])
    cluster = build_cluster(spec, catalog)
    found = counted(cluster)
    if design["reproduce"] == "convention":
        found = CONVERSIONS[design["conversion"]](found)
    printed = dict(design["printed"])
    # a leaf whose uplinks wait for the next tier has its ratio in its reserved ports, not in links
    if printed["tiers"] == 1:
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
    assert injection_bytes_per_s(cluster, 0) == pytest.approx(
        np.sum(cluster.links.bytes_per_s[cluster.devices.role[cluster.link_device_a] == Role.SERVER])
    )


def test_the_superpod_bill_of_materials_has_the_published_totals():
    """RA-11333-001 V11 (DGX H100, four units), Table 8: 2,040 fibres, 1,536 switch and 508 server transceivers."""
    catalog = load_catalog()
    design = next(d for d in DESIGNS if d["id"] == "dgx-h100-sp-4su")
    cluster = build_cluster(parse_cluster_spec(design["spec"], "h100"), catalog)
    modules = {
        cluster.parts[p]: int(n)
        for p, n in zip(*np.unique(cluster.modules.part, return_counts=True), strict=True)
    }
    fibres = {
        cluster.parts[p]: int(n)
        for p, n in zip(*np.unique(cluster.assemblies.part, return_counts=True), strict=True)
        if p >= 0
    }
    assert fibres == {"mfp7e10": 2040}
    assert modules == {"mma4z00-ns": 1536, "mma4z00-ns-flt": 508}
