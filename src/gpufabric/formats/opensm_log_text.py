"""OpenSM's log file → :class:`OpensmLog`: the engine that was really used, and the errors.

Lines are ``Mon DD HH:MM:SS micros [thread] 0xLEVEL -> function: text``; indented lines continue the one above. Level 0x01 is an
error. The forms are those of OpenSM 3.3.23.
"""

from __future__ import annotations

import re
from pathlib import Path

from gpufabric.errors import InputError, printable
from gpufabric.records.opensm_log import LoggedError, OpensmLog

_MAX_LINE = 4096
_MAX_LINES = 1 << 26
_KEPT_ERRORS = 100
_TEXT_LIMIT = 300
_LINE = re.compile(
    r"[A-Z][a-z]{2} +\d{1,2} \d\d:\d\d:\d\d \d{1,6} \[[0-9A-Fa-f]{1,16}\] 0x([0-9A-Fa-f]{1,2}) -> (.*)"
)
_ENGINE = re.compile(r"osm_ucast_mgr_process: ([A-Za-z0-9-]{1,32}) tables configured on all switches")
_VERSION = re.compile(r"OpenSM (\d[\w.]{0,31})")
_ERROR_LEVEL = 0x01


def read(path: Path) -> OpensmLog:
    """Return what the log at *path* says; lines that are not understood are counted.

    Raises
    ------
    InputError
        If the file can't be read.
    """
    seen = _Seen()
    try:
        with path.open("rb") as stream:
            for number in range(1, _MAX_LINES + 1):
                raw = stream.readline(_MAX_LINE)
                if not raw:
                    break
                seen.take(number, raw.decode("utf-8", "replace").rstrip("\r\n"))
    except OSError as error:
        shown = printable(str(path))
        raise InputError(f"{shown}: can't be read ({error.strerror}); name a log of OpenSM") from error
    return OpensmLog(
        seen.version,
        tuple(seen.engines),
        seen.subnet_up,
        tuple(seen.errors),
        seen.error_count,
        seen.not_understood,
    )


class _Seen:
    """What has been read so far."""

    def __init__(self) -> None:
        self.version = ""
        self.engines: list[str] = []
        self.subnet_up = False
        self.errors: list[LoggedError] = []
        self.error_count = 0
        self.not_understood = 0
        self._inside = False

    def take(self, number: int, line: str) -> None:
        """Take one line."""
        found = _LINE.fullmatch(line)
        if found is None:
            continues = self._inside and line[:1] in {" ", "\t"}
            self.not_understood += bool(line.strip()) and not continues
            return
        self._inside = True
        text = found[2]
        if version := _VERSION.fullmatch(text.strip()):
            self.version = version[1]
        elif engine := _ENGINE.match(text):
            self.engines.append(engine[1])
        elif text.strip() == "SUBNET UP":
            self.subnet_up = True
        elif "Errors during initialization" in text or text.startswith("Entering DISCOVERING"):
            self.subnet_up = False
        if int(found[1], 16) == _ERROR_LEVEL:
            self.error_count += 1
            if len(self.errors) < _KEPT_ERRORS:
                self.errors.append(LoggedError(number, printable(text.strip(), _TEXT_LIMIT)))
