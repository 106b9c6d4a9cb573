"""Host names → the compressed list that Slurm takes: ``su01-srv[01-32]``; the inverse of :mod:`gpufabric.formats.slurm_nodelist`.

The form is that of the manual page of slurm.conf (https://slurm.schedmd.com/slurm.conf.html, NodeName, read 2026-12-01).
"""

from __future__ import annotations

import re
from collections.abc import Sequence

_NUMBERED = re.compile(r"(.*?)([0-9]{1,9})")


def write_nodelist(names: Sequence[str]) -> str:
    """Return *names* with runs of the last number folded, in their order; leading zeros are kept.

    Parameters
    ----------
    names
        At least one; none with a comma or bracket.
    """
    groups: list[tuple[str, int, list[list[int]]]] = []
    for name in names:
        found = _NUMBERED.fullmatch(name)
        head, digits = (found[1], found[2]) if found else (name, "")
        width, number = len(digits), int(digits or 0)
        if digits and groups and groups[-1][:2] == (head, width):
            runs = groups[-1][2]
            if number == runs[-1][1] + 1:
                runs[-1][1] = number
            else:
                runs.append([number, number])
        else:
            groups.append((head, width, [[number, number]] if digits else []))
    return ",".join(_text(*group) for group in groups)


def _text(head: str, width: int, runs: list[list[int]]) -> str:
    if not runs:
        return head
    texts = [f"{first:0{width}d}" + (f"-{last:0{width}d}" if last > first else "") for first, last in runs]
    single = len(runs) == 1 and runs[0][0] == runs[0][1]
    return f"{head}{texts[0]}" if single else f"{head}[{','.join(texts)}]"
