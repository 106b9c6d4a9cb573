"""A predicted training step → a Gantt chart and a trace, as files."""

from __future__ import annotations

from pathlib import Path

from gpufabric.jobs.train import TrainDetail
from gpufabric.records.train_result import TrainResult
from gpufabric.report.step_gantt_svg import step_gantt_svg
from gpufabric.report.step_spans import step_spans
from gpufabric.report.trace_json import trace_json
from gpufabric.report.write_files import write_text
from gpufabric.units import format_time, percent_text


def write_train_files(detail: TrainDetail, gantt: str | None, trace: str | None) -> list[str]:
    """Write what is wanted (None: not) and return the names.

    Raises
    ------
    InputError
        If a file can't be written.
    """
    written: list[str] = []
    result, timeline = detail.result, detail.timeline
    if timeline is None:
        return written
    if gantt is not None:
        title = f"One training step of {result.model} on {result.gpus:,} GPUs"
        write_text(Path(gantt), step_gantt_svg(timeline, title, _about(result)))
        written.append(gantt)
    if trace is not None:
        notes = {"job": result.name, "model": result.model, "plan": result.plan, "step": _about(result)}
        write_text(Path(trace), trace_json(step_spans(timeline, notes)))
        written.append(trace)
    return written


def _about(result: TrainResult) -> str:
    drawn = f", drawn as {format_time(result.timeline_step_s)}" if result.timeline_step_s else ""
    return f"{format_time(result.step_time_s)}{drawn}, MFU {percent_text(result.mfu)}; {result.plan}"
