"""Operations → seconds: a product by the share of the peak that its shape reaches, everything else by the bytes that it moves."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gpufabric.errors import InputError
from gpufabric.records.number_formats import BYTES_OF_FORMAT, NumberFormats
from gpufabric.records.training_constants import ComputeConstants
from gpufabric.records.training_hardware import TrainingHardware
from gpufabric.training.operations import ACTIVATION_BYTES, OperationKind, OperationTable

Array = NDArray[np.float64]
_FAMILY = {"mxfp8": "fp8", "nvfp4": "fp4", "mxfp4": "fp4"}
ATTENTION_BACKWARD = 2.5
"""Products of backward over those of forward: scores are computed again (FlashAttention-2, https://arxiv.org/abs/2307.08691)."""


@dataclass(frozen=True, slots=True)
class ComputeTimes:
    """Seconds of one micro-batch by place (see :class:`OperationTable`), arrays of places × P; one layer for a run of layers.

    ``core`` is the part of ``forward`` that selective recomputation repeats.
    """

    forward: Array
    backward: Array
    core: Array


def peak_flops(hardware: TrainingHardware, number_format: str) -> float:
    """Return the dense peak of a GPU in a format, flop/s.

    Raises
    ------
    InputError
        If the GPU has no such rate, or none is known.
    """
    found = hardware.flops.get(number_format) or hardware.flops.get(_FAMILY.get(number_format, ""))
    if not found:
        known = ", ".join(name for name, rate in hardware.flops.items() if rate)
        raise InputError(
            f"{hardware.gpu}: no compute rate in {number_format} is known; known: {known}; choose one of them"
        )
    return float(found)


def gemm_share(constants: ComputeConstants, number_format: str) -> float:
    """Return what large products reach of the peak in a format; formats that were not fitted take the share of the nearest."""
    for name in (number_format, _FAMILY.get(number_format, ""), "bf16"):
        if name in constants.gemm_share:
            return constants.gemm_share[name]
    return next(iter(constants.gemm_share.values()))


def time_operations(
    operations: OperationTable,
    formats: NumberFormats,
    hardware: TrainingHardware,
    constants: ComputeConstants,
) -> ComputeTimes:
    """Return how long each place computes forward and backward."""
    kind = operations.kind[:, None]
    bandwidth = hardware.memory_bytes_per_s * constants.memory_share
    products = operations.m * operations.n
    flops = 2.0 * products * operations.k * operations.groups
    grouped = kind == OperationKind.GROUPED_GEMM
    # Products of experts fill the chip together; each one's weights are loaded for its own few tokens.
    rows = np.where(grouped, operations.m * operations.groups, operations.m)
    with np.errstate(divide="ignore", invalid="ignore"):
        surface = 1.0 / rows + 1.0 / operations.n + 1.0 / operations.k
    is_gemm = operations.kind <= OperationKind.PAIRS
    is_attention = operations.kind == OperationKind.ATTENTION
    wide = "bf16" if hardware.flops.get("bf16") else "fp16"
    narrow = formats.matmul
    rate = np.ones(len(operations.kind))
    full = peak_flops(hardware, narrow) * gemm_share(constants, narrow)
    rate[operations.kind == OperationKind.GEMM] = full
    rate[operations.kind == OperationKind.GROUPED_GEMM] = full * constants.grouped_share
    wide_kinds = np.isin(operations.kind, (OperationKind.WIDE_GEMM, OperationKind.PAIRS))
    rate[wide_kinds] = peak_flops(hardware, wide) * gemm_share(constants, wide)
    attention_peak = peak_flops(hardware, formats.attention)
    rate[is_attention] = attention_peak * constants.attention_share
    shape = np.where(is_gemm[:, None], 1.0 + constants.half_size * surface, 1.0)
    forward = flops / rate[:, None] * shape
    backward = 2.0 * forward
    attention_back = flops * ATTENTION_BACKWARD / (attention_peak * constants.attention_backward_share)
    backward = np.where(kind == OperationKind.ATTENTION, attention_back, backward)
    moved_forward, moved_backward = _bytes_of_products(operations, formats)
    forward = forward + (operations.forward_bytes + moved_forward) / bandwidth
    backward = backward + (operations.backward_bytes + moved_backward) / bandwidth
    launches = operations.kernels[:, None] * constants.launch_s
    forward, backward = forward + launches, backward + 2 * launches
    return _by_place(operations, forward, backward)


def _bytes_of_products(operations: OperationTable, formats: NumberFormats) -> tuple[Array, Array]:
    """Casts of operands to a narrow format, and the sum of weight gradients over micro-batches."""
    gemm = (operations.kind <= OperationKind.GROUPED_GEMM)[:, None]
    weights = operations.n * operations.k * operations.groups
    backward = np.where(gemm, 2.0 * BYTES_OF_FORMAT[formats.gradients] * weights, 0.0)
    grouped = (operations.kind == OperationKind.GROUPED_GEMM)[:, None]
    loaded = np.where(grouped, BYTES_OF_FORMAT[formats.matmul] * weights, 0.0)
    backward = backward + loaded
    if BYTES_OF_FORMAT[formats.matmul] >= ACTIVATION_BYTES:
        return loaded, backward
    cast = gemm & (operations.kind != OperationKind.WIDE_GEMM)[:, None]
    # Read once, where the scale is not known beforehand or not fused into what was before, and written with its transpose.
    one = ACTIVATION_BYTES + 2 * BYTES_OF_FORMAT[formats.matmul]
    rows = operations.m * operations.groups
    forward = np.where(cast, one * (rows * operations.k), 0.0)
    return forward + loaded, backward + np.where(cast, one * rows * operations.n, 0.0)


def _by_place(operations: OperationTable, forward: Array, backward: Array) -> ComputeTimes:
    member = np.zeros((operations.places, len(operations.kind)))
    member[operations.place, np.arange(len(operations.kind))] = 1.0
    core = member * operations.core
    return ComputeTimes(member @ forward, member @ backward, core @ forward)
