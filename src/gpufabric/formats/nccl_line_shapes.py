"""Lines of a log → their shapes: what one line of a shape was not, millions of others need not be asked again.

The shape of a line is the line with all digits alike; letters of hexadecimal numbers too, where it holds one. No pattern of the
reader tells digits apart, so lines of one shape are all understood or none.
"""

from __future__ import annotations

import re
from typing import Literal

from gpufabric.formats.log_lines import strip_prefix

_MOST = 1 << 15
_LONGEST = 400
# Bytes are translated ten times as fast as text.
_DIGITS = bytes.maketrans(b"123456789", b"0" * 9)
_HEXADECIMAL = bytes.maketrans(b"123456789abcdef", b"0" * 9 + b"a" * 6)

_BANNER = re.compile(
    r"^\s*(?:HIP|ROCm|HSA|CUDA|Hostname|[Ll]ibrccl|[Ll]ibnccl|RCCL|NCCL)\b[\w ]{0,20}\s*:?\s"
)
# Lines of nccl-tests around: their own reader takes them.
_TESTS = re.compile(r"^\s*(?:#|\d{1,19}\s+\d{1,19}\s+\w{1,12}\s+(?:sum|prod|max|min|avg|none|mulsum)\s)")
Kind = Literal["nothing", "other", "missed"]


class LineShapes:
    """What is known of the shapes seen so far; of the first 32,768, so that memory stays bounded."""

    def __init__(self) -> None:
        self._kinds: dict[bytes, Kind] = {}

    def shape(self, text: str) -> bytes:
        """Return the shape of a line."""
        return text.encode("utf-8", "replace").translate(_HEXADECIMAL if "0x" in text else _DIGITS)

    def get(self, shape: bytes) -> Kind | None:
        """Return what lines of a shape hold; None when it is not known."""
        return self._kinds.get(shape)

    def keep(self, shape: bytes, kind: Kind) -> None:
        """Note what lines of a shape hold."""
        if len(self._kinds) < _MOST and len(shape) <= _LONGEST:
            self._kinds[shape] = kind


def kind_of_foreign(text: str) -> Kind:
    """Return what a line holds that NCCL did not write."""
    rest = strip_prefix(text)
    if not rest.strip() or _BANNER.match(rest):
        return "nothing"
    return "other" if _TESTS.match(rest) else "missed"
