"""Thousands of equal findings become a list that can be read, and none is lost from the count."""

from dataclasses import replace

import numpy as np
import pytest

from gpufabric.catalog.load import load_catalog
from gpufabric.formats.cluster_yaml import parse_cluster_spec
from gpufabric.jobs.design import design
from gpufabric.records import labels
from gpufabric.records.cluster import MANAGEMENT_CAGE
from gpufabric.records.findings import Finding
from gpufabric.rules import RULES, fold_alike
from gpufabric.topologies import build_cluster, resolve_parts

SPEC = parse_cluster_spec(
    "servers: {model: dgx-h100, count: 40}\nfabrics: {topology: rail-optimized, switch: qm9790}\n", "test"
)


def finding(place: int, message: str = "too hot") -> Finding:
    return Finding("some-rule", "error", f"leaf-{place}", message, found=f"{place} K", fix="cool it")


def test_the_first_are_shown_and_the_rest_counted():
    folded = fold_alike.fold_alike([finding(place) for place in range(1020)])
    assert [f.where for f in folded[:20]] == [f"leaf-{place}" for place in range(20)]
    assert (folded[20].where, folded[20].message) == ("1,000 more places", "too hot, and 1,000 more like it")
    assert (folded[20].rule, folded[20].severity, folded[20].fix) == ("some-rule", "error", "cool it")
    assert len(folded) == 21


def test_kinds_are_counted_apart_and_stay_in_order():
    mixed = [f for place in range(21) for f in (finding(place), finding(place, "too cold"))]
    folded = fold_alike.fold_alike(mixed)
    assert folded[:40] == mixed[:40]
    assert [f.message for f in folded[40:]] == ["too hot, and 1 more like it", "too cold, and 1 more like it"]


def test_few_stay_as_they_are():
    few = [finding(place) for place in range(20)]
    assert fold_alike.fold_alike(few) == few


@pytest.mark.parametrize("rule", ["rate-fits-cage", "nic-on-its-rail", "port-used-once"])
def test_names_of_all_devices_are_worked_out_once_for_many_ports(rule: str, monkeypatch: pytest.MonkeyPatch):
    catalog = load_catalog()
    cluster = build_cluster(SPEC, catalog)
    ports = cluster.ports
    on_fabric = ports.cage != MANAGEMENT_CAGE
    wrong = replace(
        ports,
        lanes_in_cage=np.where(on_fabric, 3, ports.lanes_in_cage).astype(ports.lanes_in_cage.dtype),
        rail=np.where(ports.rail >= 0, (ports.rail + 1) % 8, ports.rail).astype(ports.rail.dtype),
        reserved=np.ones(len(ports), np.bool_),
    )
    worked_out = []
    real = labels.device_names
    monkeypatch.setattr(labels, "device_names", lambda *given: worked_out.append(1) or real(*given))
    found = RULES[rule](replace(cluster, ports=wrong), resolve_parts(SPEC, catalog), SPEC)
    assert len(found) > 300
    assert len(worked_out) <= 5


def test_a_design_shows_a_fault_of_every_port_in_a_short_list(monkeypatch: pytest.MonkeyPatch):
    rules = {"some-rule": lambda *_: [finding(place) for place in range(50)]}
    monkeypatch.setattr("gpufabric.jobs.design.RULES", rules)
    found = [f.message for f in design(SPEC).findings if f.rule == "some-rule"]
    assert found == ["too hot"] * 20 + ["too hot, and 30 more like it"]
