"""Components agree with a plain search through the edges."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from gpufabric.kernels.connected_components import connected_components


def by_search(vertices, edges):
    label = list(range(vertices))
    for start in range(vertices):
        if label[start] != start:
            continue
        stack = [start]
        while stack:
            here = stack.pop()
            for a, b in edges:
                for x, y in ((a, b), (b, a)):
                    if x == here and label[y] > start:
                        label[y] = start
                        stack.append(y)
    return label


@given(
    st.integers(1, 12).flatmap(
        lambda n: st.tuples(st.just(n), st.lists(st.tuples(*[st.integers(0, n - 1)] * 2)))
    )
)
def test_components_are_those_of_a_plain_search(case):
    vertices, edges = case
    ends = np.array(edges, np.int64).reshape(-1, 2)
    found = connected_components(vertices, ends[:, 0], ends[:, 1])
    assert found.tolist() == by_search(vertices, edges)


def test_a_long_path_is_one_component():
    order = np.random.default_rng(1).permutation(5000)
    assert set(connected_components(5000, order[:-1], order[1:])) == {0}
