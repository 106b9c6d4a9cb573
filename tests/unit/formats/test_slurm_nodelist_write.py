"""Folded host lists are read back as the names that they were made of."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpufabric.formats.slurm_nodelist import expand
from gpufabric.formats.slurm_nodelist_write import write_nodelist


@pytest.mark.parametrize(
    ("names", "text"),
    [
        (["srv01", "srv02", "srv04"], "srv[01-02,04]"),
        (["srv7"], "srv7"),
        (["srv9", "srv10"], "srv9,srv10"),
        (["a1-n1", "a1-n2", "a2-n1"], "a1-n[1-2],a2-n1"),
        (["head", "srv1"], "head,srv1"),
        (["001", "002"], "[001-002]"),
    ],
)
def test_runs_of_the_last_number_fold(names, text):
    assert write_nodelist(names) == text


@settings(max_examples=25)
@given(
    st.lists(
        st.tuples(st.sampled_from(["a", "a1-", "b.c", "n0"]), st.integers(-1, 120), st.integers(1, 4)),
        min_size=1,
    )
)
def test_reading_back_gives_the_same_names(parts):
    names = [head if number < 0 else f"{head}{number:0{width}d}" for head, number, width in parts]
    assert expand(write_nodelist(names)) == names
