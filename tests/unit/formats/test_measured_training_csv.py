import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpufabric.errors import InputError
from gpufabric.formats.measured_training_csv import read_measured_training

HEADER = "id,group,model,gpu,gpus,seq_len,micro_batch,TP,tokens_per_s,step_time_s,notes\n"


def rows_of(tmp_path, *lines):
    path = tmp_path / "own.csv"
    path.write_text(HEADER + "".join(f"{line}\n" for line in lines), encoding="utf-8")
    return read_measured_training(path)


def test_blank_cells_stay_unknown(tmp_path):
    (row,) = rows_of(tmp_path, "a,lab,m,H100,8,,,,,,").rows
    assert (row.sequence, row.micro_batch, row.step_time_s, row.degrees, row.kind) == (
        0,
        0,
        0.0,
        {},
        "measured",
    )


def test_the_rate_of_all_gpus_becomes_that_of_one(tmp_path):
    (row,) = rows_of(tmp_path, "a,lab,m,H100,8,4096,1,2,8000,,").rows
    assert row.tokens_per_s_per_gpu == 1000
    assert row.degrees == {"tp": 2}


def test_notes_tell_micro_batches(tmp_path):
    (row,) = rows_of(tmp_path, "a,lab,m,H100,8,4096,1,2,,1.5,case x; 32 micro-batches per iteration").rows
    assert row.micro_batches == 32


@pytest.mark.parametrize("cell", ["-1", "0", "1e9", "9" * 40, "half"])
def test_odd_numbers_leave_the_row_out(tmp_path, cell):
    found = rows_of(tmp_path, f"a,lab,m,H100,{cell},4096,1,2,,1.5,")
    assert not found.rows
    assert "is no whole number" in found.left_out[0].reason


def test_escapes_of_a_terminal_are_shown_harmless(tmp_path):
    (row,) = rows_of(tmp_path, "a\x1b[31m,lab,m\x1b]0;x,H100,8,4096,1,2,,1.5,").rows
    assert "\x1b" not in row.id + row.model


@settings(max_examples=25, deadline=None)
@given(st.text(max_size=200))
def test_any_text_is_read_or_refused_in_one_line(tmp_path_factory, text):
    path = tmp_path_factory.mktemp("any") / "own.csv"
    path.write_text(HEADER + text, encoding="utf-8", errors="replace")
    found = _read_or_message(path)
    assert "\n" not in found


def _read_or_message(path):
    try:
        return read_measured_training(path).file
    except InputError as error:
        return str(error)
