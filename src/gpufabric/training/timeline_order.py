"""A pipeline schedule → the order in which every stage takes its passes.

A slot is what a stage does at one time: one pass, or with DualPipe a forward and a backward that run side by side.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from gpufabric.errors import InputError
from gpufabric.records.plan_table import PipelineSchedule

FORWARD, BACKWARD, INPUT, WEIGHTS = range(4)
"""Kinds of a pass: ``BACKWARD`` is the gradients of input and weights together, ``INPUT`` and ``WEIGHTS`` are one of them."""


@dataclass(frozen=True, slots=True)
class Pass:
    """One micro-batch through one chunk of a stage."""

    kind: int
    micro_batch: int
    chunk: int = 0


Slot = tuple[Pass, ...]


def stage_order(schedule: int, stages: int, chunks: int, micro_batches: int, stage: int) -> list[Slot]:
    """Return the slots of one stage.

    Parameters
    ----------
    schedule : int
        Code of :class:`PipelineSchedule`.
    stages, chunks, micro_batches : int
        DualPipe has two chunks, one for each direction; the first half of the micro-batches goes forward through the stages.
    stage : int

    Raises
    ------
    InputError
        If the schedule can't run so many micro-batches.

    Notes
    -----
    GPipe (https://arxiv.org/abs/1811.06965); 1F1B and interleaved stages (https://arxiv.org/abs/2104.04473); ZB-H1
    (https://arxiv.org/abs/2401.10241, section 2.2); DualPipe (https://arxiv.org/abs/2412.19437, section 3.2.1).
    """
    return _ORDERS[schedule](stages, chunks, micro_batches, stage)


def _gpipe(_stages: int, _chunks: int, micro_batches: int, _stage: int) -> list[Slot]:
    batches = range(micro_batches)
    return [*((Pass(FORWARD, i),) for i in batches), *((Pass(BACKWARD, i),) for i in batches)]


def _one_by_one(stages: int, _chunks: int, micro_batches: int, stage: int) -> list[Slot]:
    forward = [Pass(FORWARD, i) for i in range(micro_batches)]
    backward = [Pass(BACKWARD, i) for i in range(micro_batches)]
    return _alternating(forward, backward, stages - stage - 1)


def _interleaved(stages: int, chunks: int, micro_batches: int, stage: int) -> list[Slot]:
    if chunks == 1:
        return _one_by_one(stages, chunks, micro_batches, stage)
    if micro_batches % stages:
        raise InputError(
            f"plan: interleaved stages need micro-batches in multiples of pp (found {micro_batches}); allowed with pp {stages}: "
            f"{max(stages, micro_batches // stages * stages)}; change global_batch, micro_batch or dp"
        )
    forward, backward = [], []
    for first in range(0, micro_batches, stages):
        for chunk in range(chunks):
            some = range(first, first + stages)
            forward += [Pass(FORWARD, i, chunk) for i in some]
            backward += [Pass(BACKWARD, i, chunks - 1 - chunk) for i in some]
    ahead = 2 * (stages - stage - 1) + (chunks - 1) * stages
    return _alternating(forward, backward, ahead if micro_batches > stages else len(forward))


def _alternating(forward: list[Pass], backward: list[Pass], ahead: int) -> list[Slot]:
    """So many forward passes first, then one forward and one backward in turn, then the backward passes that are left."""
    ahead = min(ahead, len(forward))
    order: list[Slot] = [(one,) for one in forward[:ahead]]
    for one, other in zip(forward[ahead:], backward, strict=False):
        order += [(one,), (other,)]
    return order + [(one,) for one in backward[len(forward) - ahead :]]


def _zero_bubble(stages: int, _chunks: int, micro_batches: int, stage: int) -> list[Slot]:
    ahead = min(stages - stage, micro_batches)
    order: list[Slot] = [(Pass(FORWARD, i),) for i in range(ahead)]
    for i in range(micro_batches):
        order.append((Pass(INPUT, i),))
        # Weight gradients lag by as many as the stages before this one need to keep up, which fills their wait at the end.
        if i >= stage:
            order.append((Pass(WEIGHTS, i - stage),))
        if ahead + i < micro_batches:
            order.append((Pass(FORWARD, ahead + i),))
    return order + [(Pass(WEIGHTS, i),) for i in range(max(micro_batches - stage, 0), micro_batches)]


class _Dual:
    """What one stage of a DualPipe has taken so far; *near* is the direction that enters at the nearer end."""

    def __init__(self, stage: int, stages: int, micro_batches: int) -> None:
        self.near = int(stage >= stages // 2)
        half = micro_batches // 2
        self._next = {
            (kind, way): iter(range(way * half, (way + 1) * half))
            for kind in (FORWARD, BACKWARD)
            for way in (0, 1)
        }
        self._waiting: deque[Pass] = deque()
        self.order: list[Slot] = []

    def forward(self, far: int) -> Pass:
        way = self.near ^ far
        return Pass(FORWARD, next(self._next[FORWARD, way]), way)

    def backward(self, far: int, split: bool = False) -> Pass:
        way = self.near ^ far
        number = next(self._next[BACKWARD, way])
        if split:
            self._waiting.append(Pass(WEIGHTS, number, way))
        return Pass(INPUT if split else BACKWARD, number, way)

    def weights(self) -> Pass:
        return self._waiting.popleft()

    def take(self, *passes: Pass) -> None:
        self.order.append(passes)


def _dual_pipe(stages: int, _chunks: int, micro_batches: int, stage: int) -> list[Slot]:
    if stages % 2 or micro_batches % 2 or micro_batches < 2 * stages:
        most = max(2 * stages, micro_batches // 2 * 2)
        raise InputError(
            f"plan: dualpipe needs an even pp and an even number of micro-batches, 2 × pp or more (found pp {stages}, "
            f"{micro_batches} micro-batches); allowed here: pp {stages // 2 * 2 or 2} with {most}; change global_batch or pp"
        )
    half, inner = stages // 2, min(stage, stages - 1 - stage)
    outer = half - inner - 1
    dual = _Dual(stage, stages, micro_batches)
    for _ in range(2 * outer):
        dual.take(dual.forward(0))
    for _ in range(inner + 1):
        dual.take(dual.forward(0))
        dual.take(dual.forward(1))
    for _ in range(outer):
        dual.take(dual.backward(1, split=True))
        dual.take(dual.weights())
        dual.take(dual.forward(1))
    for _ in range(micro_batches // 2 - stages + inner + 1):
        dual.take(dual.forward(0), dual.backward(1))
        dual.take(dual.forward(1), dual.backward(0))
    for _ in range(outer):
        dual.take(dual.backward(1))
        dual.take(dual.forward(1), dual.backward(0))
    for i in range(2 * (inner + 1)):
        dual.take(dual.backward(1 - i % 2, split=i > inner))
    for _ in range(outer):
        dual.take(dual.weights())
        dual.take(dual.backward(0, split=True))
    for _ in range(inner + 1):
        dual.take(dual.weights())
    return dual.order


_ORDERS: dict[int, Callable[[int, int, int, int], list[Slot]]] = {
    PipelineSchedule.GPIPE: _gpipe,
    PipelineSchedule.ONE_F_ONE_B: _one_by_one,
    PipelineSchedule.INTERLEAVED: _interleaved,
    PipelineSchedule.ZERO_BUBBLE: _zero_bubble,
    PipelineSchedule.DUALPIPE: _dual_pipe,
}
