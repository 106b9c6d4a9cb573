"""Real programs end when we do: in time, with all that they started."""

import os
import time
from pathlib import Path

import pytest

from gpufabric.errors import InputError
from gpufabric.lab.run_program import find_program, started, wait_for, wait_for_text

SHELL = "/bin/sh"


def lives(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    stat = Path(f"/proc/{process}/stat")
    return not stat.exists() or stat.read_text().rsplit(")", 1)[1].split()[0] != "Z"


def test_a_program_that_ends_says_how(tmp_path: Path):
    with started([SHELL, "-c", "echo $COLOUR; exit 3"], tmp_path, {"COLOUR": "red"}) as program:
        assert wait_for(program, [], 10) == 3
    assert program.last_words() == "red"


@pytest.mark.slow
def test_what_takes_too_long_is_killed_with_its_children(tmp_path: Path):
    script = "trap '' TERM; sleep 60 & echo $!; wait; wait"
    with (
        pytest.raises(InputError, match="sh: did not end within 0 s and was stopped"),
        started([SHELL, "-c", script], tmp_path, {}) as program,
    ):
        wait_for_text(program, b"\n", 10)
        wait_for(program, [], 0.1)
    child = int(program.last_words())
    for _ in range(100):
        if not lives(child):
            break
        time.sleep(0.05)
    assert not lives(child)
    assert not program.running


def test_waiting_ends_when_a_program_that_is_needed_ends(tmp_path: Path):
    (tmp_path / "a").mkdir()
    begin = time.monotonic()
    with (
        pytest.raises(InputError, match=r"sh: ended too early \(no network\)"),
        started([SHELL, "-c", "echo no network"], tmp_path / "a", {}) as needed,
        started([SHELL, "-c", "sleep 60"], tmp_path, {}) as program,
    ):
        wait_for(program, [needed], 50)
    assert time.monotonic() - begin < 20


@pytest.mark.parametrize(
    ("script", "limit_s", "message"),
    [("sleep 60", 0.1, "did not get ready"), ("echo broken", 10, r"ended too early \(broken\)")],
)
def test_a_program_that_never_gets_ready(tmp_path: Path, script: str, limit_s: float, message: str):
    with started([SHELL, "-c", script], tmp_path, {}) as program, pytest.raises(InputError, match=message):
        wait_for_text(program, b"ready", limit_s)


def test_a_missing_program_names_its_package():
    with pytest.raises(InputError, match=r"no-such-program: is not installed; .* apt install some-package"):
        find_program("no-such-program", "some-package")
    assert find_program("sh", "dash").endswith("/sh")
