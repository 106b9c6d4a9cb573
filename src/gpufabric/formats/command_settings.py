"""A log with the command line that started it → the library's settings in it: ``-x NCCL_IB_HCA=mlx5_0``."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from gpufabric.errors import printable
from gpufabric.formats.without_secrets import without_secrets

MAX_SETTINGS = 256
_SETTING = re.compile(
    r"(?<![\w])((?:N|R)CCL_[A-Z][A-Z0-9_]{1,60})=(?:\"([^\"]{0,200})\"|'([^']{0,200})'|([^\s\"';]{0,200}))"
)
_SECRET = re.compile(r"KEY|TOKEN|SECRET|PASS")


def settings_in(lines: Iterable[tuple[int, str]], file: str) -> Mapping[str, tuple[str, str]]:
    """Return name → (value, file:line) of the settings that lines assign, the last of each name.

    Parameters
    ----------
    lines : iterable of (int, str)
        Numbers from 1 and texts.
    file : str
        What the places call the file.
    """
    found: dict[str, tuple[str, str]] = {}
    for number, text in lines:
        if "CCL_" not in text:
            continue
        for match in _SETTING.finditer(text):
            name, value = match[1], match[2] or match[3] or match[4] or ""
            if not _SECRET.search(name) and (name in found or len(found) < MAX_SETTINGS):
                found[name] = printable(without_secrets(value), 200), f"{file}:{number}"
    return found
