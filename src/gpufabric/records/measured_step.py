"""A published measurement of training, as a table of measurements has it: facts of the row, and None where it is silent."""

from __future__ import annotations

from dataclasses import dataclass

from gpufabric.records.measured_collective import LeftOut


@dataclass(frozen=True, slots=True)
class MeasuredStep:
    """One row.

    Attributes
    ----------
    id, source : str
        ``source`` is the group of rows that were measured together, the column ``group``.
    line : int
    kind : str
        ``measured``, or ``vendor_reported``, ``estimated``.
    model, gpu, network, precision, recompute, sharding, sequence_parallel, notes : str
        As the table has them; empty: blank.
    shape
        Numbers of the model: ``layers``, ``hidden``, ``heads``, ``kv_heads``, ``ffn``, ``vocab``, ``params``; those that the row
        has. ``experts`` is text such as ``128 experts top-8, expert ffn 768``.
    gpus, sequence, global_batch, micro_batch : int
        0: blank; ``micro_batches`` of one step where the notes say them.
    degrees
        ``tp``, ``pp``, ``cp``, ``ep``, ``dp``, ``virtual``; those that the row has.
    step_time_s, tokens_per_s_per_gpu, flops_per_s_per_gpu : float
        0: blank.
    convention : str
        How its FLOPs are counted.
    """

    id: str
    source: str
    line: int
    kind: str
    model: str
    gpu: str
    network: str
    precision: str
    recompute: str
    sharding: str
    sequence_parallel: str
    notes: str
    shape: dict[str, float]
    experts: str
    gpus: int
    sequence: int
    global_batch: int
    micro_batch: int
    micro_batches: int
    degrees: dict[str, int]
    step_time_s: float
    tokens_per_s_per_gpu: float
    flops_per_s_per_gpu: float
    convention: str


@dataclass(frozen=True, slots=True)
class MeasuredStepFile:
    """The rows of a file, and those that could not be read."""

    file: str
    rows: tuple[MeasuredStep, ...]
    left_out: tuple[LeftOut, ...]
