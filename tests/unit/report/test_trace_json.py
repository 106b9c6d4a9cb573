"""Traces have what Perfetto and Chrome ask for."""

import json
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from gpufabric.records.timeline import Span, Timeline
from gpufabric.report.trace_json import trace_json

SPANS = st.builds(
    Span,
    group=st.sampled_from(["phases", "transfers"]),
    track=st.sampled_from(["channel 0", "channel 1"]),
    name=st.text(max_size=20),
    start_s=st.floats(0, 10),
    duration_s=st.floats(0, 10),
)


@given(st.lists(SPANS, max_size=30))
def test_required_fields_stand_in_every_event_and_no_two_of_a_thread_overlap(spans):
    document = json.loads(trace_json(Timeline(tuple(spans), {"about": "a test"})))
    events = document["traceEvents"]
    assert all({"ph", "name", "pid", "tid", "ts"} <= event.keys() for event in events)
    complete = [event for event in events if event["ph"] == "X"]
    assert sorted(event["name"] for event in complete) == sorted(span.name for span in spans)
    named = {(event["pid"], event["tid"]) for event in events if event["name"] == "thread_name"}
    for thread in {(event["pid"], event["tid"]) for event in complete}:
        assert thread in named
        mine = sorted((e["ts"], e["ts"] + e["dur"]) for e in complete if (e["pid"], e["tid"]) == thread)
        for (_, end), (start, _) in pairwise(mine):
            assert end <= start * (1 + 1e-12)


def test_times_are_microseconds():
    text = trace_json(Timeline((Span("a", "b", "c", 0.001, 0.002, {"bytes": 5}),), {}))
    (event,) = (e for e in json.loads(text)["traceEvents"] if e["ph"] == "X")
    assert (event["ts"], event["dur"], event["args"]) == (1000, 2000, {"bytes": 5})
