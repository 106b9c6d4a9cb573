"""Timeline → a trace in Chrome's event format, which Perfetto and Chrome show.

Complete events (``X``) have time stamp and duration in µs, metadata events (``M``) name processes and threads: a sample of
Chrome's trace viewer, https://chromium.googlesource.com/external/trace-viewer/+/refs/tags/2015-06-23/test_data/simple_trace.json,
read 2026-12-01.
"""

from __future__ import annotations

import json
from typing import Any

from gpufabric.records.timeline import Span, Timeline
from gpufabric.units import microseconds


def trace_json(timeline: Timeline) -> str:
    """Return the trace as JSON text: a group is a process, a track a thread, and spans that overlap get threads of their own."""
    groups = {name: i + 1 for i, name in enumerate(dict.fromkeys(s.group for s in timeline.spans))}
    events: list[dict[str, Any]] = []
    for group, pid in groups.items():
        events.append(_named("process_name", pid, 0, group))
        events.append({**_named("process_sort_index", pid, 0, ""), "args": {"sort_index": pid}})
        tid = 0
        mine = [s for s in timeline.spans if s.group == group]
        by_track: dict[str, list[Span]] = {}
        for span in mine:
            by_track.setdefault(span.track, []).append(span)
        for track, spans in by_track.items():
            for lane in _lanes(spans):
                tid += 1
                events.append(_named("thread_name", pid, tid, track))
                events.append({**_named("thread_sort_index", pid, tid, ""), "args": {"sort_index": tid}})
                events += (_complete(span, pid, tid) for span in lane)
    return (
        json.dumps(
            {"traceEvents": events, "displayTimeUnit": "ms", "otherData": timeline.notes}, allow_nan=False
        )
        + "\n"
    )


def _named(what: str, pid: int, tid: int, name: str) -> dict[str, Any]:
    return {"ph": "M", "name": what, "pid": pid, "tid": tid, "ts": 0, "args": {"name": name}}


def _complete(span: Span, pid: int, tid: int) -> dict[str, Any]:
    return {
        "ph": "X",
        "name": span.name,
        "cat": span.group,
        "pid": pid,
        "tid": tid,
        "ts": microseconds(span.start_s),
        "dur": microseconds(span.duration_s),
        "args": span.details,
    }


def _lanes(spans: list[Span]) -> list[list[Span]]:
    """Return spans in as few lines as keep any two of one line from overlapping; spans that lie inside another one may stay."""
    lanes: list[list[Span]] = []
    ends: list[float] = []
    for span in sorted(spans, key=lambda s: (s.start_s, -s.duration_s)):
        for number, end in enumerate(ends):
            if end <= span.start_s:
                lanes[number].append(span)
                ends[number] = span.start_s + span.duration_s
                break
        else:
            lanes.append([span])
            ends.append(span.start_s + span.duration_s)
    return lanes
