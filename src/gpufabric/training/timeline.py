"""What the stages of a pipeline have to do → one training step as events on the streams of every stage."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import isnan

import numpy as np

from gpufabric.errors import InputError
from gpufabric.records.plan_table import PipelineSchedule
from gpufabric.records.training_timeline import PipelineWork, Stream, TrainingTimeline, Work
from gpufabric.training.timeline_order import BACKWARD, FORWARD, INPUT, WEIGHTS, Pass, Slot, stage_order

MOST_PASSES = 400_000
_BACK = (BACKWARD, INPUT)


def lay_timeline(work: PipelineWork) -> TrainingTimeline:
    """Return when each stage does what.

    A stage takes its passes in the order of the schedule, each as soon as what it needs has arrived: the forward of the stage
    before, the backward of the stage behind, both with the time of a send. Parameters are gathered before and beside the first
    forward; gradients are reduced beside and after the last backward; then the optimizer runs.

    Parameters
    ----------
    work : PipelineWork

    Raises
    ------
    InputError
        If the schedule can't run so many micro-batches, or there are too many passes to show.
    """
    dual = work.schedule == PipelineSchedule.DUALPIPE
    passes = 2 * work.stages * work.micro_batches * (1 if dual else work.chunks)
    if passes > MOST_PASSES:
        raise InputError(
            f"timeline: {passes:,} passes are too many; allowed are {MOST_PASSES:,}; lower global_batch for the picture"
        )
    running = _Running(work)
    orders = [
        stage_order(work.schedule, work.stages, work.chunks, work.micro_batches, stage)
        for stage in range(work.stages)
    ]
    at = [0] * work.stages
    moved = True
    while moved:
        moved = False
        for stage, order in enumerate(orders):
            while at[stage] < len(order) and running.take(stage, order[at[stage]]):
                at[stage] += 1
                moved = True
    if any(done < len(order) for done, order in zip(at, orders, strict=True)):
        raise InputError(
            "plan: the pipeline waits for itself with so few micro-batches; allowed are multiples of pp; change global_batch"
        )
    for stage in range(work.stages):
        running.finish(stage)
    return running.events.table(work.stages)


@dataclass(slots=True)
class _Events:
    rows: list[tuple[int, int, int, int, int]] = field(default_factory=list)
    times: list[tuple[float, float]] = field(default_factory=list)

    def add(
        self, stage: int, stream: int, work: int, span: tuple[float, float], of: tuple[int, int] = (-1, -1)
    ) -> None:
        if span[1] > span[0]:
            self.rows.append((stage, stream, work, *of))
            self.times.append(span)

    def table(self, stages: int) -> TrainingTimeline:
        rows = np.array(self.rows, np.int64).reshape(-1, 5)
        times = np.array(self.times, np.float64).reshape(-1, 2)
        return TrainingTimeline(
            stage=rows[:, 0],
            stream=rows[:, 1],
            work=rows[:, 2],
            micro_batch=rows[:, 3],
            chunk=rows[:, 4],
            begin_s=times[:, 0],
            end_s=times[:, 1],
            stages=stages,
        )


class _Running:
    """When stages are free, what has arrived, and the events so far."""

    def __init__(self, work: PipelineWork) -> None:
        self.work, self.events = work, _Events()
        self.dual = work.schedule == PipelineSchedule.DUALPIPE
        self.places = work.stages * (1 if self.dual else work.chunks)
        shape = work.micro_batches, self.places
        # When a pass has ended on its own stage, and when what it made is at the stage that needs it.
        self.forward_end, self.forward_there = (np.full(shape, np.nan) for _ in range(2))
        self.backward_end, self.backward_there = (np.full(shape, np.nan) for _ in range(2))
        self.free = np.zeros(work.stages)
        self.sending = np.zeros(work.stages)
        self.exchanged = [0.0] * work.stages
        self.last = [0.0] * work.stages
        self.started = [False] * work.stages

    def place(self, stage: int, one: Pass) -> int:
        """Return the place of a stage's chunk among all chunks of the model."""
        if self.dual:
            return self.work.stages - 1 - stage if one.chunk else stage
        return one.chunk * self.work.stages + stage

    def ready(self, stage: int, one: Pass) -> float:
        """Return when a pass may begin; NaN: not known yet."""
        place, batch = self.place(stage, one), one.micro_batch
        if one.kind == FORWARD:
            return 0.0 if place == 0 else float(self.forward_there[batch, place - 1])
        if one.kind == WEIGHTS:
            return float(self.backward_end[batch, place])
        own = float(self.forward_end[batch, place])
        if place == self.places - 1 or isnan(own):
            return own
        behind = float(self.backward_there[batch, place + 1])
        return behind if isnan(behind) else max(own, behind)

    def take(self, stage: int, slot: Slot) -> bool:
        """Lay one slot; False: something that it needs is not known yet."""
        ready = [self.ready(stage, one) for one in slot]
        if any(isnan(moment) for moment in ready):
            return False
        begin = max([float(self.free[stage]), *ready])
        if not self.started[stage]:
            hidden, exposed = self.work.parameters_s
            self.events.add(stage, Stream.STATES, Work.PARAMETERS, (0.0, exposed + hidden))
            begin = max(begin, exposed)
            self.started[stage] = True
        end = self.side_by_side(stage, slot, begin) if len(slot) > 1 else self.alone(stage, slot[0], begin)
        for one in slot:
            self.leave(stage, one, end)
        self.free[stage] = end
        return True

    def leave(self, stage: int, one: Pass, end: float) -> None:
        """Note that a pass has ended, and send what it made."""
        place, work = self.place(stage, one), self.work
        if one.kind == WEIGHTS:
            self.last[stage] = end
            return
        forward = one.kind == FORWARD
        ended, there = (
            (self.forward_end, self.forward_there) if forward else (self.backward_end, self.backward_there)
        )
        ended[one.micro_batch, place] = end
        if not forward:
            self.last[stage] = end
        further = place < self.places - 1 if forward else place > 0
        arrived = end
        if further and work.stages > 1:
            begin = max(end, float(self.sending[stage]))
            arrived = self.sending[stage] = begin + work.send_s
            self.events.add(stage, Stream.SENDS, Work.SEND, (begin, arrived), (one.micro_batch, one.chunk))
        there[one.micro_batch, place] = arrived

    def compute(self, stage: int, one: Pass) -> tuple[tuple[tuple[int, float], ...], float]:
        """Return the compute of a pass, part by part, and its exchange."""
        work, chunk = self.work, one.chunk
        back, weights = float(work.backward_s[stage, chunk]), float(work.weights_s[stage, chunk])
        if one.kind == FORWARD:
            last = self.place(stage, one) == self.places - 1
            forward = (Work.FORWARD, float(work.forward_s[stage, chunk]))
            parts = (forward, (Work.LOSS, work.loss_s)) if last else (forward,)
            return parts, float(work.forward_exchange_s[stage, chunk])
        exchange = float(work.backward_exchange_s[stage, chunk])
        if one.kind == WEIGHTS:
            return ((Work.WEIGHTS, weights),), 0.0
        if one.kind == INPUT:
            return ((Work.BACKWARD, back),), exchange
        return ((Work.BACKWARD, back + weights),), exchange

    def alone(self, stage: int, one: Pass, begin: float) -> float:
        """Lay a pass whose exchanges wait for its compute, but for what is hidden beside it."""
        parts, exchange = self.compute(stage, one)
        total = sum(length for _, length in parts)
        pieces, of = self.work.pieces, (one.micro_batch, one.chunk)
        hidden = min(self.work.hidden_share * exchange, total)
        now = begin
        for work, length in parts:
            for _ in range(pieces):
                piece = length / pieces
                share = piece / total if total > 0 else 1.0 / pieces
                self.events.add(stage, Stream.COMPUTE, work, (now, now + piece), of)
                early, late = hidden * share, (exchange - hidden) * share
                self.events.add(
                    stage, Stream.LAYERS, Work.EXCHANGE, (now + piece - early, now + piece + late), of
                )
                now += piece + late
        return now

    def side_by_side(self, stage: int, slot: Slot, begin: float) -> float:
        """Lay a forward and a backward in turn, and their exchanges evenly beside: the longer of both decides.

        Parts of the two passes alternate, so that one of them always has something to compute while the other one's tokens are on
        their way (DeepSeek-V3 Technical Report, https://arxiv.org/abs/2412.19437, figure 4).
        """
        works = [self.compute(stage, one) for one in slot]
        pieces = self.work.pieces
        compute = sum(length for parts, _ in works for _, length in parts)
        end = begin + max(compute, sum(exchange for _, exchange in works))
        stretch = (end - begin) / (pieces * len(slot))
        now, window = begin, begin
        for _ in range(pieces):
            for one, (parts, exchange) in zip(slot, works, strict=True):
                of = one.micro_batch, one.chunk
                for work, length in parts:
                    self.events.add(stage, Stream.COMPUTE, work, (now, now + length / pieces), of)
                    now += length / pieces
                sent = max(window, self.exchanged[stage])
                self.exchanged[stage] = sent + exchange / pieces
                self.events.add(stage, Stream.LAYERS, Work.EXCHANGE, (sent, self.exchanged[stage]), of)
                window += stretch
        return max(end, self.exchanged[stage])

    def finish(self, stage: int) -> None:
        """Reduce gradients beside and after the last backward, then update the weights."""
        hidden, exposed = self.work.gradients_s
        end = self.last[stage]
        begin = max(end - hidden, sum(self.work.parameters_s))
        after = end + exposed
        self.events.add(stage, Stream.STATES, Work.GRADIENTS, (begin, after))
        self.events.add(stage, Stream.COMPUTE, Work.OPTIMIZER, (after, after + self.work.optimizer_s))
