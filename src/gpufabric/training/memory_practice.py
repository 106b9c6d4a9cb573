"""What a training library keeps in memory beyond what every one must: habits of classes of libraries, never of one run."""

from __future__ import annotations

from dataclasses import dataclass, replace

SELECTIVE_ATTENTION, SELECTIVE_CHEAP, SELECTIVE_HALF = "attention", "cheap", "half"


@dataclass(frozen=True, slots=True)
class MemoryPractice:
    """Habits of a class of training libraries.

    Attributes
    ----------
    loss_bytes, split_loss_bytes
        Bytes of one logit while the loss is computed and its gradient returned: the logits, what the loss keeps, temporaries and
        the gradient. The second holds where the vocabulary is split over a tensor-parallel group.
    dropout
        Whether hidden states are dropped out: one byte of mask for each.
    flash_attention
        Whether the scores of attention are never written. Without it they are 4 bytes a head and pair, 5 with dropout.
    selective
        What selective recomputation computes again: ``attention`` the scores (Korthikanti et al. 2022, section 5), ``cheap``
        those, outputs of norms and of activation functions, and the heads that latent attention opens, ``half`` every second
        matrix product with what follows from it.
    product_input_bytes
        Bytes of an element that is kept for a matrix product. Inputs of norms have two in any case.
    layer_gradient_buffer
        Whether the gradients of one layer's weights are written in the format of the weights beside the accumulated ones.
    gathered_layers
        Layers whose weights fully sharded data parallelism holds whole at a time; less than 1 where it gathers modules.
    context_bytes
        What the driver, its libraries and the collective library take of a GPU outside the allocator.
    fragmentation
        What the allocator reserves beyond its peak, as a share of it.
    """

    loss_bytes: float
    split_loss_bytes: float
    dropout: bool = False
    flash_attention: bool = True
    selective: str = SELECTIVE_CHEAP
    product_input_bytes: float = 2.0
    layer_gradient_buffer: bool = True
    gathered_layers: float = 2.0
    context_bytes: float = 0.0
    fragmentation: float = 0.0


# A context of about 300 MB (https://github.com/pytorch/pytorch/issues/107667, read 2026-12-01) and 688 MB of NCCL's first
# communicator of four A100 (https://github.com/NVIDIA/nccl/issues/964, read 2026-12-01).
_CONTEXT_BYTES = 300e6 + 688e6
# Reserved over allocated on the fullest rank, 3 % to 7 % in 8 runs on B200 (https://github.com/MooreThreads/SimuMax,
# docs/b200/b200_release_v1.2_summary.json, read 2026-12-01).
_FRAGMENTATION = 0.05

MEGATRON = MemoryPractice(
    # Logits in BF16, a copy in FP32 that the softmax and then the gradient are written into.
    loss_bytes=6.0,
    split_loss_bytes=6.0,
    context_bytes=_CONTEXT_BYTES,
    fragmentation=_FRAGMENTATION,
)
"""Megatron-LM, and NeMo and Megatron Bridge upon it, with Transformer Engine and flash attention; selective recomputation of the
modules core_attn, layernorm, mla_up_proj and moe_act (``--recompute-modules``)."""

MEGATRON_FUSED_LOSS = replace(MEGATRON, loss_bytes=4.0, split_loss_bytes=4.0)
"""As :data:`MEGATRON` with ``--cross-entropy-loss-fusion``: logits in BF16, and their gradient."""

MEGATRON_2022 = replace(
    MEGATRON,
    dropout=True,
    flash_attention=False,
    selective=SELECTIVE_ATTENTION,
    layer_gradient_buffer=False,
)
"""Megatron-LM before flash attention, with dropout: what Korthikanti et al. 2022 count (https://arxiv.org/abs/2205.05198)."""

DEEPSPEED_2021 = replace(MEGATRON_2022, gathered_layers=1.0 / 3.0)
"""As :data:`MEGATRON_2022` with DeepSpeed's ZeRO-3, which gathers and frees one module at a time
(https://deepspeed.readthedocs.io/en/latest/zero3.html): the largest of a GPT layer is a third of it."""

FSDP = MemoryPractice(
    # Logits in BF16; a copy, its log-softmax and its gradient in FP32. Where the vocabulary is split, PyTorch's loss_parallel
    # makes the gradient as (g + exp(x)) × d, whose two temporaries count too (torch/distributed/tensor/parallel/loss.py).
    loss_bytes=14.0,
    split_loss_bytes=20.0,
    selective=SELECTIVE_HALF,
    layer_gradient_buffer=False,
    context_bytes=_CONTEXT_BYTES,
    fragmentation=_FRAGMENTATION,
)
"""PyTorch FSDP as torchtitan uses it; its selective checkpointing saves every second matrix product (``selective_ac_option``
``op``)."""

FSDP_FUSED_LOSS = replace(FSDP, loss_bytes=4.0, split_loss_bytes=4.0, selective=SELECTIVE_CHEAP)
"""PyTorch FSDP with the fused cross entropy of flash-attention, whose gradient is written over the logits: LLM Foundry
(``loss_fn: fused_crossentropy``, https://github.com/mosaicml/llm-foundry)."""

DEEPSEEK_V3 = replace(MEGATRON_FUSED_LOSS, product_input_bytes=1.0)
"""HAI-LLM as DeepSeek-V3 was trained with it: inputs of products kept in FP8, norms, SwiGLU and the heads of latent attention
computed again (https://arxiv.org/abs/2412.19437, sections 3.2.3 and 3.3.3). Its attention outputs of 12 bits count as 8."""

USUAL = MEGATRON_FUSED_LOSS
"""What a job is taken to do that does not say: the least of memory, so that no plan that can run is called impossible."""

PRACTICES = {
    "megatron": MEGATRON,
    "megatron-fused-loss": MEGATRON_FUSED_LOSS,
    "megatron-2022": MEGATRON_2022,
    "deepspeed-2021": DEEPSPEED_2021,
    "deepseek-v3": DEEPSEEK_V3,
    "fsdp": FSDP,
    "fsdp-fused-loss": FSDP_FUSED_LOSS,
}
"""Practices by the names that measurements give them."""
