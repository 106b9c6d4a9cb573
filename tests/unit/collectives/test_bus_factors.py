"""Bus bandwidth per algorithm bandwidth is what nccl-tests prints."""

import pytest

from gpufabric.collectives import ALGORITHMS
from gpufabric.collectives.bus_factors import OPS, bus_factor
from gpufabric.errors import InputError


@pytest.mark.parametrize(
    ("op", "ranks", "factor"),
    [
        ("all_reduce", 8, 1.75),
        ("all_reduce", 2, 1.0),
        ("all_gather", 8, 0.875),
        ("reduce_scatter", 4, 0.75),
        ("all_to_all", 16, 15 / 16),
        ("all_to_all_v", 16, 15 / 16),
        ("gather", 2, 0.5),
        ("scatter", 5, 0.8),
        ("broadcast", 9, 1.0),
        ("reduce", 9, 1.0),
        ("send_recv", 2, 1.0),
    ],
)
def test_factors_are_those_of_nccl_tests(op, ranks, factor):
    assert bus_factor(op, ranks) == pytest.approx(factor)


def test_every_operation_has_a_factor_and_an_algorithm():
    assert sorted(OPS) == sorted(ALGORITHMS)


def test_unknown_operations_and_lone_ranks_are_refused():
    with pytest.raises(
        InputError, match=r'operation "all_reduse" is unknown; .* Did you mean "all_reduce"\?'
    ):
        bus_factor("all_reduse", 8)
    with pytest.raises(InputError, match="ranks: 1 is out of range"):
        bus_factor("all_reduce", 1)
