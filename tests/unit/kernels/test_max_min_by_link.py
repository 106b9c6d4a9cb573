"""Many flows on few links, filled link by link: the same rates as when all rise together, whatever the weights."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpufabric.kernels.max_min_progressive import progressive_rates
from gpufabric.records.flows import Flows
from gpufabric.records.graph import Graph
from gpufabric.records.timed_flows import TimedFlows
from gpufabric.simulators import fluid

LINKS = 4


def graph(capacity):
    ends, none = np.arange(LINKS, dtype=np.int32), np.empty(0, np.int32)
    return Graph(
        np.arange(LINKS + 2).clip(max=LINKS),
        ends,
        ends + 1,
        capacity,
        np.zeros(LINKS),
        none,
        none,
        none,
        none,
    )


def start_together(capacity, rows, weight, size):
    count = len(rows)
    first = np.cumsum([0] + [len(row) for row in rows])
    flows = Flows(first, np.concatenate(rows).astype(np.int32), np.array(weight), np.zeros(count))
    none = np.empty(0, np.int64)
    return flows, fluid.run_timed(graph(capacity), TimedFlows(flows, size, np.zeros(count), none, none))


@pytest.mark.slow
@settings(deadline=None)
@given(st.data())
def test_rates_are_those_of_progressive_filling(data):
    capacity = np.array([data.draw(st.sampled_from([0.0, 1.0, 3.0, 10.0, np.inf])) for _ in range(LINKS)])
    rows = data.draw(
        st.lists(st.lists(st.integers(0, LINKS - 1), min_size=1, unique=True), min_size=6, max_size=12)
    )
    powers = st.integers(-7, 7)
    weight = [10.0 ** data.draw(powers) for row in rows for _ in row]
    flows, times = start_together(capacity, rows, weight, np.ones(len(rows)))
    rates, _ = progressive_rates(flows.first, flows.link, flows.weight, capacity)
    np.testing.assert_allclose(times.bytes_per_s, rates, rtol=1e-6)
    limited = np.flatnonzero(np.isfinite(rates))
    load = np.bincount(
        flows.link,
        flows.weight * np.repeat(np.where(np.isfinite(rates), rates, 0), np.diff(flows.first)),
        LINKS,
    )
    np.testing.assert_allclose(
        load[times.bottleneck[limited]], capacity[times.bottleneck[limited]], rtol=1e-6
    )


def test_a_light_flow_beside_a_heavy_one_is_not_lost_in_rounding():
    # Once the heavy flow is frozen on link 1, what is left of the sum of weights on link 0 must still be 1e-12 exactly.
    rows, weight = [[0, 1], [0], [0], [1], [1]], [1e6, 1.0, 1e-12, 1e-12, 1.0, 1e3]
    capacity = np.array([10.0, 1.0, 1.0, 1.0])
    flows, times = start_together(capacity, rows, weight, np.ones(len(rows)))
    rates, _ = progressive_rates(flows.first, flows.link, flows.weight, capacity)
    np.testing.assert_allclose(times.bytes_per_s, rates, rtol=1e-9)
