"""The slow place as a cause, and in the words of a verdict."""

from __future__ import annotations

import pytest

from gpufabric.diagnosis.common_suspect import find_suspects
from gpufabric.diagnosis.slow_place import slow_words
from gpufabric.records.compared_run import ComparedRun
from gpufabric.records.findings import Finding


def run(hosts, rate):
    return ComparedRun(f"run on {hosts}", "f", "all_reduce", 8, tuple(hosts), (), 1 << 30, rate, float("nan"))


def suspect(where, confidence=0.9):
    return Finding("suspect-place", "error", where, "", confidence=confidence)


@pytest.mark.parametrize(
    ("places", "words"),
    [
        ([], ""),
        (["server n7"], "one server slow: n7"),
        (["server n7", "server n9"], "2 servers slow: n7, n9"),
        (["leaf l1", "NIC mlx5_3"], "one leaf slow: l1; one NIC slow: mlx5_3"),
    ],
)
def test_words(places, words):
    assert slow_words([suspect(place) for place in places]) == words


def test_what_may_as_well_be_another_is_not_named_in_the_verdict():
    assert slow_words([suspect("server n7", 0.5), suspect("leaf l1")]) == "one leaf slow: l1"


PAIRS = [("n0", "n1"), ("n2", "n3"), ("n4", "n5"), ("n0", "n3"), ("n1", "n4"), ("n2", "n5")]


def test_a_little_less_counts_where_it_is_seen_twice():
    (found,) = find_suspects([run(pair, 93.0 if "n3" in pair else 100.0) for pair in PAIRS])
    assert (found.where, found.severity) == ("server n3", "warning")


def test_a_little_less_seen_once_or_among_runs_that_differ_is_nothing():
    assert find_suspects([run(pair, 93.0 if i == 1 else 100.0) for i, pair in enumerate(PAIRS)]) == []
    rates = (100.0, 93.0, 98.0, 93.0, 102.0, 97.0)
    assert find_suspects([run(pair, rate) for pair, rate in zip(PAIRS, rates, strict=True)]) == []
