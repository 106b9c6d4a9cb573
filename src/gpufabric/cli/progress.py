"""A line on stderr while work takes longer than two seconds."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

QUIET_S = 2.0
_TICK_S = 1.0


@contextmanager
def working(text: str) -> Iterator[None]:
    """Say *text* on stderr once the block has run for two seconds; a terminal sees them counted."""
    done = threading.Event()
    ticker = threading.Thread(target=_tick, args=(text, done), daemon=True)
    ticker.start()
    try:
        yield
    finally:
        done.set()
        ticker.join()


def _tick(text: str, done: threading.Event) -> None:
    start = time.monotonic()
    if done.wait(QUIET_S):
        return
    if not sys.stderr.isatty():
        sys.stderr.write(f"{text} …\n")
        sys.stderr.flush()
        done.wait()
        return
    while True:
        sys.stderr.write(f"\r{text} … {time.monotonic() - start:.0f} s")
        sys.stderr.flush()
        if done.wait(_TICK_S):
            sys.stderr.write("\r\x1b[K")
            return
