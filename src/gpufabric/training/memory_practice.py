"""What a training library keeps in memory beyond what every one must: habits of classes of libraries, never of one run."""

from __future__ import annotations

from dataclasses import dataclass

from gpufabric.errors import InputError

SELECTIVE_ATTENTION, SELECTIVE_HALF = "attention", "half"


@dataclass(frozen=True, slots=True)
class MemoryPractice:
    """Habits of a class of training libraries.

    Attributes
    ----------
    loss_bytes
        Bytes of one logit while the loss is computed and its gradient returned: the logits, what the loss keeps and the gradient.
    split_loss_bytes
        The same where the vocabulary is split over a tensor-parallel group.
    dropout
        Whether hidden states are dropped out: one byte of mask for each.
    flash_attention
        Whether the scores of attention are never written. Without it they are 5 bytes a head and pair with dropout, else 4.
    selective
        What selective recomputation computes again: ``attention`` the scores (Korthikanti et al. 2022, section 5), ``half`` every
        second matrix product with what follows from it.
    layer_gradient_buffer
        Whether the gradients of one layer's weights are written in the format of the weights beside the accumulated ones.
    gathered_layers
        Layers whose weights fully sharded data parallelism holds whole at a time.
    context_bytes
        What the driver, its libraries and the collective library take of a GPU outside the allocator.
    fragmentation
        What the allocator reserves beyond its peak, as a share of it.
    """

    loss_bytes: float
    split_loss_bytes: float
    dropout: bool = False
    flash_attention: bool = True
    selective: str = SELECTIVE_ATTENTION
    layer_gradient_buffer: bool = True
    gathered_layers: float = 2.0
    context_bytes: float = 0.0
    fragmentation: float = 0.0


MEGATRON = MemoryPractice(loss_bytes=6.0, split_loss_bytes=6.0, fragmentation=0.05)
TITAN = MemoryPractice(loss_bytes=14.0, split_loss_bytes=20.0, fragmentation=0.05, selective=SELECTIVE_HALF, layer_gradient_buffer=False)
