"""One replica of a small data-parallel training: a character model on made text, gradients summed by all_reduce each step.

Everything is real but small: forward, cross-entropy, backward, one all_reduce of all gradients, Adam. The text is made of a few
words by a seeded grammar, different on every rank, so that there is something to learn and nothing to download.
"""

from __future__ import annotations

import hashlib
import random
import time
from collections.abc import Callable, Sequence
from typing import Any

from gpufabric.lab.bench_worker import Place

_ALPHABET = " .abcdefghijklmnopqrstuvwxyz"
_SUBJECTS = ("a leaf", "the spine", "every rank", "one server", "this link", "the fabric")
_VERBS = ("sends to", "waits for", "adds to", "hears from", "is cabled to")
_OBJECTS = ("the next rank", "its own leaf", "two spines", "the ring", "all others")
_WIDTH = 48
_HEADS = 4
_CONTEXT = 32
_BATCH = 8
_STEP_SIZE = 3e-3


def made_text(seed: int, sentences: int) -> str:
    """Return sentences that a seeded grammar makes."""
    chance = random.Random(seed)  # noqa: S311  # no secret
    return "".join(
        f"{chance.choice(_SUBJECTS)} {chance.choice(_VERBS)} {chance.choice(_OBJECTS)}. "
        for _ in range(sentences)
    )


def _model() -> tuple[list[Any], Callable[[Any], Any]]:
    """Return the parameters of one block of a transformer over characters, and letters → scores of the next ones."""
    import torch
    from torch import nn

    letters_of, places_of = nn.Embedding(len(_ALPHABET), _WIDTH), nn.Embedding(_CONTEXT, _WIDTH)
    block = nn.TransformerEncoderLayer(
        _WIDTH, _HEADS, 4 * _WIDTH, dropout=0.0, batch_first=True, norm_first=True
    )
    out = nn.Linear(_WIDTH, len(_ALPHABET))
    later = torch.triu(torch.full((_CONTEXT, _CONTEXT), float("-inf")), diagonal=1)

    def scores(letters: Any) -> Any:
        x = letters_of(letters) + places_of(torch.arange(_CONTEXT))
        return out(block(x, src_mask=later))

    return [p for part in (letters_of, places_of, block, out) for p in part.parameters()], scores


def _digest(parameters: Sequence[Any]) -> str:
    found = hashlib.sha256()
    for parameter in parameters:
        found.update(parameter.detach().numpy().tobytes())
    return found.hexdigest()


def train(place: Place, steps: int, hash_every: int, seed: int) -> dict[str, Any]:
    """Train one replica and say how it went.

    Parameters
    ----------
    place
        The rank; its number seeds the text and the order of the batches, so that every rank has data of its own.
    steps
        Steps of the optimiser.
    hash_every
        After how many steps the parameters are hashed, and after the last one.
    seed
        Of the parameters, the same on all ranks.

    Returns
    -------
    dict
        ``parameters``, ``gradient_bytes``; of every step the mean ``loss`` over all ranks, ``step_s`` and ``exchange_s`` of this
        rank; ``hashes``: step and SHA-256 of all parameters.
    """
    import torch
    import torch.distributed as dist
    from torch import nn

    torch.manual_seed(seed)
    parameters, scores_of = _model()
    optimiser = torch.optim.Adam(parameters, lr=_STEP_SIZE)
    text = torch.tensor([_ALPHABET.index(c) for c in made_text(1 + seed + place.rank, 400)])
    chance = torch.Generator().manual_seed(1000 + place.rank)
    count = sum(p.numel() for p in parameters)
    flat = torch.zeros(count + 1)  # the last one is the loss
    said: dict[str, Any] = {
        "parameters": count, "gradient_bytes": flat.numel() * flat.element_size(),
        "loss": [], "step_s": [], "exchange_s": [], "hashes": [],
    }  # fmt: skip
    dist.barrier(group=place.group)
    for step in range(1, steps + 1):
        begin = time.perf_counter()
        first = torch.randint(len(text) - _CONTEXT - 1, (_BATCH,), generator=chance)
        rows = text[first[:, None] + torch.arange(_CONTEXT + 1)]
        scores = scores_of(rows[:, :-1])
        loss = nn.functional.cross_entropy(scores.reshape(-1, len(_ALPHABET)), rows[:, 1:].reshape(-1))
        optimiser.zero_grad()
        loss.backward()
        flat[:-1] = torch.cat([p.grad.reshape(-1) for p in parameters])
        flat[-1] = loss.detach()
        computed = time.perf_counter()
        dist.all_reduce(flat, group=place.group)
        exchanged = time.perf_counter()
        flat /= place.ranks
        for parameter, mean in zip(parameters, flat[:-1].split([p.numel() for p in parameters]), strict=True):
            parameter.grad.copy_(mean.view_as(parameter))
        optimiser.step()
        said["loss"].append(float(flat[-1]))
        said["exchange_s"].append(exchanged - computed)
        said["step_s"].append(time.perf_counter() - begin)
        if step % hash_every == 0 or step == steps:
            said["hashes"].append([step, _digest(parameters)])
    return said
