"""Standard input or a pipe → a stream that can be read twice where it is short, and once to its end where it is not."""

from __future__ import annotations

import io
from typing import BinaryIO, cast

_KEPT_BYTES = 1 << 24


class _Joined(io.RawIOBase):
    """What was read already, and then the rest of a stream."""

    def __init__(self, head: bytes, rest: BinaryIO) -> None:
        self._head, self._rest = io.BytesIO(head), rest

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        data = self._head.read(len(buffer)) or self._rest.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)


def rewindable(stream: BinaryIO) -> BinaryIO:
    """Return a stream with the same bytes; ``seekable()`` says whether it can be read again.

    Nothing is written to a disk, so a pipe that never ends takes no room.
    """
    head = stream.read(_KEPT_BYTES)
    if len(head) < _KEPT_BYTES:
        return io.BytesIO(head)
    return cast(BinaryIO, io.BufferedReader(_Joined(head, stream)))
