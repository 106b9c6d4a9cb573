"""What a training job does on a cluster: time of a step and of the whole, memory, and where the time goes."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class GroupRow:
    """One demand of a step on the network: which groups, where they stand, and what they cost.

    Attributes
    ----------
    purpose, op : str
    groups, ranks : int
        Groups at work at the same time, and ranks of each.
    servers, domains, units, rails : int
        That the group which spans most has ranks in.
    size_bytes, times : float
        Message in the meaning of nccl-tests, and how often the busiest GPU takes part in a step.
    time_s, low_s, high_s : float
        Once.
    algorithm, bottleneck : str
    contention : float
        How many times longer the fullest link is busy than with one group alone.
    """

    purpose: str
    op: str
    groups: int
    ranks: int
    servers: int
    domains: int
    units: int
    rails: int
    size_bytes: float
    times: float
    time_s: float
    low_s: float
    high_s: float
    algorithm: str
    bottleneck: str
    contention: float


@dataclass(frozen=True, slots=True)
class Gain:
    """What 10 % more of a resource would give: the step that much shorter, as a share; or a plan that then fits."""

    resource: str
    shorter: float
    how: str = ""


@dataclass(frozen=True, slots=True)
class MeasuredBeside:
    """A published figure of a real run beside what is predicted, in the same unit."""

    quantity: str
    measured: float
    predicted: float
    source: str


@dataclass(frozen=True, slots=True)
class TrainResult:
    """The predicted cost of training; the field names are those of the JSON output.

    ``step_time_low_s`` and ``step_time_high_s`` bound the 80 % range. ``flops_per_s_per_gpu`` and ``mfu`` count operations as
    ``flops_convention`` says; ``mfu_causal`` counts only the pairs of tokens that a causal mask leaves. ``breakdown_s`` adds up
    to the step; its parts of communication are what is exposed, and ``hidden_s`` runs beside compute. ``memory_parts_bytes``
    are of the fullest GPU; ``energy_j`` and what depends on prices and tokens are None where these are not known.
    """

    name: str
    model: str
    plan: str
    gpu: str
    gpus: int
    step_time_s: float
    step_time_low_s: float
    step_time_high_s: float
    tokens_per_step: int
    tokens_per_s: float
    tokens_per_s_per_gpu: float
    flops_per_s_per_gpu: float
    peak_flops_per_s: float
    mfu: float
    mfu_causal: float
    flops_convention: str
    parameters: float
    active_parameters: float
    memory_bytes_per_gpu: float
    memory_available_bytes: float
    memory_parts_bytes: dict[str, float]
    fullest_stage: int
    breakdown_s: dict[str, float]
    hidden_s: float
    timeline_step_s: float | None
    tokens: int | None
    days: float | None
    gpu_hours: float | None
    energy_j: float | None
    cost_usd: float | None
    bound: str
    gains: tuple[Gain, ...]
    network: tuple[GroupRow, ...]
    measured: tuple[MeasuredBeside, ...]
    method: str
    assumptions: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain JSON values."""
        return asdict(self)
