"""Whatever is trained: passes wait for what they need, a stream does one thing at a time, nothing is lost."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpufabric.errors import InputError
from gpufabric.records.plan_table import PipelineSchedule
from gpufabric.records.training_timeline import PipelineWork, Stream, Work
from gpufabric.training.timeline import lay_timeline

SLACK = 1e-9


@st.composite
def works(draw):
    schedule = draw(st.integers(0, 4))
    stages = draw(st.integers(1, 6))
    chunks = draw(st.integers(2, 3)) if schedule == PipelineSchedule.INTERLEAVED else 1
    batches = draw(st.integers(1, 12))
    if schedule == PipelineSchedule.INTERLEAVED:
        batches = stages * draw(st.integers(1, 4))
    if schedule == PipelineSchedule.DUALPIPE:
        stages, chunks = 2 * draw(st.integers(1, 3)), 2
        batches = 2 * stages + 2 * draw(st.integers(0, 4))
    times = st.floats(0.1, 3.0)
    shape = stages, chunks

    def table():
        return np.array([[draw(times) for _ in range(chunks)] for _ in range(stages)]).reshape(shape)

    return PipelineWork(
        schedule=schedule,
        micro_batches=batches,
        forward_s=table(),
        backward_s=table(),
        weights_s=table(),
        loss_s=draw(st.floats(0.0, 1.0)),
        forward_exchange_s=table() * draw(st.sampled_from([0.0, 1.0])),
        backward_exchange_s=table(),
        hidden_share=draw(st.floats(0.0, 1.0)),
        send_s=draw(st.floats(0.0, 0.5)),
        parameters_s=(draw(times), draw(times)),
        gradients_s=(draw(times), draw(times)),
        optimizer_s=draw(times),
    )


@settings(max_examples=25, deadline=None)
@given(works())
def test_a_stream_does_one_thing_at_a_time(work):
    timeline = lay_timeline(work)
    for stage in range(work.stages):
        for stream in range(len(Stream.NAMES)):
            mine = (timeline.stage == stage) & (timeline.stream == stream)
            order = np.argsort(timeline.begin_s[mine], kind="stable")
            begin, end = timeline.begin_s[mine][order], timeline.end_s[mine][order]
            assert (begin[1:] >= end[:-1] - SLACK).all(), (stage, Stream.NAMES[stream])


def place_of(work, stage, chunk):
    if work.schedule == PipelineSchedule.DUALPIPE:
        return work.stages - 1 - stage if chunk else stage
    return chunk * work.stages + stage


@settings(max_examples=25, deadline=None)
@given(works())
def test_every_micro_batch_goes_forward_through_all_stages_then_back(work):
    timeline = lay_timeline(work)
    dual = work.schedule == PipelineSchedule.DUALPIPE
    places = work.stages * (1 if dual else work.chunks)
    begin = {kind: np.full((work.micro_batches, places), np.inf) for kind in range(len(Work.NAMES))}
    end = {kind: np.full((work.micro_batches, places), -np.inf) for kind in range(len(Work.NAMES))}
    compute = timeline.stream == Stream.COMPUTE
    for row in np.flatnonzero(compute & (timeline.micro_batch >= 0)).tolist():
        place = place_of(work, int(timeline.stage[row]), int(timeline.chunk[row]))
        kind = Work.FORWARD if timeline.work[row] == Work.LOSS else int(timeline.work[row])
        at = int(timeline.micro_batch[row]), place
        begin[kind][at] = min(begin[kind][at], timeline.begin_s[row])
        end[kind][at] = max(end[kind][at], timeline.end_s[row])
    forward, backward, weights = (
        (begin[kind], end[kind]) for kind in (Work.FORWARD, Work.BACKWARD, Work.WEIGHTS)
    )
    assert np.isfinite(forward[0]).all()
    assert np.isfinite(backward[0]).all()
    assert (forward[0][:, 1:] >= forward[1][:, :-1] + work.send_s * (work.stages > 1) - SLACK).all()
    assert (backward[0][:, :-1] >= backward[1][:, 1:] + work.send_s * (work.stages > 1) - SLACK).all()
    assert (backward[0] >= forward[1] - SLACK).all()
    split = np.isfinite(weights[0])
    assert (weights[0][split] >= backward[1][split] - SLACK).all()


@settings(max_examples=25, deadline=None)
@given(works())
def test_all_work_is_done_and_what_is_hidden_and_exposed_is_all(work):
    timeline = lay_timeline(work)
    dual = work.schedule == PipelineSchedule.DUALPIPE
    each = work.micro_batches / 2 if dual else work.micro_batches
    loss = np.zeros(work.stages)
    loss[-1] = work.loss_s * work.micro_batches
    if dual:
        loss[-1] /= 2
        loss[0] += work.loss_s * each
    wanted = each * (work.forward_s + work.backward_s + work.weights_s).sum(axis=1) + loss + work.optimizer_s
    assert timeline.busy_s(Stream.COMPUTE) == pytest.approx(wanted)
    exchanged = each * (work.forward_exchange_s + work.backward_exchange_s).sum(axis=1)
    assert timeline.busy_s(Stream.LAYERS) == pytest.approx(exchanged, abs=1e-9)
    both = timeline.hidden_s(Stream.LAYERS) + timeline.exposed_s(Stream.LAYERS)
    assert both == pytest.approx(exchanged, abs=1e-9)
    assert (timeline.exposed_s(Stream.LAYERS) >= -1e-9).all()
    assert timeline.step_s >= wanted.max() - SLACK
    assert float(timeline.begin_s.min()) >= 0


def equal_work(schedule, *, stages=8, chunks=1, batches=16, exchange=0.0, hidden=0.0):
    one = np.ones((stages, chunks))
    # A stage has as much to do whatever the number of its chunks; each direction of DualPipe has a whole stage.
    whole = one / (1 if schedule == PipelineSchedule.DUALPIPE else chunks)
    return PipelineWork(
        schedule=schedule,
        micro_batches=batches,
        forward_s=whole,
        backward_s=whole,
        weights_s=whole,
        loss_s=0.0,
        forward_exchange_s=whole * exchange,
        backward_exchange_s=whole * exchange * 2,
        hidden_share=hidden,
        send_s=0.0,
        parameters_s=(0.0, 0.0),
        gradients_s=(0.0, 0.0),
        optimizer_s=0.0,
    )


@pytest.mark.parametrize(
    ("schedule", "chunks", "batches", "bubble"),
    [
        # Narayanan et al. 2021, https://arxiv.org/abs/2104.04473, section 2.2: (p - 1)(F + B), divided by v where interleaved.
        (PipelineSchedule.GPIPE, 1, 16, 7 * 3.0),
        (PipelineSchedule.ONE_F_ONE_B, 1, 16, 7 * 3.0),
        (PipelineSchedule.INTERLEAVED, 2, 16, 7 * 3.0 / 2),
        (PipelineSchedule.INTERLEAVED, 4, 32, 7 * 3.0 / 4),
        # Qi et al. 2023, https://arxiv.org/abs/2401.10241, table 2: (p - 1)(F + B - W), B without the weight gradients.
        (PipelineSchedule.ZERO_BUBBLE, 1, 16, 7 * 1.0),
        # DeepSeek-AI 2024, https://arxiv.org/abs/2412.19437, table 2: (p/2 - 1)(F&B + B - 3W), F&B both one after the other.
        (PipelineSchedule.DUALPIPE, 2, 20, 3 * (3.0 + 2.0 - 3.0)),
    ],
)
def test_bubbles_are_those_of_the_papers(schedule, chunks, batches, bubble):
    timeline = lay_timeline(equal_work(schedule, chunks=chunks, batches=batches))
    assert timeline.step_s - 3 * batches == pytest.approx(bubble)


def test_dualpipe_hides_the_exchange_that_1f1b_waits_for():
    wait = lay_timeline(equal_work(PipelineSchedule.ONE_F_ONE_B, batches=40, exchange=0.5))
    hide = lay_timeline(equal_work(PipelineSchedule.DUALPIPE, chunks=2, batches=40, exchange=0.5))
    assert wait.hidden_s(Stream.LAYERS).max() == pytest.approx(0.0)
    assert hide.hidden_s(Stream.LAYERS).sum() > 0.7 * hide.busy_s(Stream.LAYERS).sum()
    assert hide.step_s < 0.75 * wait.step_s


@pytest.mark.parametrize(
    ("schedule", "stages", "chunks", "batches", "says"),
    [
        (PipelineSchedule.DUALPIPE, 4, 2, 6, "allowed here: pp 4 with 8"),
        (PipelineSchedule.DUALPIPE, 3, 2, 8, "even pp"),
        (PipelineSchedule.INTERLEAVED, 4, 2, 6, "allowed with pp 4: 4"),
        (PipelineSchedule.ONE_F_ONE_B, 64, 1, 10_000, "too many"),
    ],
)
def test_what_a_schedule_cannot_run_is_refused_with_what_it_can(schedule, stages, chunks, batches, says):
    with pytest.raises(InputError, match=says):
        lay_timeline(equal_work(schedule, stages=stages, chunks=chunks, batches=batches))
