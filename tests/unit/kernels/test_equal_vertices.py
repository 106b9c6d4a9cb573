"""Vertices are told apart by their neighbourhoods, and by nothing else."""

from __future__ import annotations

import numpy as np

from gpufabric.kernels.equal_vertices import equal_vertices, row_sums


def classes(colour: list[int], edges: list[tuple[int, int, int]]) -> list[int]:
    a, b, label = np.array(edges, np.int64).reshape(-1, 3).T
    return equal_vertices(np.array(colour), a, b, label).tolist()


def test_the_ends_of_a_path_are_equal_and_so_are_its_inner_vertices() -> None:
    """A path of five: its middle differs from the two beside it, though all three have two edges."""
    found = classes([0] * 5, [(0, 1, 0), (2, 1, 0), (2, 3, 0), (4, 3, 0)])
    assert found[0] == found[4] != found[1] == found[3] != found[2]
    assert len(set(found)) == 3


def test_the_direction_and_the_label_of_an_edge_count() -> None:
    assert len(set(classes([0, 0], [(0, 1, 7)]))) == 2
    assert len(set(classes([0] * 4, [(0, 1, 7), (2, 3, 7)]))) == 2
    assert len(set(classes([0] * 4, [(0, 1, 7), (2, 3, 8)]))) == 4


def test_colours_and_the_number_of_edges_are_kept_apart() -> None:
    assert len(set(classes([5, 9], []))) == 2
    assert len(set(classes([0] * 4, [(0, 1, 0), (2, 3, 0), (2, 3, 0)]))) == 4


def test_rows_with_equal_contents_in_any_order_have_equal_sums() -> None:
    sums = row_sums(3, np.array([0, 0, 1, 1, 2]), np.array([4, 6, 6, 4, 4]), 1)
    assert sums[0] == sums[1] != sums[2]
