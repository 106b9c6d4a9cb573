"""What is left of collectives after a loss is what `gpufabric collective` says of the same wiring, and near what bytes say."""

import numpy as np
import pytest

from gpufabric.jobs import collective_losses as losses
from gpufabric.jobs.collective import CollectiveOptions, predict_collective
from gpufabric.jobs.collective_losses import collective_losses
from gpufabric.jobs.faulty_cluster import without_links
from gpufabric.records.names import device_names
from gpufabric.records.spec_fields import Library
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


def test_an_all_reduce_loses_a_rail_and_an_exchange_shares_a_nic(rails):
    rows = table(rails)
    for lost in (("nic", ""), ("cable", "server_leaf"), ("leaf", ""), ("rail", "")):
        assert rows[lost]["all_reduce_left"] == pytest.approx(7 / 8, abs=0.02)
        assert rows[lost]["all_to_all_left"] == pytest.approx(1 / 2, abs=0.01)
    assert rows["spine", ""]["all_reduce_left"] == 1
    assert rows["spine", ""]["all_to_all_left"] <= 1


def test_an_exchange_that_fills_the_spines_loses_with_them(wire):
    """Every server has a leaf of its own, 8 links down and 8 up to 4 spines: all messages climb, and a quarter of the ways go."""
    tight = wire("dgx-h100", 8, "leaf-spine", SWITCH)
    spines = int((tight[0].devices.role == 2).sum())
    assert table(tight)["spine", ""]["all_to_all_left"] == pytest.approx(1 - 1 / spines, abs=0.005)


def test_what_stops_a_job_leaves_nothing(wire):
    tight = wire("dgx-h100", 8, "leaf-spine", SWITCH)
    rows = table(tight)
    assert rows["leaf", ""]["gpus_cut_off"] == 8
    assert rows["leaf", ""]["all_reduce_left"] == rows["leaf", ""]["all_to_all_left"] == 0


def lost_with(cluster, device):
    row = next(row for row, name in enumerate(device_names(cluster)) if name.startswith(device))
    return np.flatnonzero((cluster.link_device_a == row) | (cluster.link_device_b == row))


@pytest.mark.slow
@pytest.mark.parametrize("device", ["leaf-su01-r1", "spine"])
@pytest.mark.parametrize("op", ["all_reduce", "all_to_all"])
@pytest.mark.parametrize("version", ["2.27", "2.18"])
def test_it_is_what_gpufabric_collective_says_of_the_wiring_that_is_left(rails, device, op, version):
    cluster, parts = rails
    lost = lost_with(cluster, device)
    kept = np.ones(len(cluster.links), bool)
    kept[lost] = False
    library = Library.model_validate({"name": "nccl", "version": version})
    options = CollectiveOptions(library=library, routing="adaptive")
    whole, broken = (
        predict_collective(wired, parts, op, [1 << 33], options)[0].busbw_bytes_per_s
        for wired in (cluster, without_links(cluster, kept))
    )
    left = collective_losses(cluster, parts, [0], library)[0][0](lost)[f"{op}_left"]
    assert left == pytest.approx(broken / whole, abs=1e-4)


def test_the_library_chooses_anew_after_the_loss(rails):
    """With one algorithm allowed the loss costs at least as much as with the choice of all."""
    cluster, parts = rails
    lost = lost_with(cluster, "leaf-su01-r1")
    left = {
        listed: collective_losses(
            cluster, parts, [0], Library.model_validate({"name": "nccl", "settings": settings})
        )[0][0](lost)["all_reduce_left"]
        for listed, settings in (("all", {}), ("ring", {"NCCL_ALGO": "Ring"}))
    }
    assert left["ring"] == pytest.approx(7 / 8, abs=0.02)
    assert left["ring"] - 0.02 <= left["all"] <= 1


def test_a_library_that_can_not_run_is_a_note(rails):
    found, notes = collective_losses(*rails, [0], Library.model_validate({"name": "rccl"}))
    assert found == {}
    assert notes[0].startswith(
        "fabrics.compute: what a loss costs all-reduce and all-to-all is not told: library.name: rccl"
    )


def test_what_is_too_large_is_said_and_what_has_no_job_is_left_out(rails, wire, monkeypatch):
    one = wire("dgx-h100", 1, "single-switch", SWITCH)
    assert collective_losses(*one, [0]) == ({}, ())
    monkeypatch.setattr(losses, "MOST_GPUS", 100)
    found, notes = collective_losses(*rails, [0])
    assert found == {}
    assert notes == (
        "fabrics.compute: what a loss costs all-reduce and all-to-all is only told up to 100 GPUs",
    )


@pytest.mark.slow
def test_messages_stay_on_their_plane_when_a_port_of_it_is_lost(wire):
    """The GPU without it sends half of its bytes by a neighbour's port on that plane, which then carries twice as much."""
    planes = wire("dgx-b300-spectrum", 4, "multi-plane", "sn5600")
    rows = table(planes)
    assert rows["cable", "server_leaf"]["all_to_all_left"] == pytest.approx(1 / 2, abs=0.01)
    assert rows["cable", "server_leaf"]["all_reduce_left"] == pytest.approx(15 / 16, abs=0.02)
    assert rows["plane", ""]["all_to_all_left"] == pytest.approx(1 / 2, abs=0.01)
