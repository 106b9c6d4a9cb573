"""Rings and ways over the links of an uneven mesh."""

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpufabric.catalog.load import load_catalog
from gpufabric.collectives.uneven_mesh import ring_orders, way_orders
from gpufabric.jobs.collective import CollectiveOptions, predict_collective
from gpufabric.libraries.choose import Forced


@pytest.fixture(scope="module")
def cube():
    return load_catalog().get("dgx-1-v100").scale_up.pair_links


def used(orders, closed=True):
    pairs = Counter()
    for order in orders:
        pairs.update(zip(order, (*order[1:], order[0]) if closed else order[1:], strict=closed))
    return pairs


@st.composite
def meshes(draw):
    count = draw(st.integers(3, 6))
    links = [[0] * count for _ in range(count)]
    for a in range(count):
        for b in range(a):
            links[a][b] = links[b][a] = draw(st.integers(0, 2))
    return tuple(map(tuple, links))


@pytest.mark.parametrize(("gpus", "rings"), [(3, 2), (4, 4), (5, 0), (6, 2), (7, 4), (8, 6)])
def test_a_hybrid_cube_mesh_has_as_many_rings_as_its_links_allow(cube, gpus, rings):
    links = tuple(row[:gpus] for row in cube[:gpus])
    assert len(ring_orders(links)) == rings


def test_eight_gpus_use_every_link_in_both_directions(cube):
    assert used(ring_orders(cube)) == Counter(
        {(a, b): n for a, row in enumerate(cube) for b, n in enumerate(row) if n}
    )


@given(meshes())
@settings(max_examples=25, deadline=None)
def test_rings_visit_all_gpus_and_share_no_link(links):
    orders = ring_orders(links)
    assert all(sorted(order) == list(range(len(links))) for order in orders)
    assert all(number <= links[a][b] for (a, b), number in used(orders).items())


@given(meshes(), st.data())
@settings(max_examples=25, deadline=None)
def test_ways_begin_where_they_are_asked_to_and_visit_all_gpus(links, data):
    starts = tuple(data.draw(st.lists(st.integers(0, len(links) - 1), min_size=1, max_size=4)))
    ways = way_orders(links, starts, (frozenset(),) * len(starts))
    assert tuple(way[0] for way in ways) == starts
    assert all(sorted(way) == list(range(len(links))) for way in ways)


def test_ways_of_different_nics_share_no_link_and_end_beside_them(cube):
    ways = way_orders(cube, (0, 2, 4, 6), tuple(frozenset((first, first + 1)) for first in (0, 2, 4, 6)))
    assert all(number <= cube[a][b] for (a, b), number in used(ways, closed=False).items())
    assert [way[-1] for way in ways] == [1, 3, 5, 7]


def test_a_ring_over_servers_leaves_each_by_the_nic_that_it_came_in_by(wire):
    results = predict_collective(
        *wire("dgx-1-v100", 4, "single-switch", "qm8790"),
        "all_gather",
        [1 << 30],
        CollectiveOptions(forced=Forced("ring")),
    )
    # Four NICs of 100 Gb/s, each used by one channel.
    assert results[0].wired_busbw_bytes_per_s == pytest.approx(50e9)
