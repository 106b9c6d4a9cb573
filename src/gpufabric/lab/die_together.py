"""Our own end, by a signal or by being killed → the end of the programs that we have started."""

from __future__ import annotations

import signal
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType

ENDING_SIGNALS = (signal.SIGTERM, signal.SIGHUP)
# Waits for a line; when there is none because we are gone, nobody else can end the group any more.
_WATCH = 'read -r line || kill -s KILL -- "-$1"'


class SignalGate:
    """Turns a signal that would end us at once into an exit that goes through every ``finally``.

    Between :meth:`hold` and :meth:`release` it waits, so that nothing is started that nobody knows of.
    """

    def __init__(self) -> None:
        self._held = False
        self._came: int | None = None

    def hold(self) -> None:
        """Let signals wait."""
        self._held = True

    def release(self) -> None:
        """Let signals act; one that has come meanwhile acts now.

        Raises
        ------
        SystemExit
            With what a shell reports for the signal.
        """
        self._held = False
        if self._came is not None:
            came, self._came = self._came, None
            raise SystemExit(128 + came)

    def take(self, number: int, frame: FrameType | None) -> None:
        """Take a signal; others of its kind are ignored from then on, because what follows is cleaning up."""
        del frame
        signal.signal(number, signal.SIG_IGN)
        self._came = number
        if not self._held:
            self.release()


@contextmanager
def signals_end_us_cleanly() -> Iterator[SignalGate]:
    """Make SIGTERM and SIGHUP run the ``finally`` of every block while this one lasts.

    Signals that somebody else handles or ignores are left alone, and so are all of them outside the main thread, where Python
    sets no handlers.
    """
    # Inside another such block its gate is the one that acts.
    outer = getattr(signal.getsignal(signal.SIGTERM), "__self__", None)
    gate = outer if isinstance(outer, SignalGate) else SignalGate()
    main = threading.current_thread() is threading.main_thread()
    ours = [number for number in ENDING_SIGNALS if main and signal.getsignal(number) == signal.SIG_DFL]
    for number in ours:
        signal.signal(number, gate.take)
    try:
        yield gate
    finally:
        for number in ours:
            signal.signal(number, signal.SIG_DFL)


@contextmanager
def killed_with_us(group: int) -> Iterator[None]:
    """Have a process group killed when we are gone without a word, as after SIGKILL, while this block lasts.

    A shell in a session of its own holds the other end of a pipe from us. The kernel closes it however we end.
    """
    watch = subprocess.Popen(
        ["/bin/sh", "-c", _WATCH, "sh", str(group)],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        yield
    finally:
        with suppress(BrokenPipeError):
            watch.communicate(b"\n")
