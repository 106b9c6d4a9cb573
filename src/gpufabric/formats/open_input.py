"""A path from the command line → an open file, without waiting for somebody to write to a named pipe."""

from __future__ import annotations

import os
from pathlib import Path
from typing import BinaryIO


def open_input(path: Path | str) -> BinaryIO:
    """Open a file for reading in binary.

    A named pipe is opened at once, and reads as empty while nobody has it open for writing; opened the usual way, it would hold
    the command up for good. Pipes of a shell (``/dev/stdin``, ``<(command)``) have their writer already.

    Raises
    ------
    OSError, ValueError
        As :meth:`pathlib.Path.open` does.
    """
    return open(path, "rb", opener=_open_at_once)


def _open_at_once(path: str, flags: int) -> int:
    if not hasattr(os, "O_NONBLOCK"):
        return os.open(path, flags)
    descriptor = os.open(path, flags | os.O_NONBLOCK)
    os.set_blocking(descriptor, True)
    return descriptor
