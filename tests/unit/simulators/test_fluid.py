"""Flows that end give their room to the others."""

import numpy as np
import pytest

from gpufabric.records.flows import Flows
from gpufabric.records.graph import Graph
from gpufabric.simulators import SIMULATORS, fluid


@pytest.fixture(params=[0, 64], ids=["compiled", "few"], autouse=True)
def _way(request, monkeypatch):
    """Run every test by the compiled events and by the loop for a few flows."""
    monkeypatch.setattr(fluid, "FEW_FLOWS", request.param)


def line(*rates):
    count = len(rates)
    return Graph(
        np.arange(count + 2).clip(max=count),
        np.arange(count, dtype=np.int32),
        np.arange(1, count + 1, dtype=np.int32),
        np.array(rates, float),
        np.zeros(count),
        np.zeros(count + 1, np.int32),
        np.zeros(count + 1, np.int8),
        np.empty((0, 2), np.int32),
        np.empty(0, np.int32),
    )


def flows(*links):
    first = np.cumsum([0] + [len(one) for one in links])
    every = np.concatenate([np.array(one, np.int32) for one in links])
    return Flows(first, every, np.ones(len(every)), np.zeros(len(links)))


def test_the_short_flow_ends_first_and_the_long_one_speeds_up():
    times = SIMULATORS["fluid"](line(10.0), flows([0], [0]), np.array([10.0, 30.0]))
    # Both at 5 bytes/s until 2 s, then 20 bytes are left for one at 10 bytes/s.
    np.testing.assert_allclose(times.finish_s, [2.0, 4.0])
    np.testing.assert_allclose(times.bytes_per_s, [5.0, 5.0])
    assert times.total_s == 4.0


def test_the_closed_form_does_not_speed_up():
    times = SIMULATORS["alpha_beta"](line(10.0), flows([0], [0]), np.array([10.0, 30.0]))
    np.testing.assert_allclose(times.finish_s, [2.0, 6.0])


@pytest.mark.parametrize("name", SIMULATORS)
def test_weights_count_bytes_on_a_link(name):
    thrice = Flows(np.array([0, 1]), np.array([0], np.int32), np.array([3.0]), np.zeros(1))
    times = SIMULATORS[name](line(6.0), thrice, np.array([10.0]))
    assert times.total_s == pytest.approx(5.0)
    assert times.bottleneck.tolist() == [0]


@pytest.mark.parametrize("name", SIMULATORS)
def test_nothing_to_send_takes_no_time(name):
    assert SIMULATORS[name](line(6.0), flows([0]), np.zeros(1)).total_s == 0.0


def test_both_ways_agree_on_a_crowd(monkeypatch):
    rng = np.random.default_rng(8)
    crowd = flows(*[rng.permutation(9)[: rng.integers(1, 5)] for _ in range(60)])
    size = np.where(rng.random(60) < 0.1, 0.0, rng.uniform(1.0, 9.0, 60))
    found = {}
    for few in (0, 64):
        monkeypatch.setattr(fluid, "FEW_FLOWS", few)
        found[few] = fluid.run(line(1.0, 2.0, 2.0, 3.0, 1.5, 4.0, 2.0, 1.0, 5.0), crowd, size)
    np.testing.assert_allclose(found[0].finish_s, found[64].finish_s, rtol=1e-7)
    np.testing.assert_allclose(found[0].bytes_per_s, found[64].bytes_per_s, rtol=1e-7)
    np.testing.assert_array_equal(found[0].bottleneck, found[64].bottleneck)
