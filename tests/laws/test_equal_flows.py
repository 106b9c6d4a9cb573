"""One pass over the links says when equal flows end: what both simulators say."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpufabric.records.flows import Flows
from gpufabric.records.graph import Graph
from gpufabric.simulators import SIMULATORS
from gpufabric.simulators.equal_flows import last_end

LINKS = 6


def graph(rates):
    ends = np.arange(LINKS, dtype=np.int32)
    none = np.empty(0, np.int32)
    offsets = np.arange(LINKS + 2).clip(max=LINKS)
    kinds = np.zeros(LINKS + 1, np.int8)
    return Graph(
        offsets, ends, ends + 1, np.array(rates), np.zeros(LINKS), kinds.astype(np.int32), kinds, none, none
    )


weights = st.lists(st.floats(0.1, 10), min_size=LINKS, max_size=LINKS)
used = st.lists(st.booleans(), min_size=LINKS, max_size=LINKS).filter(any)


@given(
    st.lists(st.floats(0.5, 50), min_size=LINKS, max_size=LINKS),
    st.lists(st.tuples(weights, used), min_size=1, max_size=5),
)
def test_the_last_flow_ends_when_the_fullest_link_has_carried_all(rates, asked):
    links = [np.flatnonzero(some).astype(np.int32) for _, some in asked]
    loads = [np.array(weight)[link] for (weight, _), link in zip(asked, links, strict=True)]
    flows = Flows(
        np.cumsum([0, *map(len, links)]), np.concatenate(links), np.concatenate(loads), np.zeros(len(asked))
    )
    total = np.bincount(flows.link, flows.weight, minlength=LINKS)
    kind = np.arange(LINKS) % 2
    seconds, link = last_end(graph(rates), total, kind, 2)
    for simulate in SIMULATORS.values():
        assert simulate(graph(rates), flows, np.ones(flows.count)).total_s == pytest.approx(seconds.max())
    assert total[link] / rates[link] == pytest.approx(seconds.max())
    for one in (0, 1):
        free = np.where(kind == one, rates, np.inf)
        assert (total / free).max() == pytest.approx(seconds[one])


def test_links_without_a_rate_and_flows_without_links():
    rates = np.full(LINKS, 2.0)
    assert last_end(graph(rates), np.zeros(LINKS), np.zeros(LINKS, np.int8), 2)[0].tolist() == [0.0, 0.0]
    assert last_end(graph(rates), np.zeros(LINKS), np.zeros(LINKS, np.int8), 2)[1] == -1
    rates[3] = 0.0
    seconds, link = last_end(graph(rates), np.ones(LINKS), np.zeros(LINKS, np.int8), 1)
    assert (seconds[0], link) == (np.inf, 3)
