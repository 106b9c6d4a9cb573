"""SimAI's bus bandwidths (``busbw.yaml``, analytical mode) ↔ bytes/s by group and collective.

It looks like YAML and is not: the first line is skipped, a line that ends in a colon begins a group, a line that begins with #
is left out, all others are ``KEY,: VALUE`` with a number in GB/s, where a GB is 2³⁰ bytes, or ``null``. Source:
AstraParamParse.hh, Layer.cc and Common.hh of https://github.com/aliyun/SimAI, read 2026-12-01.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import BinaryIO

from gpufabric.formats.strict_lines import WordLine, word_lines
from gpufabric.units import from_gibibytes, gibibytes

COLLECTIVES = ("allreduce", "allgather", "reducescatter", "alltoall")
GROUPS = {"TP": COLLECTIVES, "DP": COLLECTIVES, "EP": COLLECTIVES, "PP": ("busbw",)}
_FIRST = "test"


def write(rates: Mapping[tuple[str, str], float], comment: str = "") -> str:
    """Return the file of some rates, in bytes/s by group and collective; what is not given is ``null``."""
    lines = [_FIRST, *([f"# {comment}"] if comment else [])]
    for group, keys in GROUPS.items():
        lines.append(f"{group}:")
        for key in keys:
            rate = rates.get((group, key))
            value = "null" if rate is None else f"{gibibytes(rate):.9g}"
            lines.append(f"{key}{',' if key in COLLECTIVES else ''}: {value}")
    return "\n".join(lines) + "\n"


def read(source: str | Path | BinaryIO, name: str = "") -> dict[tuple[str, str], float]:
    """Read such a file; a rate that is ``null`` is left out.

    Raises
    ------
    InputError
        For a group, key or value that SimAI would silently leave out.
    """
    rates: dict[tuple[str, str], float] = {}
    group = ""
    for number, line in enumerate(word_lines(source, name)):
        if number == 0:
            continue
        if len(line.words) == 1 and line.words[0].endswith(":"):
            group = line.words[0][:-1]
            if group not in GROUPS:
                line.refuse("is no group", f"allowed are {', '.join(GROUPS)}")
            continue
        key = line.words[0].rstrip(":").rstrip(",")
        if not line.words[0].endswith(":") or len(line.words) != 2 or key not in GROUPS.get(group, ()):
            line.refuse(
                "is not understood", f"allowed are {', '.join(GROUPS.get(group, GROUPS))} with a value"
            )
        if line.words[1] != "null":
            rates[group, key] = from_gibibytes(WordLine(line.where, line.words).number(1))
    return rates
