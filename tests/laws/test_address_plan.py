"""Whatever is wired: no address twice, blocks nest and never overlap, ends of a link share a /31."""

import numpy as np
from hypothesis import given, reject, settings
from hypothesis import strategies as st

from gpufabric.errors import UnbuildableError
from gpufabric.exports.plan_addresses import plan_addresses
from gpufabric.records.address_plan import Prefix

FAMILIES = ("leaf-spine", "fat-tree", "rail-optimized", "rail-only", "single-switch")


@settings(max_examples=25, deadline=None)
@given(
    family=st.sampled_from(FAMILIES),
    servers=st.integers(2, 20),
    nics=st.integers(1, 4),
    planes=st.integers(1, 2),
    asn=st.sampled_from(["auto", "2-byte", "4-byte"]),
)
def test_addresses_are_unique_and_blocks_nest(wire, family, servers, nics, planes, asn):
    server = f"{{gpus: {nics}, nics: {nics}, nic_ports: {planes}, nic_rate: 100 Gb/s}}"
    ports = 128 if family == "single-switch" else 16
    try:
        cluster = wire(server, servers, family, f"{{ports: {ports}, rate: 100 Gb/s, network: ethernet}}")[0]
    except UnbuildableError:
        reject()
    plan = plan_addresses(cluster, (0,), asn=asn)
    switches, hosts, between = plan.switches, plan.hosts, plan.between
    assert len(hosts) + len(between) == len(cluster.links)
    addresses = np.concatenate(
        [switches.loopback, *(side.upper_address + end for side in (hosts, between) for end in (0, 1))]
    )
    assert len(np.unique(addresses)) == len(addresses)
    assert not (np.concatenate([hosts.upper_address, between.upper_address]) & 1).any()
    blocks = [
        Prefix(first, length)
        for first, length in zip(switches.block.tolist(), switches.block_length.tolist(), strict=True)
        if length >= 0
    ]
    for level in (blocks, plan.rails, plan.domains):
        assert all(not a.holds(b) for a in level for b in level if a is not b)
    assert all(any(rail.holds(block) for rail in plan.rails) for block in blocks)
    assert all(any(domain.holds(rail) for domain in plan.domains) for rail in plan.rails)
    place = {device: row for row, device in enumerate(switches.device.tolist())}
    for port, rail, address in zip(
        hosts.upper_port.tolist(), plan.host_rail.tolist(), hosts.upper_address.tolist(), strict=True
    ):
        row = place[int(cluster.ports.device[port])]
        own = Prefix(int(switches.block[row]), int(switches.block_length[row]))
        assert own.holds(Prefix(address, 31))
        assert plan.rails[rail].holds(own)
        assert plan.domains[int(switches.domain[row])].holds(own)
