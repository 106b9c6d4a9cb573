"""What training needs to know of a cluster for its closed form: one GPU's rates, and what a group of GPUs gets of the network."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TrainingHardware:
    """One GPU of the cluster and its way to others.

    Attributes
    ----------
    gpu : part id
    flops : dense peak by number format, flop/s
    memory_bytes, memory_bytes_per_s
    gpus, gpus_per_server, gpus_per_domain
        GPUs of the cluster, of a server, and of a scale-up domain (72 on NVL72).
    scale_up_bytes_per_s
        One GPU's links inside its domain, one direction.
    nic_bytes_per_s
        One GPU's part of the NICs of its server, one direction; 0 where there are none.
    unit_gpus
        GPUs of a scalable unit.
    host_bytes_per_s
        One GPU's link to the memory of its server (PCIe or C2C), one direction; 0: unknown.
    power_w
        Of a server with its share of the switches, per GPU; 0: unknown.
    """

    gpu: str
    flops: Mapping[str, float]
    memory_bytes: float
    memory_bytes_per_s: float
    gpus: int
    gpus_per_server: int
    gpus_per_domain: int
    scale_up_bytes_per_s: float
    nic_bytes_per_s: float
    unit_gpus: int
    host_bytes_per_s: float = 0.0
    power_w: float = 0.0
