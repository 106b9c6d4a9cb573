"""A real child of a real process that is told to end, or killed, is gone with it."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from gpufabric.lab.die_together import SignalGate, signals_end_us_cleanly

OURS = """
import sys, time
from pathlib import Path
from gpufabric.lab.run_program import started
with started(["/bin/sh", "-c", "sleep 60 & echo $! $$; wait"], Path(sys.argv[1]), {}) as program:
    while b"\\n" not in program.tail(100):
        time.sleep(0.01)
    print(program.last_words(), flush=True)
    time.sleep(60)
"""


def lives(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    stat = Path(f"/proc/{process}/stat")
    return not stat.exists() or stat.read_text().rsplit(")", 1)[1].split()[0] != "Z"


@pytest.mark.parametrize(
    ("number", "status"),
    [(signal.SIGTERM, 143), (signal.SIGHUP, 129), (signal.SIGKILL, -signal.SIGKILL)],
    ids=["SIGTERM", "SIGHUP", "SIGKILL"],
)
def test_children_end_with_us(number: signal.Signals, status: int, tmp_path: Path):
    with subprocess.Popen([sys.executable, "-c", OURS, tmp_path], stdout=subprocess.PIPE, text=True) as ours:
        assert ours.stdout is not None
        children = [int(word) for word in ours.stdout.readline().split()]
        assert all(lives(child) for child in children)
        assert len(children) == 2
        ours.send_signal(number)
        assert ours.wait(20) == status
    for _ in range(200):
        if not any(lives(child) for child in children):
            break
        time.sleep(0.05)
    assert [child for child in children if lives(child)] == []


def test_a_signal_waits_while_something_is_being_started():
    with pytest.raises(SystemExit) as ended, signals_end_us_cleanly() as gate:
        gate.hold()
        signal.raise_signal(signal.SIGTERM)
        signal.raise_signal(signal.SIGTERM)
        gate.release()
    assert ended.value.code == 143
    assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL


def test_handlers_of_others_are_left_alone():
    with signals_end_us_cleanly() as gate:
        outer = signal.getsignal(signal.SIGTERM)
        with signals_end_us_cleanly() as inner:
            assert signal.getsignal(signal.SIGTERM) == outer
            assert inner is gate
        assert signal.getsignal(signal.SIGTERM) == outer
    assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL


def test_outside_the_main_thread_nothing_is_set():
    seen: list[object] = []

    def look() -> None:
        with signals_end_us_cleanly() as gate:
            seen.extend([isinstance(gate, SignalGate), signal.getsignal(signal.SIGTERM)])

    thread = threading.Thread(target=look)
    thread.start()
    thread.join()
    assert seen == [True, signal.SIG_DFL]
