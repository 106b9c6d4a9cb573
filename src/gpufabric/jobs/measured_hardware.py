"""A row of measurements of training → the hardware it ran on; what the row does not say is taken and said."""

from __future__ import annotations

import re
from dataclasses import dataclass

from gpufabric.catalog.load import load_catalog
from gpufabric.catalog.measurements.training_facts import SourceFacts
from gpufabric.errors import InputError, printable
from gpufabric.records.measured_step import MeasuredStep
from gpufabric.records.parts import GpuPart
from gpufabric.records.training_hardware import TrainingHardware
from gpufabric.units import from_gbps

_GPUS = (
    ("gb300", "gb300"),
    ("gb200", "gb200"),
    ("b300", "b300-sxm"),
    ("b200", "b200-sxm"),
    ("h200", "h200-sxm"),
    ("h800", "h800-sxm"),
    ("gh200", "gh200"),
    ("h100", "h100-sxm"),
    ("a10040gb", "a100-sxm4-40gb"),
    ("a100sxm440gb", "a100-sxm4-40gb"),
    ("a100", "a100-sxm4-80gb"),
    ("mi300x", "mi300x"),
)
_UNIT_GPUS = 256
# What the maker's own server has for one GPU, Gb/s, where a row names no network.
_USUAL_NIC_GBPS = {"a100": 200, "b300": 800, "gb300": 800}
_OTHER_NIC_GBPS = 400
_PER_NODE = re.compile(r"\b(\d{1,3})\s*x\s*(?:HDR)?(\d{2,4})G?\b")
_TOTAL = re.compile(r"\b(\d{3,5}) Gbps node")
_CLOCK_POWER = 1.0 / 3.0


@dataclass(frozen=True, slots=True)
class MeasuredHardware:
    """Hardware, its network by name, and what was taken."""

    hardware: TrainingHardware
    network: str
    nic: str
    assumptions: tuple[str, ...]


def measured_hardware(row: MeasuredStep, facts: SourceFacts) -> MeasuredHardware:
    """Return the hardware of a row.

    Raises
    ------
    InputError
        If its GPU is not in the catalogue, or has no published rates there.
    """
    part = gpu_part(row.gpu)
    assumed: list[str] = []
    flops = {
        name: float(rate)
        for name in ("fp32", "tf32", "bf16", "fp16", "fp8", "fp6", "fp4")
        if (rate := getattr(part, f"flops_{name}"))
    }
    if facts.power_w and part.power_w and facts.power_w < part.power_w:
        slower = (facts.power_w / part.power_w) ** _CLOCK_POWER
        flops = {name: rate * slower for name, rate in flops.items()}
        assumed.append(f"held at {facts.power_w:.0f} W of {part.power_w:.0f}: compute rates × {slower:.3f}")
    rack = part.id in {"gb200", "gb300"}
    server = 4 if rack else 8
    nic, network, adapter = _network(row, part.id, server, assumed)
    if not flops or not part.hbm_bytes_per_s or not part.hbm_bytes:
        raise InputError(f"the rates of {part.id} are not known")
    return MeasuredHardware(
        TrainingHardware(
            gpu=part.id,
            flops=flops,
            memory_bytes=part.hbm_bytes,
            memory_bytes_per_s=facts.hbm_bytes_per_s or part.hbm_bytes_per_s,
            gpus=max(row.gpus, 1),
            gpus_per_server=server,
            gpus_per_domain=72 if rack else server,
            scale_up_bytes_per_s=(part.scale_up_links or 0) * (part.scale_up_bytes_per_s_per_link or 0.0),
            nic_bytes_per_s=nic,
            unit_gpus=_UNIT_GPUS,
        ),
        network,
        adapter,
        tuple(assumed),
    )


def gpu_part(name: str) -> GpuPart:
    """Return the GPU that a table calls *name*, such as ``A100-SXM4-80GB`` or ``DGX-B200``.

    Raises
    ------
    InputError
        If it is not known.
    """
    wanted = re.sub(r"[^a-z0-9]", "", name.lower())
    for text, part in _GPUS:
        if text in wanted:
            return load_catalog().gpu(part)
    raise InputError(f'gpu "{printable(name, 40)}" is not known')


def _network(row: MeasuredStep, gpu: str, server: int, assumed: list[str]) -> tuple[float, str, str]:
    text = row.network
    network = "infiniband" if "infiniband" in text.lower() or not text else "ethernet"
    adapter = "aws-efa-" if "EFA" in text else ""
    told, total = _PER_NODE.search(text), _TOTAL.search(text)
    if total:
        gbps = float(total.group(1)) / server
    elif told:
        gbps = float(told.group(1)) * float(told.group(2)) / server
    else:
        family = gpu.partition("-")[0]
        gbps = _USUAL_NIC_GBPS.get(family, _OTHER_NIC_GBPS)
        if row.gpus > server:
            assumed.append(
                f"the network was not published: {gbps:.0f} Gb/s InfiniBand a GPU, as the maker's server has"
            )
    return from_gbps(gbps), network, adapter
