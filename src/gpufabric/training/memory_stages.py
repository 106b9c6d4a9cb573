"""The layers of a model, laid over pipeline stages → sums over what one stage holds, for many plans at once."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


def chunk_start(layers: int, chunks: Ints, chunk: Ints) -> Ints:
    """Return the first layer of a model chunk.

    Layers are spread evenly. Where one or two layers are missing for that, the last chunk and then the first has one fewer, for the
    embedding and the output layer stand there (The Llama 3 Herd of Models, https://arxiv.org/abs/2407.21783, section 3.3.2);
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
    spread = -(-chunk * layers // chunks)
    return np.where(missing <= 2, balanced, spread)


def sum_of_stage(running: Floats, pp: Ints, virtual_stages: Ints, stage: Ints) -> Floats:
    """Sum a quantity of layers over those of one stage.

    Parameters
    ----------
    running
        Sums over the layers before each, float64, shape (layers + 1,).
    pp, virtual_stages
        Of each plan, int64, shape (P, 1).
    stage
        Stages asked for, int64, shape (P, S).

    Returns
    -------
    array, float64, shape (P, S)
    """
    layers = len(running) - 1
    chunks = pp * virtual_stages
    total = np.zeros(stage.shape)
    for turn in range(int(virtual_stages.max(initial=1))):
        chunk = np.minimum(turn * pp + stage, chunks - 1)
        held = running[chunk_start(layers, chunks, chunk + 1)] - running[chunk_start(layers, chunks, chunk)]
        total += np.where(turn < virtual_stages, held, 0.0)
    return total
