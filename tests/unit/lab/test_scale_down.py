"""What is kept of a large fabric, and at which rates."""

import numpy as np
import pytest

from gpufabric.errors import InputError
from gpufabric.exports.interface_names import interface_names
from gpufabric.lab.scale_down import ScaleLimits, scale_down
from gpufabric.records.cluster import Role
from gpufabric.records.names import device_names

SWITCH = "{ports: 16, rate: 100 Gb/s, network: ethernet}"
SERVER = "{gpus: 4, nics: 4, nic_rate: 100 Gb/s}"


def counts(scaled):
    return [len(scaled.rows(role)) for role in (Role.SERVER, Role.LEAF, Role.SPINE, Role.CORE)]


def tier_rates(scaled, switch):
    cluster = scaled.cluster
    below = cluster.links.bytes_per_s[cluster.link_device_b == switch].sum()
    above = cluster.links.bytes_per_s[cluster.link_device_a == switch].sum()
    return below, above


@pytest.mark.parametrize(("ratio", "expected"), [("1:1", 1.0), ("3:1", 3.0)])
def test_oversubscription_is_kept(wire, ratio, expected):
    cluster, parts = wire(SERVER, 24, "leaf-spine", SWITCH, f', oversubscription: "{ratio}"')
    scaled = scale_down(cluster, parts, 0, 1)
    assert counts(scaled) == [8, 4, 2, 0]
    for leaf in scaled.rows(Role.LEAF):
        below, above = tier_rates(scaled, leaf)
        real = (
            cluster.links.bytes_per_s[cluster.link_device_b == 24].sum()
            / cluster.links.bytes_per_s[cluster.link_device_a == 24].sum()
        )
        assert below / above == pytest.approx(real)
        assert real == pytest.approx(expected, rel=0.35)


def test_three_tiers_of_two_pods(wire):
    cluster, parts = wire(SERVER, 100, "fat-tree", SWITCH, ", tiers: 3")
    scaled = scale_down(cluster, parts, 0, 1, ScaleLimits(leaf_hosts=1))
    assert counts(scaled) == [4, 4, 4, 4]
    devices = scaled.cluster.devices
    assert len(np.unique(devices.pod[scaled.rows(Role.SPINE)])) == 2
    pods = [
        set(devices.pod[scaled.cluster.link_device_a[scaled.cluster.link_device_b == core]].tolist())
        for core in scaled.rows(Role.CORE)
    ]
    assert all(len(below) == 2 for below in pods)


def test_rails_keep_their_servers(wire):
    cluster, parts = wire(SERVER, 16, "rail-optimized", SWITCH, ", unit_servers: 8")
    scaled = scale_down(cluster, parts, 0, 1)
    assert counts(scaled)[:3] == [4, 4, 2]
    links = np.bincount(scaled.cluster.link_device_a, minlength=len(scaled.cluster.devices))
    assert links[scaled.rows(Role.SERVER)].tolist() == [2, 2, 2, 2]
    assert set(scaled.cluster.devices.names) <= set(device_names(cluster).tolist())


def test_names_of_interfaces_are_those_of_the_large_one(wire):
    cluster, parts = wire(SERVER, 16, "leaf-spine", SWITCH)
    small = scale_down(cluster, parts, 0, 1).cluster
    assert set(small.ports.names) <= set(interface_names(cluster, "cumulus").tolist())
    owners = list(zip(small.ports.device.tolist(), small.ports.names, strict=True))
    assert len(set(owners)) == len(owners)


def test_the_rules_say_what_was_done(wire):
    cluster, parts = wire(SERVER, 24, "leaf-spine", SWITCH)
    rules = scale_down(cluster, parts, 0, 1, ScaleLimits(host_bytes_per_s=12.5e6)).rules
    assert rules[0] == "8 of 24 servers kept"
    assert "100 Gb/s of a server become 0.1 Gb/s" in rules[-1]


def test_a_domain_that_is_not_there(wire):
    cluster, parts = wire(SERVER, 8, "leaf-spine", SWITCH)
    with pytest.raises(
        InputError, match="--plane: 2 is not there; fabric compute has routing domains 1 to 1"
    ):
        scale_down(cluster, parts, 0, 2)


def test_what_would_fall_apart_is_refused(wire):
    cluster, parts = wire(SERVER, 27, "torus", SWITCH, ", torus: {dimensions: [3, 3, 3]}")
    with pytest.raises(InputError, match="falls apart when a few switches are taken"):
        scale_down(cluster, parts, 0, 1)
