"""Faults on the wiring: what they take away, what that costs, and what can't be."""

import numpy as np
import pytest

from gpufabric.collectives.job_wiring import lay_job
from gpufabric.collectives.rank_order import rank_gpus
from gpufabric.errors import InputError, UnbuildableError
from gpufabric.formats.fault_text import parse_fault
from gpufabric.jobs.faulty_cluster import apply_faults
from gpufabric.jobs.lay_wiring import lay_wiring
from gpufabric.jobs.price_algorithm import price_algorithm
from gpufabric.records.collective import Collective

SIZE = 1 << 33


@pytest.fixture(scope="module")
def rails(wire):
    """Return 8 servers of 8 in 2 units of 4, 8 rails, leaf and spine of 16 ports."""
    return wire("dgx-h100", 8, "rail-optimized", "{ports: 16, rate: 400 Gb/s}", ", unit_servers: 4")


def broken(wired, *texts):
    return apply_faults(wired[0], [parse_fault(text) for text in texts], wired[1])


def line_rate(wired, *texts):
    """Return the bus bandwidth of a ring at line rate."""
    cluster, parts = broken(wired, *texts)[0] if texts else wired[0], wired[1]
    wiring = lay_wiring(cluster, parts)
    gpus = rank_gpus(cluster)
    server = parts.servers[cluster.parts[cluster.devices.part[cluster.gpus.host[0]]]]
    job = lay_job(cluster, wiring.inside, gpus, server.scale_up)
    priced = price_algorithm(wiring, job, Collective("all_reduce", SIZE, gpus), "ring", "adaptive")
    return priced.line_bytes_per_s * 2 * (len(gpus) - 1) / len(gpus)


@pytest.mark.parametrize(
    ("text", "lost"),
    [
        ("link-down:leaf-su01-r1:1", 1),
        ("link-down:su01-srv01:osfp4/2", 1),
        ("link-down:leaf-su01-r1 - spine-01", 1),
        ("link-down:su01-srv01 – leaf-su01-r1:1", 1),
        ("switch-down:leaf-su01-r1", 8),
        ("switch-down:spine-01", 16),
        ("nic-down:su01-srv01:osfp4/2", 1),
        ("nic-down:su01-srv01:mlx5_0", 1),
        ("nic-down:su01-srv01 mlx5_0", 1),
        ("rail-down:rail:1", 16),
        ("rail-down:8", 16),
    ],
)
def test_a_fault_takes_its_links_along_and_nothing_else(rails, text, lost):
    cluster = rails[0]
    left, notes = broken(rails, text)
    assert len(cluster.links) - len(left.links) == lost
    assert left.ports is cluster.ports
    assert left.gpus is cluster.gpus
    assert notes == (
        f"fault {text.partition(':')[0]} at {text.partition(':')[2]}: {lost} link{'s' * (lost > 1)} down",
    )


def test_faults_add_up_and_a_link_is_lost_once(rails):
    left, notes = broken(rails, "switch-down:leaf-su01-r1", "link-down:leaf-su01-r1:1", "rail-down:2")
    assert len(rails[0].links) - len(left.links) == 8 + 16
    assert notes[1].endswith(": 0 links down")


def test_a_half_speed_cable_on_a_rail_halves_the_ring(rails):
    """Every channel carries an eighth of the bytes, and all wait for the slow one: the rate is 8 × its rate."""
    healthy = line_rate(rails)
    assert healthy == pytest.approx(8 * 50e9)
    assert line_rate(rails, "link-slow:su01-srv02:osfp4/2=200 Gb/s") == pytest.approx(8 * 25e9)


def test_a_missing_rail_leaves_seven_eighths(rails):
    for text in ("nic-down:su01-srv01:osfp4/2", "switch-down:leaf-su01-r1", "rail-down:1"):
        assert line_rate(rails, text) == pytest.approx(7 * 50e9)


def test_a_missing_spine_costs_a_ring_in_order_nothing(rails):
    assert line_rate(rails, "switch-down:spine-01") == pytest.approx(8 * 50e9)


def test_a_thin_bundle_costs_a_ring_that_fills_it(wire):
    """One leaf a server, 8 links down and up: without one of them 7 carry 8 messages."""
    tight = wire("dgx-h100", 4, "leaf-spine", "{ports: 16, rate: 400 Gb/s}")
    assert line_rate(tight) == pytest.approx(400e9)
    lost = line_rate(tight, "link-down:leaf-01:9")
    assert lost == pytest.approx(400e9 * 7 / 8)


def test_a_nic_on_the_wrong_rail_sends_the_ring_over_the_spines(rails):
    left, notes = broken(rails, "nic-on-wrong-rail:su01-srv01:osfp4/2")
    changed = np.flatnonzero(left.links.port_a != rails[0].links.port_a)
    assert len(changed) == 2
    assert sorted(left.links.port_a[changed]) == sorted(rails[0].links.port_a[changed])
    assert (left.links.port_b == rails[0].links.port_b).all()
    assert "are swapped" in notes[0]
    assert line_rate(rails, "nic-on-wrong-rail:su01-srv01:osfp4/2") <= line_rate(rails)


def test_without_spines_a_nic_on_the_wrong_rail_has_no_way(wire):
    only = wire("dgx-h100", 4, "rail-only", "{ports: 16, rate: 400 Gb/s}")
    with pytest.raises(UnbuildableError, match="no way through the fabric"):
        line_rate(only, "nic-on-wrong-rail:su01-srv01:osfp4/2")


def test_servers_that_are_cut_off_are_not_left_out_silently(wire):
    packed = wire("dgx-h100", 4, "leaf-spine", "{ports: 16, rate: 400 Gb/s}")
    with pytest.raises(UnbuildableError, match="no linked port"):
        line_rate(packed, "switch-down:leaf-02")


def test_planes_are_numbered_from_one(wire):
    planes = wire("dgx-b300-spectrum", 4, "multi-plane", "sn5600")
    left, _ = broken(planes, "plane-down:plane:2")
    gone = np.setdiff1d(planes[0].links.port_a, left.links.port_a)
    assert set(planes[0].ports.plane[gone]) == {1}
    assert line_rate(planes, "plane-down:2") == pytest.approx(line_rate(planes) / 2)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (
            "link-down:leaf-su01-r9:1",
            r'device "leaf-su01-r9" is not in the cluster; .* Did you mean "leaf-su01-r',
        ),
        ("switch-down:spine-1", r'Did you mean "spine-01"\?'),
        ("link-down:leaf-su01-r1:99", r'has no port "99"; its cabled ports are 1, 2'),
        ("link-down:leaf-su01-r1", "is a whole device"),
        ("link-down:leaf-su01-r1 - leaf-su01-r2", "no link joins the two"),
        ("link-down:a - b - c", "more than two ends"),
        ("link-slow:leaf-su01-r1:1", "not complete"),
        ("link-slow:leaf-su01-r1:1=400 Gb/s", "400 Gb/s is not slower"),
        ("switch-down:su01-srv01", "is no switch"),
        ("nic-down:leaf-su01-r1:1", "is no NIC"),
        ("nic-down:su01-srv01", "its NICs begin with mlx5_0, mlx5_3"),
        ("rail-down:rail:9", "allowed is rail:1 to rail:8"),
        ("rail-down:rail:0", "allowed is rail:1 to rail:8"),
        ("rail-down:plane:1", "is not the number of a rail"),
        ("plane-down:1", "no fabric of the cluster has several planes"),
        ("nic-on-wrong-rail:leaf-su01-r1:1", "is no port of a rail"),
        ("nic-on-wrong-rail:su01-srv01:osfp4/2 - su01-srv02:osfp4/1", "two of one"),
        ("nic-on-wrong-rail:su01-srv01:osfp4/2 - su01-srv01:osfp4/2", "both ports are on one rail"),
        ("link-down:\x1b[2J:1", "is not in the cluster"),
    ],
)
def test_what_can_not_be_is_one_line(rails, text, reason):
    with pytest.raises(InputError, match=reason) as error:
        broken(rails, text)
    assert str(error.value).isprintable()
