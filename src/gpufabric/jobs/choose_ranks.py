"""A description and what the command line adds to it → which ranks take part, and in what order."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from gpufabric.collectives.rank_order import ORDERS, PLACEMENTS
from gpufabric.errors import InputError, did_you_mean, printable
from gpufabric.formats import hostfile, rank_log, slurm_nodelist
from gpufabric.jobs.unused_keys import PREDICT, unused_keys
from gpufabric.records.cluster_spec import ClusterSpec
from gpufabric.records.rank_places import RankPlaces
from gpufabric.rules.measured_scope import model_code

_READERS: Mapping[str, Callable[[str], RankPlaces]] = {
    "hostfile": hostfile.read,
    "slurm": slurm_nodelist.read,
    "log": rank_log.read,
}
_KNOWN = ", ".join((*ORDERS, "hostfile:FILE", "slurm:LIST", "log:FILE"))


@dataclass(frozen=True, slots=True)
class RankChoice:
    """Order, seed and number of ranks (None: all), their placement, and what of the description was not acted on.

    ``places`` are given where a file says the order; ``order`` is then the kind of file.
    """

    order: str
    seed: int
    ranks: int | None
    notes: tuple[str, ...]
    placement: str = "packed"
    places: RankPlaces | None = None


def choose_ranks(
    spec: ClusterSpec,
    order: str | None = None,
    seed: int | None = None,
    ranks: int | None = None,
    placement: str | None = None,
    use: str = PREDICT,
) -> RankChoice:
    """Return the choice: what is given here stands, the description fills the rest.

    Parameters
    ----------
    spec
    order
        ``fabric``, ``shuffled``, ``hostfile:FILE``, ``slurm:LIST`` (or a file with one) or ``log:FILE``.
    seed, ranks
    placement
        ``packed`` or ``fragmented``.
    use
        What for: :data:`gpufabric.jobs.unused_keys.PREDICT` or ``CHECK``.

    Raises
    ------
    InputError
        If the order or placement is unknown, or the file of an order can't be used.
    """
    said = spec.rank_order
    kind, argument = (said.order, said.file) if order is None else _split(order)
    chosen = said.placement if placement is None else placement
    if chosen not in PLACEMENTS:
        raise InputError(
            f'placement "{printable(chosen)}" is unknown; known: {", ".join(PLACEMENTS)}.'
            f"{did_you_mean(chosen, PLACEMENTS)}"
        )
    places = None
    if kind in _READERS:
        if not argument:
            where = "rank_order.file: it is missing" if order is None else f"order {kind}: nothing follows it"
            raise InputError(f"{where}; write where the order stands; with --order as one of {_KNOWN}")
        places = _READERS[kind](argument)
    return RankChoice(
        kind,
        said.seed if seed is None else seed,
        said.ranks if ranks is None else ranks,
        unused_keys(spec, use),
        chosen,
        places,
    )


def other_gpus_note(places: RankPlaces | None, gpu: str) -> tuple[str, ...]:
    """Return a line about an order that comes from the log of a job on other GPUs than *gpu* (a part id), or nothing."""
    here, there = (model_code(name) for name in (places.gpu_name if places else "", gpu))
    if not here or not there or here == there:
        return ()
    name = printable(places.gpu_name if places else "", 60)
    return (
        f"order: the log is of {name}, the description has {gpu}; only the order of its ranks is taken over",
    )


def _split(order: str) -> tuple[str, str | None]:
    kind, colon, argument = order.partition(":")
    if colon and kind in _READERS:
        return kind, argument
    if kind in _READERS:
        return kind, None
    if order not in ORDERS:
        known = (*ORDERS, *_READERS)
        raise InputError(
            f'order "{printable(order)}" is unknown; known: {_KNOWN}.{did_you_mean(kind[:80], known)}'
        )
    return order, None
