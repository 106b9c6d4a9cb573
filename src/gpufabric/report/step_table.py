"""A training result → the tables that people read: what it costs, where the step goes, memory, groups on the network."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from gpufabric.records.step_table import STEP_PARTS
from gpufabric.records.train_result import GroupRow, TrainResult
from gpufabric.units import (
    counted,
    format_bytes,
    format_flops,
    format_gibibytes,
    format_time,
    percent_text,
)

Table = tuple[tuple[str, ...], list[tuple[str, ...]], str]
"""Columns, rows and title, as :func:`gpufabric.cli.output.print_table` takes them."""
_MEGAWATT_HOUR_J = 3.6e9
_BILLION = 1e9
_LEAST_SHARE = 0.0005
_APART = 0.02


def _whole(value: float) -> str:
    return f"{value:,.0f}"


_FORMATS: dict[str, Callable[[float], str]] = {
    "step_time_s": format_time,
    "mfu": percent_text,
    "memory_bytes_per_gpu": format_gibibytes,
}


def overview_table(result: TrainResult) -> Table:
    """Return the figures of the whole job, one a row."""
    rows: list[tuple[str, ...]] = [
        ("step", f"{format_time(result.step_time_s)} ({_range(result)})"),
        (
            "tokens",
            f"{result.tokens_per_s:,.0f} a second; {result.tokens_per_s_per_gpu:,.0f} a second and GPU",
        ),
        (
            "compute",
            f"{format_flops(result.flops_per_s_per_gpu)} a GPU, MFU {percent_text(result.mfu)} of "
            f"{format_flops(result.peak_flops_per_s)} (causal attention counted: {percent_text(result.mfu_causal)})",
        ),
        ("memory", _memory(result)),
    ]
    drawn = result.timeline_step_s
    if drawn is not None and abs(drawn / result.step_time_s - 1.0) > _APART:
        rows.insert(1, ("event by event", f"{format_time(drawn)}, as --gantt draws it"))
    if result.days is not None and result.gpu_hours is not None and result.tokens is not None:
        rows.append(("time", f"{result.days:,.1f} days for {result.tokens / _BILLION:,.0f} billion tokens"))
        rows.append(("GPU-hours", f"{result.gpu_hours:,.0f}"))
    if result.energy_j is not None:
        rows.append(("energy", f"{result.energy_j / _MEGAWATT_HOUR_J:,.0f} MWh at most"))
    if result.cost_usd is not None:
        rows.append(("cost", f"{result.cost_usd:,.0f} US dollars"))
    rows.append(("bound by", result.bound))
    rows += [
        (f"published {one.quantity}", _beside(one.quantity, one.measured, one.predicted))
        for one in result.measured
    ]
    parameters = f"{result.parameters / _BILLION:.4g} billion parameters"
    if result.active_parameters < result.parameters:
        parameters += f", {result.active_parameters / _BILLION:.3g} billion active"
    title = f"{result.model} ({parameters}) on {result.gpus:,} {result.gpu}\n{result.plan}"
    return ("", ""), rows, title


def _range(result: TrainResult) -> str:
    return f"{format_time(result.step_time_low_s)} to {format_time(result.step_time_high_s)}"


def _memory(result: TrainResult) -> str:
    room = 1.0 - result.memory_bytes_per_gpu / result.memory_available_bytes
    left = (
        f"{percent_text(room)} left"
        if room >= 0
        else "the allocator has to give back what it holds in reserve"
    )
    return (
        f"{format_gibibytes(result.memory_bytes_per_gpu)} of {format_gibibytes(result.memory_available_bytes)} on stage "
        f"{result.fullest_stage}, {left}"
    )


def _beside(quantity: str, measured: float, predicted: float) -> str:
    text = _FORMATS.get(quantity, _whole)
    return f"{text(measured)}; predicted {text(predicted)}, {predicted / measured - 1.0:+.1%}"


def breakdown_table(result: TrainResult) -> Table:
    """Return the parts of a step, those that take something, beside the parts of memory."""
    step: list[tuple[str, ...]] = [
        (
            name,
            format_time(result.breakdown_s[name]),
            percent_text(result.breakdown_s[name] / result.step_time_s),
        )
        for name in STEP_PARTS
        if result.breakdown_s[name] > _LEAST_SHARE * result.step_time_s
    ]
    step.append(("communication beside compute", format_time(result.hidden_s), "hidden"))
    memory: list[tuple[str, ...]] = [
        (name, format_gibibytes(value))
        for name, value in result.memory_parts_bytes.items()
        if value > _LEAST_SHARE * result.memory_bytes_per_gpu
    ]
    length = max(len(step), len(memory))
    step += [("", "", "")] * (length - len(step))
    memory += [("", "")] * (length - len(memory))
    rows: list[tuple[str, ...]] = [(*left, *right) for left, right in zip(step, memory, strict=True)]
    return ("the busiest stage's step", "time", "share", "memory of the fullest GPU", "size"), rows, ""


def network_table(result: TrainResult) -> Table:
    """Return what the step asks of the network: groups, where they stand, and what each demand costs."""
    columns = (
        "what for",
        "operation",
        "groups × ranks",
        "a group spans",
        "message",
        "times",
        "once",
        "algorithm",
        "contention",
        "slowest link",
    )
    return columns, list(map(_group_row, result.network)), "groups on the network"


def _group_row(row: GroupRow) -> tuple[str, ...]:
    return (
        row.purpose,
        row.op,
        f"{row.groups:,} × {row.ranks:,}",
        ", ".join(_spans(row)),
        format_bytes(row.size_bytes),
        f"{row.times:,.0f}",
        format_time(row.time_s),
        row.algorithm,
        f"{row.contention:.2f}",
        row.bottleneck,
    )


def _spans(row: GroupRow) -> Iterator[str]:
    yield counted(row.servers, "server")
    if row.domains != row.servers:
        yield counted(row.domains, "scale-up domain")
    if row.units > 1:
        yield counted(row.units, "unit")
    yield counted(row.rails, "rail")


def gains_table(result: TrainResult) -> Table:
    """Return what 10 % more of each resource would give."""
    rows: list[tuple[str, ...]] = [
        (gain.resource, f"{gain.shorter:.1%}", gain.how or ("" if gain.shorter else "nothing waits for it"))
        for gain in result.gains
    ]
    return ("10 % more of", "shortens the step by", ""), rows, ""


def train_notes(result: TrainResult) -> str:
    """Return how the figures are meant, one remark a line."""
    lines = [
        f"method: {result.method}",
        f"operations: {result.flops_convention}",
        "range: 80 % of published measurements, whole sources left out of the fit",
    ]
    lines += [
        f"source of the published figure: {text}"
        for text in dict.fromkeys(one.source for one in result.measured)
    ]
    return "\n".join([*lines, *(f"assumed: {text}" for text in result.assumptions)])
