"""GOAL: the schedule moves what the collective moves, in an order that ends."""

import io
from collections import Counter

import pytest

from gpufabric.errors import InputError
from gpufabric.exports import EXPORTS
from gpufabric.formats import goal_schedule

ONE = """
name: one
servers: {model: dgx-h100, count: 2}
fabrics:
  - {name: compute, topology: rail-optimized, switch: qm9790}
"""


def schedule_of(source):
    (file,) = EXPORTS["goal"].write(source)
    return goal_schedule.read(io.BytesIO(b"".join(file.pieces)), file.path)


@pytest.mark.parametrize(
    ("op", "share"), [("all_reduce", 2 * 15 / 16), ("all_gather", 15 / 16), ("all_to_all", 15 / 16)]
)
def test_every_rank_sends_its_share(source_of, op, share):
    schedule = schedule_of(source_of(ONE, options=(("op", op), ("size", "16M"))))
    sent = [sum(one.size_bytes for one in rank if one.kind == "send") for rank in schedule.ranks]
    assert sent == [pytest.approx(share * 2**24)] * 16


def test_what_waits_is_later(source_of):
    schedule = schedule_of(source_of(ONE, options=(("ranks", "4"), ("size", "1M"))))
    assert len(schedule.ranks) == 4
    assert Counter(one.kind for rank in schedule.ranks for one in rank)["send"] == 4 * 6 * 4
    for rank in schedule.ranks:
        assert all(before < number for number, one in enumerate(rank) for before in one.after)
        assert any(one.after for one in rank)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ((("algorithm", "nvls_tree"),), "adds in switches"),
        ((("size", "4"),), "less than a byte"),
        ((("ranks", "17"),), "2 to 16 GPUs"),
        ((("algorithm", "rign"),), 'Did you mean "ring"'),
    ],
)
def test_what_it_cannot_say_is_refused(source_of, options, said):
    with pytest.raises(InputError, match=said):
        schedule_of(source_of(ONE, options=options))


def test_large_jobs_are_refused_with_a_hint(source_of):
    text = ONE.replace("count: 2", "count: 64")
    with pytest.raises(InputError, match="write out a job of fewer ranks"):
        schedule_of(source_of(text))
