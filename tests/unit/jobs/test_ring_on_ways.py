"""A ring on given ways runs at its fullest link, less headers."""

import pytest

from gpufabric.formats.cluster_yaml import parse_cluster_spec
from gpufabric.jobs.lab_ip import LabIpOptions, scaled_fabric
from gpufabric.jobs.ring_on_ways import predict_ring, slowed_between
from gpufabric.lab.scale_down import ScaleLimits
from gpufabric.lab.tcp_share import PAYLOAD_SHARE

SPEC = """name: two
servers: {model: {gpus: 1, nics: 1, nic_rate: 100 Gb/s}, count: 4}
fabrics: {name: gpu, topology: leaf-spine, unit_servers: 2, switch: {ports: 4, rate: 100 Gb/s, network: ethernet}}
"""
RATE = 25e6


@pytest.fixture(scope="module")
def scaled():
    limits = ScaleLimits(leaves=2, spines=1, leaf_hosts=2, host_bytes_per_s=RATE)
    return scaled_fabric(parse_cluster_spec(SPEC, "c.yaml"), LabIpOptions(limits=limits))


def ways(scaled, ring):
    """The ways of a ring over servers given by number, each up to the spine and down."""
    cluster = scaled.cluster
    ends = list(zip(cluster.link_device_a.tolist(), cluster.link_device_b.tolist(), strict=True))
    up = {a: (row, b) for row, (a, b) in enumerate(ends)}
    found = []
    for here, there in zip(ring, [*ring[1:], ring[0]], strict=True):
        (first, leaf), (last, other) = up[here], up[there]
        between = [] if leaf == other else [(up[leaf][0], 0), (up[other][0], 1)]
        found.append([(first, 0), *between, (last, 1)])
    return found


def test_headers_leave_99_per_cent():
    # 9,000 bytes of packet and 14 of Ethernet, of which 20 of IPv4 and 32 of TCP are no data.
    assert pytest.approx(8948 / 9014) == PAYLOAD_SHARE


def test_a_full_link_holds_the_whole_ring_back(scaled):
    ring = ways(scaled, [0, 2, 1, 3])
    fast = predict_ring(scaled, ring, 1 << 24)
    between = scaled.cluster.links.bytes_per_s[ring[0][1][0]]
    assert fast.busbw_bytes_per_s == pytest.approx(min(RATE, between / 2) * PAYLOAD_SHARE)
    assert fast.time_s == pytest.approx((1 << 24) * 1.5 / fast.busbw_bytes_per_s)
    slow = predict_ring(slowed_between(scaled, 0.5), ring, 1 << 24)
    assert slow.busbw_bytes_per_s == pytest.approx(between / 4 * PAYLOAD_SHARE)
    assert slow.bottleneck.endswith("for 2 of 4 connections")
