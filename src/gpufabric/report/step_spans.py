"""A training step as events → spans on tracks, for a trace viewer."""

from __future__ import annotations

from collections.abc import Mapping

from gpufabric.records.timeline import Span, Timeline
from gpufabric.records.training_timeline import Stream, TrainingTimeline, Work


def step_spans(timeline: TrainingTimeline, notes: Mapping[str, str]) -> Timeline:
    """Return a group a pipeline stage and a track a stream; *notes* say what the file is about."""
    spans = []
    columns = (timeline.stage, timeline.stream, timeline.work, timeline.micro_batch, timeline.chunk)
    rows = zip(*(column.tolist() for column in columns), strict=True)
    times = zip(timeline.begin_s.tolist(), timeline.end_s.tolist(), strict=True)
    for (stage, stream, work, batch, chunk), (begin, end) in zip(rows, times, strict=True):
        details: dict[str, str | float | int] = {"micro-batch": batch, "chunk": chunk} if batch >= 0 else {}
        name = Work.NAMES[work] + (f" {batch}" if batch >= 0 else "")
        spans.append(Span(f"stage {stage}", Stream.NAMES[stream], name, begin, end - begin, details))
    return Timeline(tuple(spans), dict(notes))
