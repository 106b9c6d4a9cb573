"""A wired cluster and its parts → what training needs to know of one GPU and its way to others."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gpufabric.errors import InputError
from gpufabric.jobs.racked_cluster import RackedCluster
from gpufabric.records.parts import GpuPart
from gpufabric.records.training_hardware import TrainingHardware
from gpufabric.units import counted

_FORMATS = ("fp32", "tf32", "bf16", "fp16", "fp8", "fp6", "fp4")


def training_hardware(
    racked: RackedCluster, gpu_part: GpuPart, gpus: NDArray[np.int32], fabric: int = 0
) -> tuple[TrainingHardware, tuple[str, ...]]:
    """Return the hardware under the ranks of a job, and what was assumed.

    Parameters
    ----------
    racked : RackedCluster
    gpu_part : GpuPart
        Of the server of rank 0.
    gpus : int32 array
        GPU of every rank; where servers differ, that of rank 0 stands for all.
    fabric : int
        Index of the fabric that carries the job.

    Raises
    ------
    InputError
        If the memory of the GPU is not known.
    """
    cluster = racked.cluster
    server = racked.parts.servers[cluster.parts[cluster.devices.part[cluster.gpus.host[gpus[0]]]]]
    if gpu_part.hbm_bytes is None or gpu_part.hbm_bytes_per_s is None:
        raise InputError(
            f"{gpu_part.id}: size or rate of its memory is not known; needed are both; add a part with them to the parts folder"
        )
    flops = {name: rate for name in _FORMATS if (rate := getattr(gpu_part, f"flops_{name}"))}
    host = int(cluster.gpus.host[gpus[0]])
    domain = int((cluster.gpus.domain == cluster.gpus.domain[gpus[0]]).sum())
    linked = np.unique(np.concatenate([cluster.links.port_a, cluster.links.port_b]))
    mine = linked[(cluster.ports.device[linked] == host) & (cluster.ports.fabric[linked] == fabric)]
    unit = cluster.devices.unit[cluster.gpus.host]
    power, notes = _power_per_gpu(racked)
    kinds = len(np.unique(cluster.devices.part[cluster.gpus.host[gpus]]))
    if kinds > 1:
        notes = (*notes, f"servers of {counted(kinds, 'kind')}: all are taken to compute as that of rank 0")
    return TrainingHardware(
        gpu=gpu_part.id,
        flops=flops,
        memory_bytes=gpu_part.hbm_bytes,
        memory_bytes_per_s=gpu_part.hbm_bytes_per_s,
        gpus=len(cluster.gpus),
        gpus_per_server=len(server.gpus),
        gpus_per_domain=domain,
        scale_up_bytes_per_s=server.scale_up.gpu_bytes_per_s,
        nic_bytes_per_s=float(cluster.ports.bytes_per_s[mine].sum()) / len(server.gpus),
        unit_gpus=int((unit == unit[gpus[0]]).sum()),
        power_w=power,
    ), notes


def _power_per_gpu(racked: RackedCluster) -> tuple[float, tuple[str, ...]]:
    """Return the power of the whole cluster over its GPUs, 0 where servers have no figure."""
    plan = racked.floor_plan
    known = plan.power_w[np.unique(racked.cluster.gpus.host)]
    if np.isnan(known).any():
        return 0.0, ()
    total = float(np.nan_to_num(plan.rack_power_w).sum())
    note = "energy: the largest power of servers, switches and transceivers all the time, no cooling; a run draws less"
    return total / len(racked.cluster.gpus), (note,)
