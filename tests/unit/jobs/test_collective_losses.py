"""What is left of collectives after a loss agrees with what the priced algorithm says of the same wiring, and with arithmetic."""

import numpy as np
import pytest

from gpufabric.collectives.job_wiring import lay_job
from gpufabric.collectives.rank_order import rank_gpus
from gpufabric.jobs import collective_losses as losses
from gpufabric.jobs.collective_losses import collective_losses
from gpufabric.jobs.faulty_cluster import without_links
from gpufabric.jobs.lay_wiring import lay_wiring
from gpufabric.jobs.price_algorithm import price_algorithm
from gpufabric.records.collective import Collective
from gpufabric.records.names import device_names
from gpufabric.reliability.n_minus_1 import cost_n_minus_1

SWITCH = "{ports: 16, rate: 400 Gb/s}"


@pytest.fixture(scope="module")
def rails(wire):
    """Return 16 servers of 8 in 4 units of 4, 8 rails."""
    return wire("dgx-h100", 16, "rail-optimized", SWITCH, ", unit_servers: 4")


def table(wired):
    cluster, parts = wired
    found, notes = collective_losses(cluster, parts, [0])
    assert notes == ()
    rows = cost_n_minus_1(cluster, parts, found)
    return {(row.lost, row.place): row.worst.metrics for row in rows}


def test_a_ring_loses_a_rail_and_an_exchange_shares_a_nic(rails):
    rows = table(rails)
    for lost in (("nic", ""), ("cable", "server_leaf"), ("leaf", ""), ("rail", "")):
        assert rows[lost]["all_reduce_left"] == pytest.approx(7 / 8)
        assert rows[lost]["all_to_all_left"] == pytest.approx(1 / 2)
    assert rows["spine", ""]["all_reduce_left"] == 1
    assert rows["spine", ""]["all_to_all_left"] <= 1


def test_an_exchange_that_fills_the_spines_loses_with_them(wire):
    """Every server has a leaf of its own, 8 links down and 8 up to 4 spines: all messages climb, and a quarter of the ways go."""
    tight = wire("dgx-h100", 8, "leaf-spine", SWITCH)
    spines = int((tight[0].devices.role == 2).sum())
    assert table(tight)["spine", ""]["all_to_all_left"] == pytest.approx(1 - 1 / spines)


def test_what_stops_a_job_leaves_nothing(wire):
    tight = wire("dgx-h100", 8, "leaf-spine", SWITCH)
    rows = table(tight)
    assert rows["leaf", ""]["gpus_cut_off"] == 8
    assert rows["leaf", ""]["all_reduce_left"] == rows["leaf", ""]["all_to_all_left"] == 0


@pytest.mark.parametrize("device", ["leaf-su01-r1", "spine"])
@pytest.mark.parametrize(("op", "algorithm"), [("all_reduce", "ring"), ("all_to_all", "pxn")])
def test_it_is_what_the_priced_algorithm_says(rails, device, op, algorithm):
    cluster, parts = rails
    row = next(row for row, name in enumerate(device_names(cluster)) if name.startswith(device))
    lost = np.flatnonzero((cluster.link_device_a == row) | (cluster.link_device_b == row))
    kept = np.ones(len(cluster.links), bool)
    kept[lost] = False
    rates = []
    for wired in (cluster, without_links(cluster, kept)):
        wiring = lay_wiring(wired, parts)
        gpus = rank_gpus(wired)
        job = lay_job(wired, wiring.inside, gpus, parts.servers["dgx-h100"].scale_up)
        rates.append(
            price_algorithm(
                wiring, job, Collective(op, 1 << 33, gpus), algorithm, "adaptive"
            ).line_bytes_per_s
        )
    left = collective_losses(cluster, parts, [0])[0][0](lost)[f"{op}_left"]
    assert left == pytest.approx(rates[1] / rates[0], rel=0.01)


def test_what_is_too_large_is_said_and_what_has_no_job_is_left_out(rails, wire, monkeypatch):
    one = wire("dgx-h100", 1, "single-switch", SWITCH)
    assert collective_losses(*one, [0]) == ({}, ())
    monkeypatch.setattr(losses, "MOST_GPUS", 100)
    found, notes = collective_losses(*rails, [0])
    assert found == {}
    assert notes == (
        "fabrics.compute: what a loss costs all-reduce and all-to-all is only told up to 100 GPUs",
    )


def test_messages_stay_on_their_plane_when_a_port_of_it_is_lost(wire):
    """The GPU without it sends half of its bytes by a neighbour's port on that plane, which then carries twice as much."""
    planes = wire("dgx-b300-spectrum", 4, "multi-plane", "sn5600")
    rows = table(planes)
    assert rows["cable", "server_leaf"]["all_to_all_left"] == pytest.approx(1 / 2)
    assert rows["cable", "server_leaf"]["all_reduce_left"] == pytest.approx(15 / 16)
    assert rows["plane", ""]["all_to_all_left"] == pytest.approx(1 / 2)
