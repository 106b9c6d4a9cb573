"""JSON that every reader accepts."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpufabric.report.json_text import json_document, json_text, plain_json

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@given(values)
def test_any_value_becomes_strict_ascii_json_without_control_characters(value):
    text = json_text({"value": value})
    json.loads(text, parse_constant=lambda name: pytest.fail(f"{name} is not JSON"))
    assert text.isascii()
    assert text.replace("\n", "").isprintable()


def test_what_is_not_a_number_is_null():
    assert plain_json([math.nan, math.inf, -math.inf, 1.5]) == [None, None, None, 1.5]


def test_numpy_values_become_plain_ones():
    document = json_document(
        "probe", {"a": np.array([[1, 2]]), "b": np.float32(0.5), "c": np.int64(3), "d": np.bool_(True)}
    )
    assert document == {
        "format": "gpufabric/1",
        "command": "probe",
        "a": [[1, 2]],
        "b": 0.5,
        "c": 3,
        "d": True,
    }
    assert type(document["c"]) is int


def test_paths_and_tuples_are_accepted_and_objects_are_not():
    assert plain_json((Path("a/b"), (1,))) == ["a/b", [1]]
    with pytest.raises(TypeError, match="object has no JSON form"):
        plain_json(object())
