"""Flows that start and end when they like: by hand, and against a simulation that works out all rates at every event."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpufabric.errors import InputError
from gpufabric.kernels.max_min_progressive import progressive_rates
from gpufabric.records.flows import Flows
from gpufabric.records.graph import Graph
from gpufabric.records.timed_flows import TimedFlows
from gpufabric.simulators import fluid


def links(*rates):
    count, none = len(rates), np.empty(0, np.int32)
    ends = np.arange(count, dtype=np.int32)
    first = np.arange(count + 2).clip(max=count)
    return Graph(first, ends, ends + 1, np.array(rates, float), np.zeros(count), none, none, none, none)


def timed(paths, size, start=None, latency=None, pairs=()):
    count = len(paths)
    first = np.cumsum([0] + [len(path) for path in paths])
    link = np.array([one for path in paths for one in path], np.int32)
    zero = np.zeros(count)
    flows = Flows(first, link, np.ones(len(link)), zero if latency is None else np.array(latency, float))
    before, after = np.array(pairs, np.int64).reshape(-1, 2).T
    begin = zero if start is None else np.array(start, float)
    return TimedFlows(flows, np.array(size, float), begin, before, after)


def test_a_later_flow_slows_the_earlier_one_and_speeds_up_when_it_has_gone():
    times = fluid.run_timed(links(10.0), timed([[0], [0]], [20, 30], start=[0, 1]))
    # Alone for 1 s (10 bytes), together at 5 bytes/s until the other 10 are sent at 3 s, then 20 bytes at 10 bytes/s.
    np.testing.assert_allclose(times.begin_s, [0, 1])
    np.testing.assert_allclose(times.arrived_s, [3, 5])
    np.testing.assert_allclose(times.bytes_per_s, [10, 5])


def test_a_chain_adds_times_and_latencies():
    chain = timed([[0]] * 3, [10, 20, 10], latency=[0.5, 0.25, 1], pairs=[(0, 1), (1, 2)])
    times = fluid.run_timed(links(10.0), chain)
    np.testing.assert_allclose(times.begin_s, [0, 1.5, 3.75])
    np.testing.assert_allclose(times.sent_s, [1, 3.5, 4.75])
    assert times.total_s == pytest.approx(5.75)


def test_a_flow_waits_for_all_that_it_names_and_for_its_start():
    pairs = [(0, 2), (1, 2), (0, 3)]
    times = fluid.run_timed(
        links(10.0, 10.0), timed([[0], [1], [0], [1]], [10, 40, 10, 0], start=[0, 0, 0, 9], pairs=pairs)
    )
    np.testing.assert_allclose(times.begin_s, [0, 0, 4, 9])
    np.testing.assert_allclose(times.arrived_s, [1, 4, 5, 9])


def test_nothing_to_send_takes_the_latency_only_and_no_room():
    times = fluid.run_timed(links(10.0), timed([[0], [0]], [0, 10], latency=[2, 0]))
    np.testing.assert_allclose(times.arrived_s, [2, 1])


def test_a_flow_without_a_limit_is_sent_at_once():
    times = fluid.run_timed(links(np.inf, 4.0), timed([[0], [], [1]], [8, 8, 8], pairs=[(0, 2)]))
    np.testing.assert_allclose(times.arrived_s, [0, 0, 2])
    assert times.bottleneck.tolist() == [-1, -1, 1]


def test_what_has_to_cross_a_dead_link_never_arrives_and_holds_up_its_followers_only():
    times = fluid.run_timed(links(0.0, 4.0), timed([[0], [1], [1]], [8, 8, 8], pairs=[(0, 2)]))
    assert times.arrived_s.tolist() == [np.inf, 2.0, np.inf]
    assert times.begin_s.tolist() == [0.0, 0.0, np.inf]


@pytest.mark.parametrize(
    ("bad", "words"),
    [
        (timed([[0]], [-1]), "size of number 0 is -1"),
        (timed([[0]], [np.nan]), "size of number 0 is nan"),
        (timed([[0], [0]], [1, 1], start=[0, -2]), "start of number 1 is -2"),
        (timed([[0]], [1], latency=[np.inf]), "latency of number 0 is inf"),
        (timed([[0]], [1], pairs=[(0, 7)]), "names number 7"),
        (timed([[0]] * 3, [1] * 3, pairs=[(1, 2), (2, 1)]), "2 of 3 wait for each other in a circle"),
    ],
)
def test_what_can_not_be_simulated_is_refused(bad, words):
    with pytest.raises(InputError, match=words):
        fluid.run_timed(links(1.0), bad)


@st.composite
def problems(draw):
    """Return rates of links and flows over them; whole numbers, so that events coincide often."""
    count = draw(st.integers(1, 9))
    rates = draw(st.lists(st.integers(1, 4), min_size=1, max_size=5))
    path = st.lists(st.integers(0, len(rates) - 1), min_size=1, unique=True)
    numbers = st.lists(st.integers(0, 4), min_size=count, max_size=count)
    pairs = [(a, b) for b in range(count) for a in range(b) if draw(st.integers(0, 4)) == 0]
    paths = draw(st.lists(path, min_size=count, max_size=count))
    return links(*rates), timed(paths, draw(numbers), draw(numbers), draw(numbers), pairs)


def step_by_step(graph, asked):
    """Return the arrival times: rates of all running flows from nothing at every event."""
    flows, count = asked.flows, asked.flows.count
    left, arrived, sent, begun = (
        asked.flow_bytes.copy(),
        np.full(count, np.inf),
        np.full(count, np.inf),
        set(),
    )
    now = 0.0
    while True:
        while True:
            ready = [
                f
                for f in range(count)
                if f not in begun
                and asked.start_s[f] <= now + 1e-9
                and (arrived[asked.before[asked.after == f]] <= now + 1e-9).all()
            ]
            begun.update(ready)
            done = [f for f in begun if np.isinf(sent[f]) and left[f] <= 1e-7]
            sent[done], arrived[done] = now, now + flows.latency_s[done]
            if not ready and not done:
                break
        running = np.isinf(sent) & np.isin(np.arange(count), list(begun))
        rate, _ = progressive_rates(flows.first, flows.link, flows.weight, graph.bytes_per_s, running)
        ends = now + left[running] / rate[running]
        coming = [*ends, *arrived[np.isfinite(arrived)], *asked.start_s]
        coming = [time for time in coming if time > now + 1e-9]
        if not coming:
            return arrived
        left[running] -= rate[running] * (min(coming) - now)
        now = min(coming)


@settings(deadline=None, max_examples=200)
@given(problems())
def test_rates_changed_where_they_must_are_all_rates_worked_out_anew(problem):
    graph, asked = problem
    times = fluid.run_timed(graph, asked)
    np.testing.assert_allclose(times.arrived_s, step_by_step(graph, asked), rtol=1e-6, atol=1e-6)


@settings(deadline=None)
@given(problems(), st.randoms(use_true_random=False))
def test_the_order_of_the_flows_does_not_matter(problem, random):
    graph, asked = problem
    count = asked.flows.count
    order = random.sample(range(count), count)
    place = np.argsort(order)
    first = asked.flows.first
    paths = [asked.flows.link[first[f] : first[f + 1]].tolist() for f in order]
    pairs = np.stack([place[asked.before], place[asked.after]], axis=1)
    again = timed(paths, asked.flow_bytes[order], asked.start_s[order], asked.flows.latency_s[order], pairs)
    one, other = fluid.run_timed(graph, asked), fluid.run_timed(graph, again)
    np.testing.assert_allclose(other.arrived_s, one.arrived_s[order], rtol=1e-9)


@settings(deadline=None)
@given(problems(), st.floats(0.1, 9.0))
def test_flows_of_equal_size_that_start_together_keep_their_rate_to_the_end(problem, size):
    graph, asked = problem
    alone = Flows(asked.flows.first, asked.flows.link, asked.flows.weight, np.zeros(asked.flows.count))
    none = np.empty(0, np.int64)
    even = np.full(alone.count, size)
    times = fluid.run_timed(graph, TimedFlows(alone, even, np.zeros(alone.count), none, none))
    np.testing.assert_allclose(times.sent_s * times.bytes_per_s, even, rtol=1e-7)


def test_jobs_far_apart_do_not_touch_each_other():
    rng = np.random.default_rng(4)
    paths = [[int(a), int(4 + b)] for a, b in rng.integers(0, 4, (300, 2))]
    size = rng.uniform(1, 9, 300)
    graph = links(*[2.0] * 16)
    alone = fluid.run_timed(graph, timed(paths, size))
    both = fluid.run_timed(
        graph,
        timed(paths + [[a + 8, b + 8] for a, b in paths], np.tile(size, 2), np.repeat([0, 0.5], 300)),
    )
    np.testing.assert_allclose(both.arrived_s[:300], alone.arrived_s, rtol=1e-7)
    np.testing.assert_allclose(both.arrived_s[300:], alone.arrived_s + 0.5, rtol=1e-7)


@pytest.mark.slow
@pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="this is the run without compiler")
def test_the_kernels_say_the_same_as_plain_python():
    kernels = Path(__file__).parents[1] / "kernels" / "test_max_min.py"
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", kernels, __file__],
        env={**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        capture_output=True,
        text=True,
        timeout=300,
        cwd=Path(__file__).parents[3],
        check=False,
    )
    assert done.returncode == 0, done.stdout
