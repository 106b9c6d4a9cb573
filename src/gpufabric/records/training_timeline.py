"""One training step in time: what every pipeline stage has to do, and when it does what on which stream."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


class Stream:
    """Values of ``TrainingTimeline.stream``: what one GPU does side by side."""

    COMPUTE, LAYERS, SENDS, STATES = range(4)
    NAMES = ("compute", "communication of layers", "sends to other stages", "gradients and parameters")


class Work:
    """Values of ``TrainingTimeline.work``."""

    FORWARD, LOSS, BACKWARD, WEIGHTS, EXCHANGE, SEND, PARAMETERS, GRADIENTS, OPTIMIZER = range(9)
    NAMES = (
        "forward",
        "loss",
        "backward",
        "weight gradients",
        "layer communication",
        "send",
        "gather parameters",
        "reduce gradients",
        "optimizer",
    )


@dataclass(frozen=True, slots=True)
class PipelineWork:
    """What the stages of one replica have to do for one micro-batch, and once a step. S stages with V chunks each.

    Attributes
    ----------
    schedule : int
        Code of :class:`gpufabric.records.plan_table.PipelineSchedule`.
    micro_batches : int
    forward_s, backward_s, weights_s : float64, (S, V)
        Compute of one micro-batch: forward, gradients of the input (recomputation included), gradients of the weights.
    loss_s : float
        Head and loss, forward, on the last chunk.
    forward_exchange_s, backward_exchange_s : float64, (S, V)
        Tensor, context and expert communication of one micro-batch.
    hidden_share : float
        Part of these exchanges that runs beside the compute of their own pass, 0 to 1.
    send_s : float
        From one stage to the next.
    parameters_s, gradients_s : (float, float)
        Once a step: what runs beside compute, and what the stage waits for.
    optimizer_s : float
    pieces : int
        In so many a pass is shown, each a part of the compute and of the exchange.
    """

    schedule: int
    micro_batches: int
    forward_s: Array
    backward_s: Array
    weights_s: Array
    loss_s: float
    forward_exchange_s: Array
    backward_exchange_s: Array
    hidden_share: float
    send_s: float
    parameters_s: tuple[float, float]
    gradients_s: tuple[float, float]
    optimizer_s: float
    pieces: int = 2

    @property
    def stages(self) -> int:
        """Pipeline stages."""
        return len(self.forward_s)

    @property
    def chunks(self) -> int:
        """Model chunks of one stage."""
        return int(self.forward_s.shape[1])


@dataclass(frozen=True, slots=True)
class TrainingTimeline:
    """One step; E events.

    Attributes
    ----------
    stage, stream, work : int64, E
    micro_batch, chunk : int64, E
        -1 where the event belongs to none.
    begin_s, end_s : float64, E
    stages : int
    """

    stage: NDArray[np.int64]
    stream: NDArray[np.int64]
    work: NDArray[np.int64]
    micro_batch: NDArray[np.int64]
    chunk: NDArray[np.int64]
    begin_s: Array
    end_s: Array
    stages: int

    def __len__(self) -> int:
        return len(self.stage)

    @property
    def step_s(self) -> float:
        """When the last stage has ended."""
        return float(self.end_s.max(initial=0.0))

    def busy_s(self, stream: int) -> Array:
        """Return how long each stage uses a stream: float64, one a stage."""
        mine = self.stream == stream
        return np.bincount(self.stage[mine], (self.end_s - self.begin_s)[mine], minlength=self.stages).astype(
            np.float64
        )

    def hidden_s(self, stream: int) -> Array:
        """Return how long each stage computes while that stream is used: float64, one a stage."""
        found = np.zeros(self.stages)
        for stage in range(self.stages):
            here = self.stage == stage
            compute = _sorted(self, here & (self.stream == Stream.COMPUTE))
            other = _sorted(self, here & (self.stream == stream))
            found[stage] = float((_covered(compute, other[:, 1]) - _covered(compute, other[:, 0])).sum())
        return found

    def exposed_s(self, stream: int) -> Array:
        """Return how long each stage uses that stream without computing: float64, one a stage."""
        return self.busy_s(stream) - self.hidden_s(stream)


def _sorted(timeline: TrainingTimeline, rows: NDArray[np.bool_]) -> Array:
    spans = np.stack([timeline.begin_s[rows], timeline.end_s[rows]], axis=1)
    return spans[np.argsort(spans[:, 0], kind="stable")]


def _covered(spans: Array, until: Array) -> Array:
    """Return how much of spans that do not overlap lies before each moment."""
    if not len(spans):
        return np.zeros(len(until))
    length = spans[:, 1] - spans[:, 0]
    before = np.concatenate([[0.0], np.cumsum(length)])
    index = np.searchsorted(spans[:, 0], until, side="right")
    last = np.maximum(index - 1, 0)
    inside = np.where(index > 0, np.clip(until - spans[last, 0], 0.0, length[last]), 0.0)
    return np.asarray(before[last] + inside)
