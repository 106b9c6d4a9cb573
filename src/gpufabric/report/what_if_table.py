"""What changes do to a collective → a table with a row a change and columns an operation."""

from __future__ import annotations

from collections.abc import Sequence

from gpufabric.records.what_if import WhatIf
from gpufabric.report.collective_text import RAIL_CHANGE
from gpufabric.units import format_gigabytes_per_s, percent_text

_EACH = ("busbw", "left", "held back by")


def what_if_table(found: Sequence[WhatIf]) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Return headings and rows of text: for each operation its bus bandwidth, the share left, and what holds it back."""
    ops = list(dict.fromkeys(one.op for one in found))
    columns = ("change", *(f"{op} {what}" for op in ops for what in _EACH))
    by_place = {(one.change, one.op): one for one in found}
    changes = dict.fromkeys(one.change for one in found)
    rows = [(change, *(cell for op in ops for cell in _cells(by_place[change, op]))) for change in changes]
    return columns, rows


def _cells(one: WhatIf) -> tuple[str, str, str]:
    if one.result is None:
        return "–", "–", one.reason
    left = "" if one.left is None else percent_text(one.left)
    return format_gigabytes_per_s(one.result.busbw_bytes_per_s), left, one.result.bottleneck


def what_if_notes(found: Sequence[WhatIf]) -> str:
    """Return what the table does not say: algorithms, and what was taken for granted."""
    lines = []
    for op in dict.fromkeys(one.op for one in found):
        known = [
            (one.change, f"{one.result.algorithm}/{one.result.protocol}")
            for one in found
            if one.op == op and one.result
        ]
        if not known:
            continue
        changing = any(one.result is not None and one.result.changes_rail for one in found if one.op == op)
        first = known[0][1]
        others = [f"{name} with {change}" for change, name in known if name != first]
        lines.append(f"{op}: {', '.join([first, *others])}")
        lines += [f"  {RAIL_CHANGE[0].lower()}{RAIL_CHANGE[1:]}"] if changing else []
    lines.append(
        "the library sees neither switches nor the order of the ranks, so it keeps its algorithm; "
        "with a rail down a new job chooses anew"
    )
    return "\n".join(lines)
