import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpufabric.errors import InputError
from gpufabric.formats import csv_rows, measured_collectives_csv
from gpufabric.formats.measured_collectives_csv import read_measured_collectives

HEAD = "id,cluster,nodes,gpus,collective,bytes,time_us,busbw_GBps,algbw_GBps\n"


@pytest.fixture
def read(tmp_path):
    def reader(text, head=HEAD):
        path = tmp_path / "data.csv"
        path.write_bytes((head + text).encode())
        return read_measured_collectives(path)

    return reader


def test_a_row_is_read_in_si(read):
    (row,) = read("x,one,2,16,alltoall,1073741824,5000,201.33,214.75\n").rows
    assert (row.op, row.nodes, row.gpus, row.size_bytes, row.line) == ("all_to_all", 2, 16, 2**30, 2)
    assert row.time_s == pytest.approx(5e-3)
    assert row.busbw_bytes_per_s == pytest.approx(201.33e9)
    assert (row.kind, row.hw_class, row.nics_known) == ("measured", "", False)


@pytest.mark.parametrize(
    ("cells", "time_s", "busbw"),
    [
        ("5000,,", 5e-3, 2**30 * 1.75 / 5e-3),
        (",350,", 2**30 * 1.75 / 350e9, 350e9),
        (",,200", 2**30 / 200e9, 350e9),
    ],
)
def test_what_is_not_measured_follows_from_what_is(read, cells, time_s, busbw):
    (row,) = read(f"x,one,1,8,all_reduce,1073741824,{cells}\n").rows
    assert row.time_s == pytest.approx(time_s)
    assert row.busbw_bytes_per_s == pytest.approx(busbw)


@pytest.mark.parametrize(("text", "rounding"), [("0.01", 0.5), ("350", 0.5 / 350), ("12.50", 0.005 / 12.5)])
def test_the_last_digit_says_how_fine_a_figure_is(read, text, rounding):
    (row,) = read(f"x,one,1,8,all_reduce,32768,,{text},\n").rows
    assert row.rounding == pytest.approx(rounding)


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ("x,one,,8,all_reduce,8,1,,", "nodes is blank"),
        ("x,one,1,8,all_reduce,,1,,", "bytes is blank"),
        ("x,,1,8,all_reduce,8,1,,", "cluster is blank"),
        ("x,one,1,1,all_reduce,8,1,,", 'gpus "1" is no whole number from 2'),
        ("x,one,9,8,all_reduce,8,1,,", "gpus is 8 and nodes 9"),
        ("x,one,1,99999999999999999999,all_reduce,8,1,,", "gpus"),
        ("x,one,1,8,all_reduce,9223372036854775808,1,,", "bytes"),
        ("x,one,1,8,all_reduce,0,1,,", "bytes"),
        ("x,one,1,8,all_reduce,-8,1,,", "bytes"),
        ("x,one,1,8,all_reduce,8,0,,", "are blank, zero or no numbers"),
        ("x,one,1,8,all_reduce,8,nan,inf,1e999", "are blank, zero or no numbers"),
        ("x,one,1,8,all_reduce,8", "are blank, zero or no numbers"),
        ("x,one,1,8,\x1b[31mall_reduce,8,1,,", 'collective "\\x1b[31mall_reduce" is unknown'),
        ("x,one,1,8,all_reduce,8,1,," + "y" * 5000, "a cell has more than 4,000 characters"),
    ],
)
def test_a_row_that_can_not_be_used_is_left_out_with_its_reason(read, row, reason):
    table = read(row + "\n")
    assert table.rows == ()
    assert reason in table.left_out[0].reason
    assert table.left_out[0].line == 2


@pytest.mark.parametrize(
    ("head", "text", "message"),
    [
        ("a,b\n", "1,2\n", "column cluster is missing"),
        ("cluster,nodes,gpus,collective,bytes\n", "x\n", "no column says what was measured"),
        (HEAD.replace("id", "cluster"), "x\n", 'column "cluster" is named twice'),
        (HEAD, "", "has no rows"),
        (HEAD, '"open,one,1\n', "is not CSV"),
        ("", "", "column cluster is missing"),
    ],
)
def test_a_file_that_is_no_such_table_is_refused_in_one_line(read, head, text, message):
    with pytest.raises(InputError, match=message) as refused:
        read(text, head)
    assert "\n" not in str(refused.value)


def test_a_file_of_many_rows_is_refused(read, monkeypatch):
    monkeypatch.setattr(csv_rows, "MAX_ROWS", 3)
    with pytest.raises(InputError, match="more than 3 rows"):
        read("x,one,1,8,all_reduce,8,1,,\n" * 4)


def test_a_long_file_is_refused(read, monkeypatch):
    monkeypatch.setattr(csv_rows, "MAX_FILE_BYTES", 100)
    with pytest.raises(InputError, match="is larger than"):
        read("x" * 100)


def test_a_file_that_is_not_there_or_not_text_is_refused(tmp_path):
    with pytest.raises(InputError, match="can't be read"):
        read_measured_collectives(tmp_path / "none.csv")
    path = tmp_path / "data.csv"
    path.write_bytes(HEAD.encode() + b"\xff\xfe\n")
    with pytest.raises(InputError, match=r"data.csv:2: is not UTF-8"):
        read_measured_collectives(path)


@given(st.lists(st.text(st.characters(codec="utf-8"), max_size=12), max_size=12))
def test_no_cell_is_a_bug(cells):
    names = HEAD.strip().lower().split(",")
    row = dict(zip(names, cells + [""] * len(names), strict=False))
    said = ""
    try:
        assert measured_collectives_csv._measured(row, "x", 2).time_s > 0
    except InputError as error:
        said = str(error)
    assert said.isprintable()
