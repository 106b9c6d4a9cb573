"""``--size`` and ``--sizes`` → message sizes in bytes."""

from __future__ import annotations

from gpufabric.errors import InputError, printable
from gpufabric.units import parse_message_bytes

DEFAULT_SIZES = "1M..8G"


def message_sizes(size: str | None, sizes: str | None) -> list[int]:
    """Return the sizes that are asked for, ascending: one, or all that double from A to B of ``A..B``.

    Parameters
    ----------
    size
        One size as nccl-tests writes it.
    sizes
        ``A..B``; without both, 1M..8G.

    Raises
    ------
    InputError
        If both are given, or one is not understood or out of range.
    """
    if size is not None and sizes is not None:
        raise InputError("--size and --sizes: both are given; give one of them")
    if size is not None:
        return [parse_message_bytes(size)]
    text = sizes if sizes is not None else DEFAULT_SIZES
    first, dots, last = text.partition("..")
    if not dots:
        raise InputError(f'--sizes "{printable(text)}" is not understood; write two sizes as 1M..8G')
    low, high = parse_message_bytes(first), parse_message_bytes(last)
    if low > high:
        raise InputError(f'--sizes "{printable(text)}" falls; write the smaller size first')
    return [low << step for step in range((high // low).bit_length())]
