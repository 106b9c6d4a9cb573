"""Addresses and autonomous systems of small fabrics, counted by hand."""

import ipaddress
from dataclasses import replace

import numpy as np
import pytest

from gpufabric.errors import InputError
from gpufabric.exports.plan_addresses import plan_addresses
from gpufabric.records.address_plan import Prefix, ipv4_text
from gpufabric.records.cluster import Role

SERVER = "{gpus: 2, nics: 2, nic_rate: 100 Gb/s}"


@pytest.fixture(scope="module")
def tree(wire):
    """Three tiers of switches with 8 ports: 48 links of servers on 12 leaves in pods of 4."""
    return wire(SERVER, 24, "fat-tree", "{ports: 8, rate: 100 Gb/s, network: ethernet}", ", tiers: 3")[0]


def test_each_tier_has_the_numbers_of_rfc_7938(tree):
    plan = plan_addresses(tree, (0,))
    role = tree.devices.role[plan.switches.device]
    pod = tree.devices.pod[plan.switches.device]
    asn = plan.switches.asn
    assert len(np.unique(asn[role == Role.CORE])) == 1
    assert all(
        len(np.unique(asn[(role == Role.SPINE) & (pod == one)])) == 1
        for one in np.unique(pod[role == Role.SPINE])
    )
    leaves = role == Role.LEAF
    assert len(np.unique(asn[leaves])) == leaves.sum()
    assert len(np.unique(asn)) == 1 + len(np.unique(pod[role == Role.SPINE])) + leaves.sum()
    assert asn.min() == 64512
    assert not plan.switches.allow_own_as.any()


def test_four_bytes_when_asked_for(wire):
    cluster = wire(
        "{gpus: 2, nics: 2, nic_rate: 100 Gb/s}",
        1025,
        "rail-only",
        "{ports: 4096, rate: 100 Gb/s, network: ethernet}",
    )[0]
    assert plan_addresses(cluster, (0,)).switches.asn.max() == 64513
    assert plan_addresses(cluster, (0,), asn="4-byte").switches.asn.tolist() == [4200000000, 4200000001]


def test_the_same_numbers_in_every_domain(wire):
    cluster = wire(SERVER, 8, "rail-only", "{ports: 16, rate: 100 Gb/s, network: ethernet}")[0]
    plan = plan_addresses(cluster, (0,), asn="2-byte")
    assert len(plan.domains) == 2
    assert plan.switches.asn.tolist() == [64512, 64512]
    assert not plan.switches.allow_own_as.any()


def test_numbers_used_again_in_every_pod_are_taken_back(tree, monkeypatch):
    monkeypatch.setattr("gpufabric.exports.plan_addresses._TWO_BYTES_LAST", 64512 + 8)
    plan = plan_addresses(tree, (0,), asn="2-byte")
    role = tree.devices.role[plan.switches.device]
    leaves = role == Role.LEAF
    pod = tree.devices.pod[plan.switches.device]
    for one in np.unique(pod[leaves]):
        assert len(np.unique(plan.switches.asn[leaves & (pod == one)])) == (leaves & (pod == one)).sum()
    assert plan.switches.allow_own_as[leaves].all()
    assert not plan.switches.allow_own_as[~leaves].any()
    monkeypatch.setattr("gpufabric.exports.plan_addresses._TWO_BYTES_LAST", 64512 + 3)
    with pytest.raises(InputError, match="numbers are needed, there are 4 private ones; take asn=4-byte"):
        plan_addresses(tree, (0,), asn="2-byte")


def test_planes_are_domains_and_rails_are_blocks(wire):
    server = "{gpus: 4, nics: 4, nic_ports: 2, nic_rate: 100 Gb/s}"
    switch = "{ports: 16, rate: 100 Gb/s, network: ethernet}"
    cluster = wire(server, 16, "rail-optimized", switch, ", planes: 2, unit_servers: 8")[0]
    plan = plan_addresses(cluster, (0,))
    assert len(plan.domains) == 2
    assert len(plan.rails) == 8
    assert [rail for rail in plan.rails if not any(domain.holds(rail) for domain in plan.domains)] == []
    assert not plan.domains[0].holds(plan.domains[1])
    rail = cluster.ports.rail[plan.hosts.lower_port]
    plane = cluster.ports.plane[plan.hosts.lower_port]
    keys = {(int(a), int(b)): set() for a, b in zip(plane, rail, strict=True)}
    for a, b, number in zip(plane.tolist(), rail.tolist(), plan.host_rail.tolist(), strict=True):
        keys[a, b].add(number)
    assert all(len(numbers) == 1 for numbers in keys.values())


def test_a_fabric_that_is_not_routed_is_refused(wire):
    cluster, _ = wire("dgx-h100", 4, "rail-optimized", "qm9790")
    with pytest.raises(InputError, match="is InfiniBand, whose addresses a subnet manager gives"):
        plan_addresses(cluster, (0,))
    mesh = wire(
        "{gpus: 4, nics: 4, nic_rate: 100 Gb/s}",
        4,
        "full-mesh",
        "{ports: 8, rate: 100 Gb/s, network: ethernet}",
    )[0]
    fabrics = (replace(mesh.fabrics[0], network="ethernet"),)
    with pytest.raises(InputError, match="routing needs a switch on every link"):
        plan_addresses(replace(mesh, fabrics=fabrics), (0,))


@pytest.mark.parametrize(
    ("pool", "says"),
    [
        ("10.0.0.0/24", "is too small"),
        ("10.0.0.0/30", "at most /29"),
        ("10.0.0.1/8", "is not understood"),
        ("fd00::/8", "is not understood"),
        ("\x1b[31m", "is not understood"),
    ],
)
def test_a_pool_that_does_not_do(tree, pool, says):
    with pytest.raises(InputError, match=says) as refused:
        plan_addresses(tree, (0,), pool)
    assert str(refused.value).isprintable()


def test_a_prefix_reads_as_people_write_it():
    prefix = Prefix(int(ipaddress.IPv4Address("10.1.128.0")), 17)
    assert str(prefix) == "10.1.128.0/17"
    assert ipv4_text(prefix.first + 257) == "10.1.129.1"
    assert prefix.holds(Prefix(prefix.first + 1024, 22))
    assert not prefix.holds(Prefix(prefix.first, 16))
