"""Links that can never be full change nothing."""

import numpy as np
import pytest

from gpufabric.kernels.max_min import max_min_rates
from gpufabric.records.flows import Flows
from gpufabric.records.graph import Graph
from gpufabric.simulators.binding_links import binding_links


def graph(rates):
    """Return a graph of which only the rates matter."""
    count, none = len(rates), np.empty(0, np.int32)
    ends = np.zeros(count, np.int32)
    return Graph(
        np.array([0, count]), ends, ends, rates, np.zeros(count), none, none, none.reshape(0, 2), none
    )


def random_flows(rng, flows, links):
    sets = [np.sort(rng.choice(links, rng.integers(1, 30), replace=False)) for _ in range(flows)]
    first = np.concatenate([[0], np.cumsum([len(s) for s in sets])])
    return Flows(
        first, np.concatenate(sets).astype(np.int32), rng.uniform(0.1, 9, first[-1]), np.zeros(flows)
    )


@pytest.mark.parametrize("seed", range(40))
def test_rates_stay_the_same(seed):
    rng = np.random.default_rng(seed)
    links = 60
    rates = rng.choice([50.0, 450.0, np.inf], links, p=[0.6, 0.3, 0.1])
    flows = random_flows(rng, 7, links)
    thinned, number = binding_links(graph(rates), flows)
    whole, bottleneck = max_min_rates(flows.first, flows.link, flows.weight, rates)
    few, place = max_min_rates(thinned.first, thinned.link, thinned.weight, rates[number])
    assert few == pytest.approx(whole)
    assert (np.append(number, -1)[place] == bottleneck).all()
    assert len(number) < links


def test_flows_without_links_or_limits_stay():
    flows = Flows(np.array([0, 0, 1]), np.array([1], np.int32), np.ones(1), np.zeros(2))
    thinned, number = binding_links(graph(np.array([1.0, np.inf])), flows)
    assert (thinned.count, len(number)) == (2, 0)
