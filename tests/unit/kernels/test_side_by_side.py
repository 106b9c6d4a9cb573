"""Threads change neither results nor their order, and take little ahead."""

import pytest

from gpufabric.kernels.side_by_side import side_by_side


def test_results_come_in_the_order_of_the_arguments():
    taken = []

    def arguments():
        for number in range(50):
            taken.append(number)
            yield number

    results = side_by_side(lambda number: number**2, arguments())
    assert next(results) == 0
    assert len(taken) < 10
    assert list(results) == [number**2 for number in range(1, 50)]


def test_an_error_of_one_is_raised():
    with pytest.raises(ZeroDivisionError):
        list(side_by_side(lambda number: 1 // number, [2, 0]))
