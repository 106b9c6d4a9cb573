"""The table of an all_to_all_v: scaled to the busiest rank, refused where it can't be."""

import numpy as np
import pytest

from gpufabric.errors import InputError
from gpufabric.jobs.pair_bytes import pair_bytes_of, uneven_note


def test_the_busiest_rank_sends_or_receives_the_size():
    table = np.array([[0.0, 3.0], [1.0, 1.0]])
    found = pair_bytes_of("all_to_all_v", 800, 2, table, None, 0)
    np.testing.assert_allclose(found, [[0, 600], [200, 200]])
    assert found.sum(axis=0).max() == pytest.approx(800)


@pytest.mark.parametrize("unit", [1e-300, 1e300])
def test_any_unit_will_do(unit):
    found = pair_bytes_of("all_to_all_v", 1 << 50, 2, np.array([[0.0, unit], [unit, 0.0]]), None, 0)
    np.testing.assert_allclose(found, [[0, 2.0**50], [2.0**50, 0]])


def test_other_operations_have_none():
    assert pair_bytes_of("all_reduce", 8, 2, None, None, 0) is None


@pytest.mark.parametrize(
    ("op", "shares", "skew", "message"),
    [
        ("all_reduce", np.ones((2, 2)), None, "--matrix: all_reduce sends every rank as much"),
        (
            "all_to_all",
            None,
            1.0,
            "--skew: all_to_all sends every rank as much as any other; allowed is all_to_all_v",
        ),
        ("all_to_all_v", None, None, "no table of bytes was given"),
        ("all_to_all_v", np.ones((3, 3)), None, "the table has 3 rows; allowed is one a rank, 2"),
        ("all_to_all_v", np.diag([5.0, 5.0]), None, "no rank of the table sends to another one"),
        ("all_to_all_v", np.array([[0, np.inf], [1, 0]]), None, "negative or not finite"),
        ("all_to_all_v", np.array([[0, -1.0], [1, 0]]), None, "negative or not finite"),
    ],
)
def test_what_can_not_be_is_one_line(op, shares, skew, message):
    with pytest.raises(InputError) as caught:
        pair_bytes_of(op, 1000, 2, shares, skew, 0)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_uneven_tables_say_by_how_much():
    (note,) = uneven_note(np.array([[0, 3e9], [1e9, 0]]))
    assert "1.5 times the mean" in note
    assert "0.667 of the size (2 GB for 3 GB)" in note
    assert uneven_note(np.ones((4, 4))) == ()
    assert uneven_note(None) == ()
