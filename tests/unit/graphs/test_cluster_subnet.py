"""The subnet that a subnet manager would find in a designed fabric."""

from dataclasses import replace

import numpy as np
import pytest

from gpufabric.errors import InputError
from gpufabric.formats import ibsim_netlist
from gpufabric.graphs.cluster_subnet import lay_subnet, separate_subnets
from gpufabric.records.names import device_names
from gpufabric.records.port_numbers import port_numbers

INFINIBAND = "{ports: 8, rate: 100 Gb/s, network: infiniband}"
BOX = "{gpus: 2, nics: 2, nic_rate: 100 Gb/s}"
TWO_PORTS = "{gpus: 2, nics: 2, nic_ports: 2, nic_rate: 100 Gb/s}"


def test_every_link_of_the_fabric_is_in_one_subnet_once(wire):
    cluster, parts = wire("dgx-h100", 64, "rail-optimized", "qm9790")
    (links,) = separate_subnets(cluster, 0)
    laid = lay_subnet(cluster, links, parts)
    assert links.tolist() == list(range(len(cluster.links)))
    subnet = laid.subnet
    assert (int(subnet.is_switch.sum()), len(subnet)) == (24, 24 + 512)
    devices = np.sort(laid.device[subnet.link_node], axis=1)
    wired = np.sort(np.stack([cluster.link_device_a, cluster.link_device_b], axis=1), axis=1)
    np.testing.assert_array_equal(devices, wired)
    ends = subnet.link_node.astype(np.int64) * 256 + subnet.link_port
    assert len(np.unique(ends)) == ends.size
    assert (subnet.link_port <= subnet.ports[subnet.link_node]).all()
    assert set(subnet.names[512:]) == set(device_names(cluster, laid.device[512:]))
    assert "su01-srv01:osfp4/2" in subnet.names
    assert [subnet.names[node] for node in laid.roots] == [f"spine-{n:02d}" for n in range(1, 9)]
    assert ibsim_netlist.write(subnet).count("Hca 1 ") == 512


def test_managers_come_first_so_that_the_subnet_manager_sits_there(wire):
    cluster, parts = wire("dgx-h100", 31, "rail-optimized", "qm9790", ", managers: {count: 2, links: 2}")
    laid = lay_subnet(cluster, separate_subnets(cluster, 0)[0], parts)
    assert set(laid.subnet.names[:4]) == {"mgr-01:cage1", "mgr-01:cage2", "mgr-02:cage1", "mgr-02:cage2"}
    assert laid.subnet.names[4].startswith("su01-srv01:")


@pytest.mark.parametrize(("topology", "server"), [("multi-plane", TWO_PORTS), ("rail-only", BOX)])
def test_planes_and_rails_that_are_not_joined_are_subnets_of_their_own(wire, topology: str, server: str):
    cluster, parts = wire(server, 4, topology, INFINIBAND)
    subnets = separate_subnets(cluster, 0)
    assert sorted(np.concatenate(subnets).tolist()) == list(range(len(cluster.links)))
    assert len(subnets) == 2
    for number, links in enumerate(subnets):
        sides = cluster.ports.plane if topology == "multi-plane" else cluster.ports.rail
        assert set(sides[cluster.links.port_a[links]].tolist()) == {number}
        laid = lay_subnet(cluster, links, parts)
        assert len(laid.subnet.names) == len(set(laid.subnet.names))


def test_servers_linked_with_each_other_have_no_subnet(wire):
    cluster, _ = wire("{gpus: 4, nics: 4, nic_rate: 100 Gb/s}", 3, "full-mesh", INFINIBAND)
    with pytest.raises(InputError, match="a subnet needs switches on every link"):
        separate_subnets(cluster, 0)


def test_a_split_cage_counts_its_lanes(wire):
    cluster, _ = wire("dgx-h100", 64, "rail-optimized", "qm9790")
    numbers = port_numbers(cluster)
    switch = cluster.devices.kind[cluster.ports.device] == 1
    twin = 2 * (cluster.ports.cage[switch] - 1) + cluster.ports.lane[switch]
    np.testing.assert_array_equal(numbers[switch], twin)
    assert numbers[switch].max() == 64
    assert set(numbers[~switch].tolist()) == {1}


def test_more_ports_than_lids(wire, monkeypatch: pytest.MonkeyPatch):
    cluster, parts = wire(BOX, 4, "leaf-spine", INFINIBAND)
    monkeypatch.setattr("gpufabric.graphs.cluster_subnet.MAX_UNICAST_LIDS", 9)
    with pytest.raises(InputError, match="are too many; an InfiniBand subnet has 9 LIDs"):
        lay_subnet(cluster, separate_subnets(cluster, 0)[0], parts)


def test_an_unlinked_fabric_has_no_subnet(wire):
    cluster, _ = wire(BOX, 4, "leaf-spine", INFINIBAND)
    none = replace(
        cluster.links,
        **{c: getattr(cluster.links, c)[:0] for c in ("port_a", "port_b", "bytes_per_s", "assembly")},
    )
    with pytest.raises(InputError, match="nothing, found"):
        separate_subnets(replace(cluster, links=none), 0)
