"""Constants of the model of time of training: what a class of GPUs reaches of its peaks, and a class of networks of its rates."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from gpufabric.records.calibration import CalibrationSource

_Share = Annotated[float, Field(gt=0, le=1)]
_Seconds = Annotated[float, Field(ge=0, lt=1)]
_Positive = Annotated[float, Field(ge=0, lt=1e6)]


class _Strict(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class ComputeConstants(_Strict):
    """What GPUs of one generation reach.

    Attributes
    ----------
    gpus
        Patterns of part ids.
    gemm_share
        By number format: share of the dense peak that large matrix products reach, casts apart.
    half_size
        Product of m × n × k takes 1 + half_size × (1/m + 1/n + 1/k) times as long as its share says: edges, waves and loads.
    grouped_share
        Products of many experts at once, as a share of what one product of the same shape reaches.
    attention_share, attention_backward_share
        Fused attention, forward and backward, of the dense peak of its format.
    memory_share
        Element-wise operations, norms and casts, of the memory bandwidth.
    launch_s
        Between two kernels.
    step_s
        Once a step: data loading, gradient norm, logging, and whatever waits for the host.
    overlap_slowdown
        Part of the time of communication beside compute that the compute gets longer by: it takes multiprocessors and bandwidth.
    hidden_share
        Part of a communication, marked as overlapped, that can hide behind compute at all.
    backward_tensor_hidden
        Whether the library sums input gradients of tensor-parallel parts, and gathers their inputs once more, beside the products
        of the weight gradients (Korthikanti et al. 2022, https://arxiv.org/abs/2205.05198, section 4.2.2), whatever the plan
        says.
    """

    gpus: tuple[str, ...]
    gemm_share: dict[str, _Share]
    half_size: _Positive
    grouped_share: _Share
    attention_share: _Share
    attention_backward_share: _Share
    memory_share: _Share
    launch_s: _Seconds
    step_s: _Seconds
    overlap_slowdown: _Share
    hidden_share: _Share
    backward_tensor_hidden: bool = False
    sources: tuple[str, ...] = ()


class LibraryConstants(_Strict):
    """What a class of training libraries adds to what the GPUs reach: factors on what the newest Megatron does, which has 1 each.

    Attributes
    ----------
    attention_factor
        On both shares of attention: older kernels, and those with a bias, are slower.
    element_factor
        On the bytes that element-wise operations move: what is not fused is written and read again.
    launch_factor
        On the time between kernels.
    backward_tensor_hidden
        See :class:`ComputeConstants`.
    """

    attention_factor: Annotated[float, Field(gt=0, le=10)] = 1.0
    element_factor: Annotated[float, Field(gt=0, le=10)] = 1.0
    launch_factor: Annotated[float, Field(gt=0, le=100)] = 1.0
    backward_tensor_hidden: bool = False
    sources: tuple[str, ...] = ()


class NetworkConstants(_Strict):
    """What groups of GPUs reach of nominal rates: the classes of the calibration of collectives, as shares and seconds a step."""

    base_s: _Seconds
    inside_step_s: _Seconds
    across_step_s: _Seconds
    inside_share: _Share
    across_share: _Share


class TrainingConstants(_Strict):
    """Both, as a job needs them."""

    compute: ComputeConstants
    network: NetworkConstants


class TrainingCalibration(_Strict):
    """The data file: classes of GPUs, how far predictions lay off when their source was left out, and what was fitted."""

    name: str
    script: str
    classes: dict[str, ComputeConstants]
    libraries: dict[str, LibraryConstants]
    range_low: float
    range_high: float
    rows: int = Field(ge=0)
    sources: tuple[CalibrationSource, ...] = ()

    def constants_of(self, gpu: str, library: str) -> ComputeConstants:
        """Return what a GPU part reaches under a class of libraries."""
        known, by = self.classes[self.class_of(gpu)], self.libraries[library]
        return known.model_copy(
            update={
                "attention_share": min(known.attention_share * by.attention_factor, 1.0),
                "attention_backward_share": min(known.attention_backward_share * by.attention_factor, 1.0),
                "memory_share": min(known.memory_share / by.element_factor, 1.0),
                "launch_s": known.launch_s * by.launch_factor,
                "backward_tensor_hidden": by.backward_tensor_hidden,
            }
        )

    def class_of(self, gpu: str) -> str:
        """Return the name of the class of a GPU part; the last one fits all."""
        for name, known in self.classes.items():
            if any(fnmatchcase(gpu, pattern) for pattern in known.gpus):
                return name
        return list(self.classes)[-1]
