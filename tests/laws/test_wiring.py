"""For random descriptions: either one clear refusal, or a fabric in which every wiring rule holds."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import HealthCheck, assume, given, reject, settings
from hypothesis import strategies as st

from gpufabric.catalog.load import load_catalog
from gpufabric.errors import UnbuildableError
from gpufabric.records.cluster import Cluster, DeviceKind, Role
from gpufabric.records.cluster_spec import ClusterSpec
from gpufabric.rules import RULES
from gpufabric.topologies import TOPOLOGIES, build_cluster, resolve_parts, with_cables

CATALOG = load_catalog()
SERVERS = st.sampled_from(
    ["dgx-a100", "dgx-h100", "dgx-b200", "dgx-b300-xdr", "dgx-b300-spectrum", "hgx-mi300x"]
)
SWITCHES = st.sampled_from(["qm8790", "qm9790", "q3400-ra", "sn5600", "ds5000", "qfx5220-32cd", "sn4700"])
RATES = st.sampled_from(["100 Gb/s", "200 Gb/s", "400 Gb/s"])


@st.composite
def generic_servers(draw: Any) -> dict[str, Any]:
    gpus = draw(st.integers(1, 8))
    return {
        "gpus": gpus,
        "nics": draw(st.integers(1, 8)),
        "nic_ports": draw(st.integers(1, 2)),
        "nic_rate": draw(RATES),
    }


@st.composite
def specs(draw: Any) -> ClusterSpec:
    generic = draw(st.booleans())
    fabric: dict[str, Any] = {
        "topology": draw(st.sampled_from(sorted(TOPOLOGIES))),
        "switch": {"ports": draw(st.integers(1, 64)), "rate": draw(RATES)} if generic else draw(SWITCHES),
        "oversubscription": draw(st.sampled_from(["1:1", "2:1", "3:1", "4:3", 0.5, 7])),
    }
    if draw(st.booleans()):
        fabric["planes"] = draw(st.integers(1, 8))
    if draw(st.booleans()):
        fabric["tiers"] = draw(st.sampled_from([1, 2, 3]))
    if draw(st.booleans()):
        fabric["unit_servers"] = draw(st.integers(1, 40))
    if draw(st.booleans()):
        fabric["leaf"] = {"reserved_ports": draw(st.integers(0, 5))}
    if draw(st.booleans()):
        fabric["spine"] = {"reserved_ports": draw(st.integers(0, 5))}
    if draw(st.integers(0, 3)) == 0:
        fabric["managers"] = {"count": draw(st.integers(1, 3)), "links": draw(st.integers(1, 3))}
    count = draw(st.integers(1, 150))
    model = draw(generic_servers()) if generic else draw(SERVERS)
    return ClusterSpec.model_validate({"servers": {"model": model, "count": count}, "fabrics": fabric})


def built(spec: ClusterSpec) -> Cluster:
    try:
        return build_cluster(spec, CATALOG)
    except UnbuildableError as error:
        refusal = error
    assert "\n" not in str(refusal)
    assert refusal.nearest
    return reject()


LIMITS = settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow]
)


@LIMITS
@given(specs())
def test_every_wiring_rule_holds(spec: ClusterSpec) -> None:
    cluster = built(spec)
    parts = with_cables(resolve_parts(spec, CATALOG), cluster, CATALOG)
    # Small fabrics often hang on one switch, and generic servers on one NIC: that is how they were asked for.
    rules = [check for rule, check in RULES.items() if rule != "single-point-of-failure"]
    broken = [f for check in rules for f in check(cluster, parts, spec) if f.severity != "info"]
    assert broken == []


@LIMITS
@given(specs())
def test_every_nic_port_has_one_link_and_no_switch_has_more_than_its_ports(spec: ClusterSpec) -> None:
    cluster = built(spec)
    ports, links, devices = cluster.ports, cluster.links, cluster.devices
    parts = resolve_parts(spec, CATALOG)
    server = parts.servers[cluster.parts[devices.part[0]]]
    ends = np.bincount(np.concatenate([links.port_a, links.port_b]), minlength=len(ports))
    assert ends.max() == 1
    on_server = devices.kind[ports.device] == DeviceKind.SERVER
    linked = on_server & (ends == 1)
    nic_ports = sum(len(nic.ports) for nic in server.nics if nic.purpose == "compute")
    if spec.fabrics[0].topology != "full-mesh":
        assert linked.sum() == nic_ports * int((devices.role == Role.SERVER).sum())
    per_device = np.bincount(ports.device, minlength=len(devices))
    capacity = np.bincount(ports.device, weights=ports.bytes_per_s, minlength=len(devices))
    for row in np.flatnonzero(devices.kind == DeviceKind.SWITCH):
        switch = parts.switches[cluster.parts[devices.part[row]]]
        group = switch.cages[0]
        assert per_device[row] <= group.count * max(mode.ports for mode in group.modes)
        assert capacity[row] <= group.count * max(m.ports * m.port_bytes_per_s for m in group.modes) * (
            1 + 1e-9
        )


@LIMITS
@given(specs())
def test_switches_reach_each_other_inside_each_plane(spec: ClusterSpec) -> None:
    cluster = built(spec)
    assume(cluster.fabrics[0].tiers > 1 and cluster.fabrics[0].topology != "full-mesh")
    ports, links = cluster.ports, cluster.links
    for plane in range(cluster.fabrics[0].planes):
        mine = ports.plane[links.port_a] == plane
        a, b = ports.device[links.port_a[mine]], ports.device[links.port_b[mine]]
        switch_links = cluster.devices.kind[a] == DeviceKind.SWITCH
        assert _is_one_piece(a[switch_links], b[switch_links])


def _is_one_piece(a: np.ndarray, b: np.ndarray) -> bool:
    nodes, flat = np.unique(np.concatenate([a, b]), return_inverse=True)
    label = np.arange(len(nodes))
    first, second = flat[: len(a)], flat[len(a) :]
    while True:
        lower = np.minimum(label[first], label[second])
        new = label.copy()
        np.minimum.at(new, first, lower)
        np.minimum.at(new, second, lower)
        if (new == label).all():
            return bool((label == 0).all())
        label = new


@LIMITS
@given(specs())
def test_the_oversubscription_asked_for_is_not_exceeded(spec: ClusterSpec) -> None:
    cluster = built(spec)
    assume(cluster.fabrics[0].tiers > 1)
    links, devices = cluster.links, cluster.devices
    down = np.bincount(cluster.link_device_b, weights=links.bytes_per_s, minlength=len(devices))
    up = np.bincount(cluster.link_device_a, weights=links.bytes_per_s, minlength=len(devices))
    managers = devices.role[cluster.link_device_a] == Role.MANAGER
    down -= np.bincount(
        cluster.link_device_b[managers], weights=links.bytes_per_s[managers], minlength=len(devices)
    )
    leaves = devices.role == Role.LEAF
    ratio = spec.fabrics[0].leaf.oversubscription or spec.fabrics[0].oversubscription
    with_uplinks = leaves & (up > 0)
    assert (down[with_uplinks] <= ratio * up[with_uplinks] * (1 + 1e-6)).all()
    if cluster.fabrics[0].tiers == 3:
        spines = devices.role == Role.SPINE
        assert (down[spines] <= ratio * up[spines] * (1 + 1e-6)).all()


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.filter_too_much])
@given(specs())
def test_same_input_same_cluster(spec: ClusterSpec) -> None:
    first, second = built(spec), build_cluster(spec, CATALOG)
    for table in ("devices", "ports", "links", "assemblies", "modules", "gpus"):
        for name in getattr(first, table).__slots__:
            one, other = getattr(getattr(first, table), name), getattr(getattr(second, table), name)
            assert one is other is None or np.array_equal(one, other, equal_nan=one.dtype.kind == "f"), (
                table,
                name,
            )
    assert first.parts == second.parts
