"""Plans, a small model and hardware for tests of training."""

import numpy as np

from gpufabric.records.plan_table import PlanTable
from gpufabric.records.training_hardware import TrainingHardware
from gpufabric.records.transformer import Attention, Block, BlockRun, ExpertMixture, FeedForward, Transformer

DENSE = Transformer(
    "small",
    2048,
    32000,
    (BlockRun(Block(Attention(16, 4, 128, 128), FeedForward(8192)), 24),),
)
MIXTURE = Transformer(
    "mixture",
    2048,
    32000,
    (
        BlockRun(Block(Attention(16, 4, 128, 128), FeedForward(8192)), 2),
        BlockRun(
            Block(Attention(16, 4, 128, 128), experts=ExpertMixture(64, 8, 1024, shared_width=1024)), 22
        ),
    ),
)
HARDWARE = TrainingHardware(
    gpu="h100-sxm",
    flops={"bf16": 989e12, "fp16": 989e12, "fp8": 1979e12},
    memory_bytes=80e9,
    memory_bytes_per_s=3.35e12,
    gpus=1024,
    gpus_per_server=8,
    gpus_per_domain=8,
    scale_up_bytes_per_s=450e9,
    nic_bytes_per_s=50e9,
    unit_gpus=256,
)
_USUAL = {
    "dp": 1,
    "tp": 1,
    "pp": 1,
    "cp": 1,
    "ep": 1,
    "expert_tp": 1,
    "micro_batch": 1,
    "micro_batches": 1,
    "virtual_stages": 1,
    "zero": 0,
    "shard": 1,
    "schedule": 1,
    "recompute": 0,
    "recompute_layers": -1,
    "sequence_parallel": False,
    "overlap_dp": False,
    "overlap_tp": False,
    "overlap_pp": False,
    "overlap_cp": False,
    "overlap_ep": False,
    "offload_weights": 0.0,
    "offload_optimizer": 0.0,
    "offload_activations": 0.0,
}


def plans(*rows, order=("tp", "cp", "ep", "dp", "pp")):
    """Return a table of one plan a row; a row names what is not usual."""
    return PlanTable(
        **{name: np.array([{**_USUAL, **row}[name] for row in rows]) for name in _USUAL}, order=order
    )
