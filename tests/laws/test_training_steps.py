"""Laws of the closed form of a training step."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.training.plan_rows import DENSE, HARDWARE, MIXTURE, plans

from gpufabric.catalog.calibrations.load_training import load_training_constants
from gpufabric.records.number_formats import NumberFormats
from gpufabric.training.demands import plan_demands
from gpufabric.training.network_times import ranks_of_domain, time_demands
from gpufabric.training.rank_groups import axis_groups
from gpufabric.training.step_time import step_time

CONSTANTS = load_training_constants(HARDWARE.gpu)
powers = st.integers(0, 3).map(lambda power: 2**power)


@st.composite
def rows(draw):
    tp, cp, dp, pp = (draw(powers) for _ in range(4))
    zero = draw(st.integers(0, 3))
    return {
        "tp": tp,
        "cp": cp,
        "dp": dp,
        "pp": pp,
        "ep": draw(st.sampled_from([ep for ep in (1, 2, 4, 8) if tp * cp * dp % ep == 0])),
        "micro_batches": draw(st.integers(1, 12)),
        "recompute": draw(st.integers(0, 2)),
        "zero": zero,
        "shard": dp * cp,
        "sequence_parallel": draw(st.booleans()) and tp > 1,
        "overlap_dp": draw(st.booleans()),
        "overlap_tp": draw(st.booleans()),
        "overlap_ep": draw(st.booleans()),
    }


def seconds(row, hardware=HARDWARE, model=MIXTURE):
    return float(step_time(model, plans(row), NumberFormats(), hardware, CONSTANTS, 4096).step_time_s[0])


@settings(max_examples=25, deadline=None)
@given(rows(), st.sampled_from(["memory_bytes_per_s", "scale_up_bytes_per_s", "nic_bytes_per_s", "flops"]))
def test_faster_hardware_is_never_slower(row, what):
    value = getattr(HARDWARE, what)
    more = {name: 2 * rate for name, rate in value.items()} if what == "flops" else 2 * value
    # Communication that is hidden slows compute, so what no longer hides may cost as much as it saved.
    assert seconds(row, replace(HARDWARE, **{what: more})) <= seconds(row) * 1.02


@settings(max_examples=25, deadline=None)
@given(rows())
def test_more_micro_batches_take_longer_but_never_longer_each(row):
    once, twice = seconds(row), seconds({**row, "micro_batches": 2 * row["micro_batches"]})
    assert once < twice <= 2 * once * (1 + 1e-9)


@settings(max_examples=25, deadline=None)
@given(rows(), st.sampled_from([DENSE, MIXTURE]))
def test_demands_are_of_whole_groups_and_take_time(row, model):
    table = plan_demands(model, plans(row), NumberFormats(), 4096, HARDWARE)
    gpus = int(plans(row).gpus[0])
    ranks = table.size.prod(axis=1)
    assert (gpus % ranks == 0).all()
    assert (((table.size - 1) * table.stride).sum(axis=1) < gpus).all()
    assert (ranks_of_domain(table, 8) <= ranks).all()
    assert (time_demands(table, HARDWARE, CONSTANTS.network) > 0).all()


@settings(max_examples=25, deadline=None)
@given(rows(), st.permutations(["tp", "cp", "ep", "dp", "pp"]))
def test_groups_divide_the_ranks_into_equal_parts(row, order):
    table = plans(row, order=tuple(order))
    gpus = int(table.gpus[0])
    groups = axis_groups(table)
    for size, stride in (groups.tensor, groups.context, groups.shard, groups.pipeline, groups.expert):
        members = [
            outer * int(stride[0, 0]) + inner * int(stride[0, 1])
            for outer in range(int(size[0, 0]))
            for inner in range(int(size[0, 1]))
        ]
        assert len(set(members)) == len(members)
        assert max(members) < gpus


def test_a_table_of_many_plans_costs_the_same_as_each_alone():
    many = [{"tp": 2**i, "dp": 8, "zero": z, "shard": 8} for i in range(4) for z in range(4)]
    together = step_time(DENSE, plans(*many), NumberFormats(), HARDWARE, CONSTANTS, 4096).step_time_s
    assert together == pytest.approx(np.array([seconds(row, model=DENSE) for row in many]))
