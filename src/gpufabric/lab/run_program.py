"""A real program → started in a process group of its own, waited for with a limit, and gone at the end, whatever happens."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from gpufabric.errors import InputError
from gpufabric.lab.die_together import killed_with_us, signals_end_us_cleanly

_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_POLL_S = 0.02
_GRACE_S = 2.0
_TAIL = 1 << 16


@dataclass(frozen=True, slots=True)
class Program:
    """A program that runs; its output goes to ``output``."""

    name: str
    process: subprocess.Popen[bytes]
    output: Path

    @property
    def running(self) -> bool:
        """Whether it has not ended yet."""
        return self.process.poll() is None

    def last_words(self, limit: int = 300) -> str:
        """Return the end of what the program printed, on one line."""
        return " ".join(self.tail(2 * limit).decode("utf-8", "replace").split())[-limit:]

    def tail(self, size: int) -> bytes:
        """Return the last bytes that the program printed."""
        with self.output.open("rb") as stream:
            stream.seek(max(0, self.output.stat().st_size - size))
            return stream.read(size)


def find_program(name: str, package: str) -> str:
    """Return the path of an installed program, also where only root looks for it.

    Raises
    ------
    InputError
        If it is not installed; *package* is the Debian package that has it.
    """
    found = shutil.which(name) or shutil.which(name, path=_PATH)
    if found is None:
        raise InputError(
            f"{name}: is not installed; this command drives the real program; install it (Debian: apt install {package})"
        )
    return found


@contextmanager
def started(
    command: Sequence[str], folder: Path, settings: Mapping[str, str], standard_input: Path = Path(os.devnull)
) -> Iterator[Program]:
    """Run *command* in *folder* while the block lasts; at its end, or ours, the whole process group is killed.

    SIGTERM and SIGHUP leave the block as an exception does; after SIGKILL a watching shell kills the group.

    Parameters
    ----------
    command
        Path and arguments.
    folder
        Working directory; the output goes to a file in it.
    settings
        Environment variables besides PATH and the language.
    standard_input
        What it reads from.
    """
    name = Path(command[0]).name
    output = folder / f"{name}.out"
    environment = {"PATH": _PATH, "LC_ALL": "C", "HOME": str(folder), "TMPDIR": str(folder), **settings}
    with signals_end_us_cleanly() as gate, output.open("wb") as stream, standard_input.open("rb") as given:
        gate.hold()
        process = subprocess.Popen(
            command,
            cwd=folder,
            env=environment,
            stdin=given,
            stdout=stream,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            with killed_with_us(process.pid):
                gate.release()
                yield Program(name, process, output)
        finally:
            _end_group(process)


def wait_for(program: Program, others: Sequence[Program], limit_s: float) -> int:
    """Wait until *program* has ended and return its exit status.

    Parameters
    ----------
    program
    others
        Programs that it needs; when one of them ends, waiting is in vain.
    limit_s
        Seconds.

    Raises
    ------
    InputError
        If the limit is reached, or another program that it needs has ended.
    """
    end = time.monotonic() + limit_s
    while program.running:
        gone = [other for other in others if not other.running]
        if gone:
            raise InputError(
                f"{gone[0].name}: ended too early ({gone[0].last_words()}); run it by hand to see why"
            )
        if time.monotonic() > end:
            raise InputError(
                f"{program.name}: did not end within {limit_s:.0f} s and was stopped; give it longer with --timeout, "
                "or take a smaller fabric"
            )
        time.sleep(_POLL_S)
    return program.process.wait()


def wait_for_text(program: Program, text: bytes, limit_s: float) -> None:
    """Wait until *program* has printed *text* and little after it.

    Raises
    ------
    InputError
        If the program ends or the limit is reached before.
    """
    end = time.monotonic() + limit_s
    while text not in program.tail(_TAIL):
        if not program.running or time.monotonic() > end:
            what = "did not get ready" if program.running else "ended too early"
            raise InputError(f"{program.name}: {what} ({program.last_words()}); run it by hand to see why")
        time.sleep(_POLL_S)


def _end_group(process: subprocess.Popen[bytes]) -> None:
    """End all processes of the group: first asked, then killed."""
    for sign in (signal.SIGTERM, signal.SIGKILL):
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, sign)
        with suppress(subprocess.TimeoutExpired):
            process.wait(_GRACE_S)
            if sign == signal.SIGKILL or not _group_lives(process.pid):
                return


def _group_lives(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except (ProcessLookupError, PermissionError):
        return False
    return True
