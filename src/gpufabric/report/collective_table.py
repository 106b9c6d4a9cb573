"""Predicted collectives → rows of a table, and what stands below it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from gpufabric.records.results import CollectiveResult
from gpufabric.report.collective_text import ceilings_text, channels_text, share_text
from gpufabric.units import counted, format_gigabytes_per_s, format_message_bytes, format_time, percent_text

COLUMNS = (
    "size",
    "ranks in order",
    "algorithm",
    "time",
    "80 % range",
    "algbw",
    "busbw",
    "attainable",
    "ceiling",
    "with SHARP",
    "latency",
    "links in use",
)


def collective_table(results: Sequence[CollectiveResult]) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Return headings and one row of text a result; bandwidths are bus bandwidths except algbw.

    ``latency`` is the part of the time that does not depend on the size; ``ceiling`` is that without in-network
    reduction, ``with SHARP`` that with it. ``links in use`` has for each kind of link the part of the time of the bytes that it
    alone would need, at the rates that the library reaches. With faults, the last column is the bus bandwidth without them.
    """
    faulty = any(r.healthy_busbw_bytes_per_s is not None for r in results)
    columns = (*COLUMNS, "busbw without faults") if faulty else COLUMNS
    return columns, [
        (
            format_message_bytes(r.size_bytes),
            r.rank_order,
            f"{r.algorithm}/{r.protocol}",
            format_time(r.time_s),
            _range(r),
            format_gigabytes_per_s(r.algbw_bytes_per_s),
            format_gigabytes_per_s(r.busbw_bytes_per_s),
            _attainable(r),
            format_gigabytes_per_s(r.plain_ceiling_busbw_bytes_per_s or r.ceiling_busbw_bytes_per_s),
            _added(r),
            _latency(r),
            _shares(r),
            *([_healthy(r)] if faulty else []),
        )
        for r in results
    ]


def _range(result: CollectiveResult) -> str:
    """Return both ends of the range, with the unit once where they share it."""
    low, high = format_time(result.time_low_s), format_time(result.time_high_s)
    number, _, unit = low.partition(" ")
    return f"{number if high.endswith(f' {unit}') else low} – {high}"


def _shares(result: CollectiveResult) -> str:
    """Return the shares of links with one sign for all, so that rows stay short."""
    return share_text(result).replace(" %,", ",")


def _attainable(result: CollectiveResult) -> str:
    attainable = result.attainable_busbw_bytes_per_s
    return "–" if attainable is None else format_gigabytes_per_s(attainable)


def _added(result: CollectiveResult) -> str:
    added = result.in_network_ceiling_busbw_bytes_per_s
    return "–" if added is None else format_gigabytes_per_s(added)


def _latency(result: CollectiveResult) -> str:
    latency, wire = result.latency_s, result.wire_s
    if latency is None or wire is None or not latency + wire:
        return "–"
    return percent_text(latency / (latency + wire))


def _healthy(result: CollectiveResult) -> str:
    healthy = result.healthy_busbw_bytes_per_s
    return "" if healthy is None else format_gigabytes_per_s(healthy)


def collective_notes(results: Sequence[CollectiveResult]) -> str:
    """Return what holds for all results, once: how it was found, what limits it, what was assumed."""
    lines = []
    for order in dict.fromkeys(r.rank_order for r in results):
        mine = [r for r in results if r.rank_order == order]
        last = mine[-1]
        lines.append(
            f"{last.op} over {counted(last.gpus, 'GPU')} in {order} order: "
            f"{last.algorithm}{channels_text(last)} ({last.library}), {last.method}"
        )
        for bottleneck in dict.fromkeys(r.bottleneck for r in mine):
            held = _sizes(r for r in mine if r.bottleneck == bottleneck)
            lines.append(f"  bottleneck: {bottleneck}{'' if len(mine) == 1 else f' ({held})'}")
        lines.append(f"  ceiling: {ceilings_text(last)}")
        for settings in dict.fromkeys(r.attainable_settings for r in mine if r.attainable_settings):
            sizes = _sizes(r for r in mine if r.attainable_settings == settings)
            lines.append(f"  attainable with {' '.join(settings)} ({sizes})")
    lines.append("not used here:")
    lines += [
        f"  {name}: {why}" for name, why in dict.fromkeys(ruled for r in results for ruled in r.ruled_out)
    ]
    lines.append("assumed:")
    lines += [f"  {text}" for text in dict.fromkeys(a for r in results for a in r.assumptions)]
    return "\n".join(lines)


def _sizes(results: Iterable[CollectiveResult]) -> str:
    return ", ".join(format_message_bytes(r.size_bytes) for r in results)
