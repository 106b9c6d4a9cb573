"""What a user calls an operation → what it is called here."""

from __future__ import annotations

from gpufabric.collectives.bus_factors import OPS
from gpufabric.errors import InputError, did_you_mean, printable


def known_op(text: str) -> str:
    """Return the operation that *text* names: ours, or as nccl-tests spells it (``allreduce``, ``all_reduce_perf``).

    Raises
    ------
    InputError
        If there is no such operation.
    """
    word = text.strip().lower().replace("-", "_")
    plain = {op.replace("_", ""): op for op in OPS}
    found = plain.get(word.removesuffix("_perf").replace("_", ""))
    if found is None:
        raise InputError(
            f'operation "{printable(text)}" is unknown; known: {", ".join(OPS)}.{did_you_mean(word, OPS)}'
        )
    return found
