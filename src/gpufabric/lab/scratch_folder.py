"""A run of real programs → a folder of its own; what a killed run has left behind is cleared away by the next one."""

from __future__ import annotations

import os
import re
import shutil
import signal
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_PREFIX = "gpufabric-lab-"
_NAME = re.compile(rf"{_PREFIX}(\d{{1,10}})-(\d{{1,20}})-[A-Za-z0-9_]{{1,16}}")
_START_FIELD = 19  # field 22 of proc(5)'s stat, of which three stand before what follows the command's name
_PROC = Path("/proc")


@contextmanager
def scratch_folder() -> Iterator[Path]:
    """Give an empty folder that is gone at the end, and clear those whose owners were killed.

    The name tells which process owns it and when that one began, so a number that is used again is not taken for the owner.
    """
    clear_orphans(Path(tempfile.gettempdir()))
    own = os.getpid()
    prefix = f"{_PREFIX}{own}-{_began(own) or 0}-"
    with tempfile.TemporaryDirectory(prefix=prefix, ignore_cleanup_errors=True) as name:
        yield Path(name)


def clear_orphans(place: Path) -> list[Path]:
    """Remove the scratch folders below *place* whose owners are gone, and end the programs that still run in them.

    Only folders of this user are touched, and only where the system tells of processes (Linux).

    Returns
    -------
    list of Path
        What was removed.
    """
    orphans: list[Path] = []
    if _began(os.getpid()) is None:
        return orphans
    with suppress(OSError):
        for folder in sorted(place.glob(f"{_PREFIX}*")):
            found = _NAME.fullmatch(folder.name)
            if found and _is_ours(folder) and _began(int(found[1])) != int(found[2]):
                orphans.append(folder)
    for folder in orphans:
        _end_programs_in(folder)
        shutil.rmtree(folder, ignore_errors=True)
    return orphans


def _is_ours(folder: Path) -> bool:
    try:
        return not folder.is_symlink() and folder.is_dir() and folder.stat().st_uid == os.getuid()
    except OSError:
        return False


def _began(process: int) -> int | None:
    """Return when a process began, in ticks since the system did; None where there is none."""
    try:
        text = (_PROC / str(process) / "stat").read_text(encoding="ascii", errors="replace")
        return int(text.rpartition(")")[2].split()[_START_FIELD])
    except (OSError, ValueError, IndexError):
        return None


def _end_programs_in(folder: Path) -> None:
    for entry in _PROC.glob("[0-9]*/cwd"):
        with suppress(OSError):
            if entry.readlink() == folder.resolve():
                os.kill(int(entry.parent.name), signal.SIGKILL)
