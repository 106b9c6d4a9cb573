"""In which number formats a training job computes, keeps and sends: one choice a job."""

from __future__ import annotations

from dataclasses import dataclass

BYTES_OF_FORMAT = {
    "fp32": 4.0,
    "tf32": 4.0,
    "bf16": 2.0,
    "fp16": 2.0,
    "fp8": 1.0,
    "mxfp8": 1.0 + 1.0 / 32.0,
    "fp6": 0.75,
    "fp4": 0.5,
    "nvfp4": 0.5 + 1.0 / 16.0,
    "mxfp4": 0.5 + 1.0 / 32.0,
    "int8": 1.0,
}
"""Bytes of one element, block scales included: MX formats have an 8-bit scale (E8M0) for 32 elements
(https://nvidia.github.io/TransformerEngine/features/low_precision_training/mxfp8/mxfp8.html, read 2026-12-01), NVFP4 an 8-bit
scale (E4M3) for 16 (https://docs.modular.com/max/api/kernels/linalg/fp4_utils/, read 2026-12-01)."""


@dataclass(frozen=True, slots=True)
class NumberFormats:
    """Formats by part; the names are those of a job description.

    ``matmul`` inputs of matrix products, ``attention`` those of attention, ``weights`` the copy computed with, ``master_weights``
    the copy updated ("" where the first serves), ``gradients`` accumulated ones, ``reduction`` gradients on the network,
    ``states`` of the optimizer, ``dispatch`` and ``combine`` tokens on the way to experts and back.
    """

    matmul: str = "bf16"
    attention: str = "bf16"
    weights: str = "bf16"
    master_weights: str = "fp32"
    gradients: str = "fp32"
    reduction: str = "fp32"
    states: str = "fp32"
    dispatch: str = "bf16"
    combine: str = "bf16"
    optimizer: str = "adamw"
