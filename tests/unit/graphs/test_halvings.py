"""Halvings of few groups: every one, and each once."""

import numpy as np
import pytest

from gpufabric.graphs.halvings import ServerGroups, likely_halvings


def halvings_of(gpus):
    count = len(gpus)
    groups = ServerGroups(np.arange(count), np.array(gpus, float), np.ones(count), np.arange(count))
    # The first is what looks cheapest; the choices come after it.
    return list(likely_halvings(groups))[1:]


@pytest.mark.parametrize(
    ("gpus", "count"),
    [
        ([8] * 8, 35),  # 8 choose 4, and half of that for which side is the first
        ([8] * 3, 3),  # one of three is in both halves
        ([8, 8], 1),
        ([8], 1),
        ([16, 8, 8], 2),  # the large one against the others, or in both halves with one of them in each
    ],
)
def test_each_halving_comes_once(gpus, count):
    found = halvings_of(gpus)
    sides = {tuple(np.round(side, 6)) for part in found for side in (part, 1 - part)}
    assert len(sides) == 2 * len(found) or len(gpus) == 1
    assert len(found) == count


def test_every_halving_has_half_of_the_gpus():
    gpus = np.array([3.0, 5.0, 8.0, 8.0, 9.0])
    found = halvings_of(gpus)
    assert len(found) > 5
    for part in found:
        assert part @ gpus == pytest.approx(gpus.sum() / 2)
        assert ((part > 0) & (part < 1)).sum() <= 1
