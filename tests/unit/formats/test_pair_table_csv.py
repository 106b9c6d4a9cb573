"""A table of bytes a pair: what is read and what is refused in one line."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpufabric.errors import InputError
from gpufabric.formats import pair_table_csv


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("tables")


def read(folder, data):
    path = folder / "pairs.csv"
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return pair_table_csv.read(path)


def test_a_square_of_numbers(folder):
    np.testing.assert_array_equal(read(folder, "0,1.5\r\n2e9,0\r\n\r\n"), [[0, 1.5], [2e9, 0]])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "0 rows of 0 numbers; allowed is a square table"),
        ("1,2", "1 rows of 2 numbers"),
        ("1,2\n3", "pairs.csv:2: 1 numbers; allowed are as many as in the first row, 2"),
        ("1,x\n3,4", "pairs.csv:1: a value is no number of 0 or more"),
        ("1,-2\n3,4", "a value is no number of 0 or more"),
        ("1,inf\n3,4", "a value is no number of 0 or more"),
        ("0,0\n0,0", "every number is 0"),
        (
            "5,0\n0,5",
            "every number above 0 is on the diagonal, from a rank to itself; allowed is a table in which",
        ),
        ("0,1e300\n1,0", "pairs.csv:1: a value is out of range (1e+300); allowed is 0 to 1024T"),
        (b"\xff\xfe1", "is not CSV text"),
    ],
)
def test_anything_else_is_one_line(folder, text, message):
    with pytest.raises(InputError) as caught:
        read(folder, text)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_missing_file_is_one_line(tmp_path):
    with pytest.raises(InputError, match=r"nothing\.csv: can't be read"):
        pair_table_csv.read(tmp_path / "nothing.csv")


@given(st.binary(max_size=200))
def test_any_bytes_are_a_table_or_one_line(folder, data):
    refused = ""
    try:
        found = read(folder, data)
        assert found.shape[0] == found.shape[1]
    except InputError as error:
        refused = str(error)
    assert "\n" not in refused
