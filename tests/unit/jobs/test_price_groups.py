"""Groups at work at the same time: one of all GPUs is the collective, several contend where links are shared."""

import numpy as np
import pytest

from gpufabric.catalog.calibrations.load_training import load_training_constants
from gpufabric.jobs.choose_ranks import RankChoice
from gpufabric.jobs.collective import CollectiveOptions, ask, predict_collective
from gpufabric.jobs.faulty_cluster import apply_faults
from gpufabric.jobs.place_job import place_job
from gpufabric.jobs.price_groups import group_pricer
from gpufabric.records.cluster_spec import Fault
from gpufabric.records.demand import OPS, DemandTable
from gpufabric.records.training_hardware import TrainingHardware
from gpufabric.training.network_times import time_demands
from gpufabric.training.plan_row import one_plan

GIB = 1 << 30


def pricer_of(wired, order="fabric", **degrees):
    plans = one_plan(**({"tp": 8, "cp": 1, "dp": 1, "pp": 1} | degrees))
    cluster, parts = wired
    choice = RankChoice(order, 0, None, ())
    placement = place_job(cluster, plans, choice)
    options = CollectiveOptions(ranks=int(plans.gpus[0]), order=order)
    asked, _ = ask(cluster, parts, "all_reduce", [1], options)
    return group_pricer(asked, placement)


def priced(pricer, op, size, stride, size_bytes=GIB, copies=(0.0, 0.0)):
    groups = pricer.placement.groups(np.array((1, size)), np.array((1, stride)))
    return pricer.time(op, groups, (size, stride), size_bytes, copies)


@pytest.mark.parametrize("op", ["all_reduce", "all_gather", "reduce_scatter", "all_to_all", "send_recv"])
@pytest.mark.parametrize(
    "more",
    ["", ", oversubscription: '2:1'", pytest.param(", routing: ecmp", marks=pytest.mark.slow)],
)
def test_one_group_of_all_gpus_is_the_collective(wire, op, more):
    wired = wire("dgx-h100", 12, "leaf-spine", "{ports: 16, rate: 400 Gb/s, network: infiniband}", more)
    pricer = pricer_of(wired, dp=12)
    for size in (1 << 20, GIB):
        (result,) = predict_collective(*wired, op, [size])
        assert priced(pricer, op, 96, 1, size).time_s == pytest.approx(result.time_s, rel=0.01)


def test_groups_of_different_rails_do_not_contend_on_a_rail_fabric(wire):
    pricer = pricer_of(wire("dgx-h100", 64, "rail-optimized", "qm9790", ", unit_servers: 32"), dp=64)
    found = priced(pricer, "reduce_scatter", 64, 8)
    assert found.contention == pytest.approx(1.0)
    assert found.domains == 64


def test_groups_share_what_is_oversubscribed(wire):
    wired = wire("dgx-h100", 64, "leaf-spine", "qm9790", ", oversubscription: '4:1'")
    alone = priced(pricer_of(wired, dp=64), "reduce_scatter", 64, 8)
    # Shuffled, all but few edges of every ring leave their leaf, and a leaf has a quarter of the rate up.
    shuffled = priced(pricer_of(wired, "shuffled", dp=64), "reduce_scatter", 64, 8)
    assert shuffled.contention > 3.0
    assert shuffled.time_s > 2.5 * alone.time_s
    assert "leaf" in shuffled.bottleneck


def test_tokens_that_cross_once_take_less_than_bytes_for_every_peer(wire):
    pricer = pricer_of(wire("dgx-h100", 8, "rail-optimized", "qm9790"), dp=8)
    every = priced(pricer, "all_to_all", 64, 1)
    once = priced(pricer, "all_to_all", 64, 1, copies=(3.5, 8.0))
    assert every.time_s * 0.4 < once.time_s < every.time_s * 0.9


def test_a_lost_rail_slows_the_groups_that_are_on_it(wire):
    cluster, parts = wire("dgx-h100", 16, "rail-optimized", "qm9790")
    broken, _ = apply_faults(cluster, [Fault(kind="rail-down", where="rail:3")], parts)
    whole = priced(pricer_of((cluster, parts), dp=16), "reduce_scatter", 16, 8)
    lost = priced(pricer_of((broken, parts), dp=16), "reduce_scatter", 16, 8)
    # GPU 3 of every server goes over a NIC of another rail, which its own GPU uses too.
    assert lost.time_s > 1.5 * whole.time_s


def test_inside_a_domain_more_domains_cost_nothing(wire):
    small = priced(pricer_of(wire("dgx-h100", 2, "single-switch", "qm9790"), dp=2), "all_gather", 8, 1)
    large = priced(pricer_of(wire("dgx-h100", 64, "leaf-spine", "qm9790"), dp=64), "all_gather", 8, 1)
    assert large.time_s == pytest.approx(small.time_s)
    assert large.domains == 1


def test_groups_inside_a_rack_do_not_leave_its_nvlink(wire):
    wired = wire("gb200-nvl72-tray", 36, "rail-only", "qm9700")
    pricer = pricer_of(wired, tp=4, dp=36)
    inside = priced(pricer, "reduce_scatter", 18, 4)
    across = priced(pricer, "reduce_scatter", 36, 4)
    assert (inside.domains, across.domains) == (1, 2)
    # A ring leaves the rack by as many NICs as it has ranks there, 18 × 50 GB/s: as much as one GPU has of NVLink.
    assert across.time_s == pytest.approx(inside.time_s, rel=0.05)


@pytest.mark.parametrize(
    ("op", "size", "stride"),
    [
        ("all_gather", 8, 1),
        ("reduce_scatter", 16, 8),
        ("reduce_scatter", 64, 8),
        ("send_recv", 2, 8),
        ("all_to_all", 64, 1),
    ],
)
def test_the_closed_form_agrees_where_nothing_is_shared(wire, op, size, stride):
    wired = wire("dgx-h100", 64, "rail-optimized", "qm9790", ", unit_servers: 64, tiers: 2")
    constants = load_training_constants("h100-sxm", "infiniband", "connectx-7-400g")
    hardware = TrainingHardware("h100-sxm", {}, 80e9, 3e12, 512, 8, 8, 450e9, 50e9, 512)
    one = np.ones(1)
    demand = DemandTable(
        plan=np.zeros(1, np.int64),
        purpose=np.zeros(1, np.int64),
        op=np.array([OPS.index(op)]),
        size_bytes=one * 4 * GIB,
        count=one,
        size=np.array([[1, size]]),
        stride=np.array([[1, stride]]),
        spread=one * 0,
        copies=one * 0,
    )
    closed = float(time_demands(demand, hardware, constants.network)[0])
    found = priced(pricer_of(wired, dp=64), op, size, stride, 4 * GIB)
    # Reached: 2 %. The closed form knows one share of the rates for all operations, the fabric's calibration one for each.
    assert found.time_s == pytest.approx(closed, rel=0.05)
