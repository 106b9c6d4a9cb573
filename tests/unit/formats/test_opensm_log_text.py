"""What OpenSM's log says of the engine that was really used."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gpufabric.errors import InputError
from gpufabric.formats import opensm_log_text

CAPTURED = Path(__file__).parents[2] / "captured" / "opensm"
FELL_BACK = CAPTURED / "uneven-fell-back.log"


def test_the_engine_that_was_asked_for():
    log = opensm_log_text.read(CAPTURED / "small-ftree.log")
    assert (log.version, log.engine, log.subnet_up) == ("3.3.23", "ftree", True)
    assert (log.errors, log.error_count, log.not_understood) == ((), 0, 0)


def test_a_tree_that_is_not_pure_is_routed_by_minhop():
    log = opensm_log_text.read(FELL_BACK)
    assert (log.engine, log.subnet_up, log.not_understood) == ("minhop", True, 0)
    assert [error.line for error in log.errors] == [18, 21, 23]
    assert "Different number of ports in an upward port group" in log.errors[0].text
    assert "ftree: cannot build lid matrices" in log.errors[2].text


def test_the_last_sweep_counts_and_foreign_lines_are_counted(tmp_path: Path):
    path = tmp_path / "log"
    later = (
        "Dec 01 10:00:00 000001 [1] 0x02 -> osm_ucast_mgr_process: updn tables configured on all switches\n"
    )
    again = "Dec 01 10:00:00 000002 [1] 0x80 -> Entering DISCOVERING state\n"
    path.write_text("rotated\n" + FELL_BACK.read_text() + again + later + "?\n")
    log = opensm_log_text.read(path)
    assert log.engines == ("minhop", "updn")
    assert (log.engine, log.subnet_up, log.not_understood) == ("updn", False, 2)


def test_an_empty_log_says_nothing(tmp_path: Path):
    path = tmp_path / "log"
    path.touch()
    log = opensm_log_text.read(path)
    assert (log.version, log.engine, log.subnet_up, log.error_count) == ("", "", False, 0)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers(0, FELL_BACK.stat().st_size - 1), st.binary(max_size=6))
def test_damaged_logs_are_read(tmp_path: Path, at: int, bytes_: bytes):
    raw = FELL_BACK.read_bytes()
    path = tmp_path / "log"
    path.write_bytes(raw[:at] + bytes_ + raw[at + len(bytes_) :])
    log = opensm_log_text.read(path)
    assert log.error_count <= 4
    assert all(error.text.isprintable() for error in log.errors)


def test_a_missing_log_is_said_in_one_line(tmp_path: Path):
    with pytest.raises(InputError, match="can't be read"):
        opensm_log_text.read(tmp_path / "none")
