"""As built against as designed → the tables and lines that people read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from gpufabric.records.as_built import FaultCost, Repair, WiringMatch
from gpufabric.units import counted, format_gbps, format_gigabytes_per_s

REPAIR_COLUMNS = ("step", "do", "cable or device", "from", "rack", "to", "rack")
COST_COLUMNS = ("fabric", "figure", "designed", "as found", "change")


def match_text(match: WiringMatch) -> str:
    """Return how the found fabric was laid over the design, in one line."""
    how = [f"{match.devices_by_name:,} by name"]
    if match.devices_by_wiring:
        how.append(f"{match.devices_by_wiring:,} by wiring")
    if match.devices_foreign:
        how.append(f"{match.devices_foreign:,} foreign")
    if match.devices_missing:
        how.append(f"{match.devices_missing:,} of the design not found")
    return (
        f"matched with the {match.design}: {counted(match.devices_found, 'device')} found, {', '.join(how)}; "
        f"surety {match.certainty:.0%}; {match.links_as_designed:,} of {counted(match.links, 'link')} as designed"
    )


def inferred_text(facts: Sequence[tuple[str, str]], certainty: float) -> str:
    """Return what a fabric without a design seems to be."""
    said = ", ".join(f"{name} {text}" for name, text in facts)
    return f"no design given; inferred from what most devices have in common: {said}; {certainty:.1%} of the links agree"


def repair_rows(repairs: Iterable[Repair]) -> list[tuple[str, ...]]:
    """Return one row a step, with the texts of ``REPAIR_COLUMNS``."""
    return [
        (str(r.step), r.action, r.cable or r.message, r.from_port, r.from_rack, r.to_port, r.to_rack)
        for r in repairs
    ]


def cost_rows(costs: Iterable[FaultCost]) -> list[tuple[str, ...]]:
    """Return one row a figure, with the texts of ``COST_COLUMNS``."""
    rows: list[tuple[str, ...]] = []
    for cost in costs:
        bisection = cost.bisection_designed_bytes_per_s, cost.bisection_found_bytes_per_s
        designed, found, change = _pair(bisection, format_gbps)
        if cost.bisection_found_is_bound:
            found, change = f"≤ {found}", f"{change} or less" if change else ""
        rows.append((cost.fabric, "bisection", designed, found, change))
        busbw = cost.busbw_designed_bytes_per_s, cost.busbw_found_bytes_per_s
        what = f"{cost.op} busbw, {cost.gpus:,} GPUs"
        if busbw != (None, None):
            rows.append((cost.fabric, what, *_pair(busbw, format_gigabytes_per_s)))
        if cost.servers_cut_off:
            rows.append((cost.fabric, "servers without a link", "0", f"{cost.servers_cut_off:,}", ""))
        rows += [(cost.fabric, note, "", "", "") for note in cost.note.split("; ") if note]
    return rows


def _pair(values: tuple[float | None, float | None], show: Callable[[float], str]) -> tuple[str, str, str]:
    designed, found = values
    texts = ["unknown" if value is None else show(value) for value in values]
    change = "" if designed is None or found is None or not designed else f"{found / designed - 1:+.1%}"
    return texts[0], texts[1], change.replace("-0.0%", "0.0%").replace("+0.0%", "0.0%")
