"""Counts and lengths as people read them."""

import math

import pytest

from gpufabric.units import counted, format_length_range, microseconds, percent_text


@pytest.mark.parametrize(
    ("number", "words", "text"),
    [
        (0, ("part",), "0 parts"),
        (1, ("part",), "1 part"),
        (2, ("storage server",), "2 storage servers"),
        (1016, ("GPU",), "1,016 GPUs"),
        (1, ("leaf", "leaves"), "1 leaf"),
        (32, ("leaf", "leaves"), "32 leaves"),
    ],
)
def test_a_count_has_its_noun(number, words, text):
    assert counted(number, *words) == text


@pytest.mark.parametrize(
    ("lengths", "text"),
    [
        ([5.0, 19.0, 7.0], "5–19 m"),
        ([3.0], "3 m"),
        ([], "unknown"),
        ([math.nan], "unknown"),
        ([0.5, math.nan], "0.5 m, some unknown"),
        ([30.0, 2000.0], "30–2,000 m"),
    ],
)
def test_lengths_are_a_range(lengths, text):
    assert format_length_range(lengths) == text


@pytest.mark.parametrize(
    ("share", "text"),
    [(0, "0 %"), (0.031, "3.1 %"), (0.0994, "9.9 %"), (0.0996, "10 %"), (0.46, "46 %"), (1.71, "171 %")],
)
def test_a_share_is_per_cent(share, text):
    assert percent_text(share) == text


def test_microseconds_are_a_number_of_them():
    assert microseconds(0.00025) == pytest.approx(250)
