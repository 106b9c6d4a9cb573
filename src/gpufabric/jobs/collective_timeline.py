"""A predicted collective on its wiring → what happens when: the prediction, phases of channels, single transfers of few ranks."""

from __future__ import annotations

from collections.abc import Iterator

from gpufabric.jobs.collective_detail import CollectiveDetail
from gpufabric.jobs.schedule_flows import merged_stages, stage_flows
from gpufabric.jobs.stage_times import stage_times
from gpufabric.jobs.transfer_times import transfer_spans, why_no_transfers
from gpufabric.records.timeline import Span, Timeline
from gpufabric.units import format_message_bytes, format_time

MOST_CHANNELS = 64
MOST_PHASES = 20_000


def collective_timeline(detail: CollectiveDetail) -> Timeline:
    """Return the timeline of one collective.

    Phases and transfers run at the nominal rates of the links, so they end earlier than the prediction, which knows what
    libraries leave on the wire. Channels after the 64th and phases after the 20,000th are left out.

    Parameters
    ----------
    detail : CollectiveDetail
    """
    result = detail.result
    spans = [*_predicted(detail), *_phases(detail)]
    reason = why_no_transfers(detail)
    if not reason:
        spans += transfer_spans(detail)
    return Timeline(
        tuple(spans),
        {
            "collective": f"{result.op} of {format_message_bytes(result.size_bytes)} over {result.gpus} GPUs",
            "algorithm": f"{result.algorithm}/{result.protocol}, {result.library}",
            "predicted": f"{format_time(result.time_s)} ({format_time(result.time_low_s)} to {format_time(result.time_high_s)})",
            "phases and transfers": "at the nominal rates of the links, without what a library leaves on the wire",
            "transfers": reason
            or "one chunk, or a part of one, at a time; latencies are those of cables and switches",
        },
    )


def _predicted(detail: CollectiveDetail) -> Iterator[Span]:
    result = detail.result
    details: dict[str, str | float | int] = {
        "range low (s)": result.time_low_s,
        "range high (s)": result.time_high_s,
        "bus bandwidth (bytes/s)": result.busbw_bytes_per_s,
        "bottleneck": result.bottleneck,
    }
    name = f"{result.op} {format_message_bytes(result.size_bytes)}"
    yield Span("predicted", "whole collective", name, 0.0, result.time_s, details)
    latency = min(result.latency_s or 0.0, result.time_s)
    if result.latency_s is not None and result.wire_s is not None:
        yield Span("predicted", "parts", "latency: start-up and steps", 0.0, latency)
        yield Span(
            "predicted", "parts", "bytes on the wire", latency, min(result.wire_s, result.time_s - latency)
        )


def _phases(detail: CollectiveDetail) -> Iterator[Span]:
    """Give the phases of each channel, stage by stage, each as long as its channel needs in that stage."""
    channels = detail.schedule.channels
    stages = [merged_stages(channel) for channel in channels]
    size, start, made = detail.result.size_bytes, 0.0, 0
    for number, (flows, times) in enumerate(stage_flows(detail.routes, detail.schedule)):
        finish = stage_times(detail.wiring.graph, flows, detail.simulate) * size * times
        for index, channel in enumerate(channels[:MOST_CHANNELS]):
            for phase in stages[index][number][0]:
                made += 1
                if made > MOST_PHASES or not finish[index]:
                    continue
                details: dict[str, str | float | int] = {
                    "stage": number,
                    "steps": phase.repeat,
                    "stages alike": times,
                    "rail": channel.rail,
                    "adds": "yes" if phase.reduces else "no",
                }
                yield Span("phases", f"channel {index}", phase.name, start, float(finish[index]), details)
        start += float(finish.max(initial=0.0))
