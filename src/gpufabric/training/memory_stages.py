"""Quantities of layers → their sums over the layers of pipeline stages, for many plans at once."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


def chunk_start(layers: int, chunks: Ints, chunk: Ints) -> Ints:
    """Return the first layer of a model chunk.

    Layers are spread evenly. Where one or two layers are missing for that, the last chunk and then the first has one fewer, for
    the embedding and the output layer stand there (The Llama 3 Herd of Models, https://arxiv.org/abs/2407.21783, section 3.3.2);
    where more are missing, the first chunks have one more.

    Parameters
    ----------
    layers
    chunks
        Stages × virtual stages; int64.
    chunk
        Which one, 0 to ``chunks``; ``chunks`` itself gives ``layers``. Broadcast against *chunks*.
    """
    most = -(-layers // chunks)
    missing = most * chunks - layers
    balanced = np.clip(chunk * most - missing // 2, 0, layers)
    longer = layers % chunks
    spread = chunk * (layers // chunks) + np.minimum(chunk, longer)
    return np.where(missing <= 2, balanced, spread)


def candidate_stages(pp: Ints) -> Ints:
    """Return the stages that can be fullest: the first two and the last two; int64, shape (P, 4), mirrored by reversing.

    The first has the embedding and most micro-batches in flight, the next may have more experts, the last has the logits.
    """
    last = pp - 1
    return np.stack([np.zeros_like(pp), np.minimum(1, last), np.maximum(last - 1, 0), last], axis=1)


def sums_of_stages(of_layers: Floats, pp: Ints, virtual_stages: Ints) -> Floats:
    """Sum quantities of layers over each candidate stage.

    Parameters
    ----------
    of_layers
        K quantities of L layers, float64, shape (K, L).
    pp, virtual_stages
        Of each plan, int64, shape (P,).

    Returns
    -------
    array, float64, shape (K, P, 4)
        Stages as :func:`candidate_stages` has them.
    """
    layers = of_layers.shape[1]
    running = np.concatenate([np.zeros((len(of_layers), 1)), np.cumsum(of_layers, axis=1)], axis=1)
    # Thousands of plans have a few dozen ways to cut the model, which are summed once each.
    widest = int(virtual_stages.max(initial=1)) + 1
    distinct, which = np.unique(pp * widest + virtual_stages, return_inverse=True)
    stages, virtual = distinct // widest, distinct % widest
    chunks = (stages * virtual)[:, None]
    stage = candidate_stages(stages)
    total = np.zeros((len(of_layers), *stage.shape))
    for turn in range(widest - 1):
        chunk = np.minimum(turn * stages[:, None] + stage, chunks - 1)
        after, before = chunk_start(layers, chunks, chunk + 1), chunk_start(layers, chunks, chunk)
        total += (running[:, after] - running[:, before]) * (turn < virtual)[:, None]
    return np.asarray(np.take(total, which, axis=1))
