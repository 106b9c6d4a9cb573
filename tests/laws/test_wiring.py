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


FLAT = ("collapsed-spine", "dragonfly", "torus")
RATIOS = st.sampled_from(["1:1", "2:1", "3:1", "4:3", 0.5, 7])


@st.composite
def tree_keys(draw: Any) -> dict[str, Any]:
    keys: dict[str, Any] = {"oversubscription": draw(RATIOS)}
    if draw(st.booleans()):
        keys["tiers"] = draw(st.sampled_from([1, 2, 3]))
    if draw(st.booleans()):
        keys["unit_servers"] = draw(st.integers(1, 40))
    if draw(st.booleans()):
        keys["spine"] = {"reserved_ports": draw(st.integers(0, 5))}
    return keys


@st.composite
def flat_keys(draw: Any, topology: str) -> dict[str, Any]:
    count = st.one_of(st.none(), st.integers(1, 12))
    if topology == "torus":
        dimensions = draw(st.lists(st.integers(2, 6), min_size=1, max_size=3))
        return {"torus": {"dimensions": dimensions, "links": draw(st.integers(1, 4))}}
    if topology == "dragonfly":
        names = ("groups", "group_switches", "switch_servers", "global_links")
        return {"dragonfly": {name: value for name in names if (value := draw(count)) is not None}}
    split = draw(st.sampled_from(["nic", "server"]))
    return {"oversubscription": draw(RATIOS), "collapsed": {"split": split, "links": draw(count)}}


@st.composite
def specs(draw: Any, topologies: tuple[str, ...] = tuple(sorted(TOPOLOGIES))) -> ClusterSpec:
    generic = draw(st.booleans())
    model = draw(generic_servers()) if generic else draw(SERVERS)
    topology = draw(st.sampled_from(topologies))
    rate = draw(st.one_of(st.just(model["nic_rate"]), RATES)) if generic else ""
    fabric: dict[str, Any] = {
        "topology": topology,
        "switch": {"ports": draw(st.integers(1, 128)), "rate": rate} if generic else draw(SWITCHES),
        **draw(flat_keys(topology) if topology in FLAT else tree_keys()),
    }
    if draw(st.booleans()):
        fabric["planes"] = draw(st.integers(1, 8))
    if draw(st.booleans()):
        fabric["leaf"] = {"reserved_ports": draw(st.integers(0, 5))}
    if draw(st.integers(0, 3)) == 0:
        fabric["managers"] = {"count": draw(st.integers(1, 3)), "links": draw(st.integers(1, 3))}
    if draw(st.integers(0, 5)) == 0:
        fabric["bond"] = draw(st.sampled_from(["nic", "server"]))
    count = draw(st.integers(1, 30 if topology == "collapsed-spine" else 150))
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
    # Small fabrics often hang on one switch, generic servers on one NIC, and random servers meet switches for which the catalogue
    # sells no cable: that is how they were asked for.
    asked_for = {"single-point-of-failure", "cable-known-and-reaches"}
    rules = [check for rule, check in RULES.items() if rule not in asked_for]
    assert [f for check in rules for f in check(cluster, parts, spec)] == []


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
    assume(cluster.fabrics[0].tiers > 1 or cluster.fabrics[0].topology in FLAT)
    ports, links = cluster.ports, cluster.links
    for plane in range(cluster.fabrics[0].planes):
        mine = ports.plane[links.port_a] == plane
        a, b = ports.device[links.port_a[mine]], ports.device[links.port_b[mine]]
        switch_links = cluster.devices.kind[a] == DeviceKind.SWITCH
        assert not switch_links.any() or _is_one_piece(a[switch_links], b[switch_links])


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


@LIMITS
@given(specs(("dragonfly",)))
def test_all_pairs_of_dragonfly_groups_have_equally_many_links(spec: ClusterSpec) -> None:
    """Kim et al., ISCA 2008: a full mesh in each group, and every group joined to every other."""
    cluster = built(spec)
    devices, ports = cluster.devices, cluster.ports
    between = devices.kind[cluster.link_device_a] == DeviceKind.SWITCH
    a, b = cluster.link_device_a[between], cluster.link_device_b[between]
    plane = ports.plane[cluster.links.port_a[between]]
    groups = int(devices.pod.max()) + 1
    size = int(np.count_nonzero((devices.pod == 0) & (devices.plane == devices.plane.max())))
    near = devices.pod[a] == devices.pod[b]
    pairs, times = np.unique(np.stack([a[near], b[near]]), axis=1, return_counts=True)
    assert pairs.shape[1] == cluster.fabrics[0].planes * groups * size * (size - 1) // 2
    assert (times == 1).all()
    far = np.stack([plane[~near], *np.sort(np.stack([devices.pod[a[~near]], devices.pod[b[~near]]]), axis=0)])
    pairs, times = np.unique(far, axis=1, return_counts=True)
    assert pairs.shape[1] == cluster.fabrics[0].planes * groups * (groups - 1) // 2
    assert len(np.unique(times)) <= 1
    per_switch = np.bincount(np.concatenate([a[~near], b[~near]]), minlength=len(devices))
    switches = devices.kind == DeviceKind.SWITCH
    if groups > 1:
        assert per_switch[switches].max() - per_switch[switches].min() <= 1
        shape = spec.fabrics[0].dragonfly
        assert shape.global_links is None or per_switch.max() <= shape.global_links


@LIMITS
@given(specs(("torus",)))
def test_every_torus_switch_has_two_neighbours_a_dimension(spec: ClusterSpec) -> None:
    cluster = built(spec)
    shape = spec.fabrics[0].torus
    between = cluster.devices.kind[cluster.link_device_a] == DeviceKind.SWITCH
    ends = np.concatenate([cluster.link_device_a[between], cluster.link_device_b[between]])
    degree = np.bincount(ends, minlength=len(cluster.devices))[cluster.devices.kind == DeviceKind.SWITCH]
    assert (degree == shape.links * sum(1 if size == 2 else 2 for size in shape.dimensions)).all()
    assert len(degree) == cluster.fabrics[0].planes * int(np.prod(shape.dimensions))


@LIMITS
@given(specs(("rail-only",)))
def test_rails_meet_in_no_switch(spec: ClusterSpec) -> None:
    """Wang et al., arXiv 2307.12169: the only way from rail to rail is inside a scale-up domain."""
    cluster = built(spec)
    ports, links = cluster.ports, cluster.links
    from_server = cluster.devices.kind[cluster.link_device_a] == DeviceKind.SERVER
    rails = ports.rail[links.port_a[from_server]]
    planes = ports.plane[links.port_a[from_server]]
    assert len(np.unique(planes)) == cluster.fabrics[0].planes
    for plane in np.unique(planes):
        assert len(np.unique(rails[planes == plane])) == 1


@LIMITS
@given(
    specs(("leaf-spine", "rail-optimized", "fat-tree", "collapsed-spine")), st.sampled_from(["nic", "server"])
)
def test_ports_of_a_bond_end_on_different_switches(spec: ClusterSpec, bond: str) -> None:
    fabric = spec.fabrics[0].model_copy(update={"bond": bond})
    cluster = built(spec.model_copy(update={"fabrics": (fabric,)}))
    ports, links = cluster.ports, cluster.links
    lower, upper = links.port_a, ports.device[links.port_b]
    bonded = ports.bond[lower] >= 0
    assert bonded.any()
    key = np.stack([ports.device[lower[bonded]], ports.bond[lower[bonded]], upper[bonded]])
    times = np.unique(key, axis=1, return_counts=True)[1]
    if (
        spec.fabrics[0].topology == "collapsed-spine"
    ):  # two switches hold a bond of more ports in equal halves
        together = np.unique(key[:2], axis=1, return_counts=True)[1]
        assert times.max() <= -(-together.max() // 2)
    else:
        assert times.max() == 1


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
