"""One rank's part of a measured collective, as nccl-tests measures: repeated calls of torch.distributed, and a check of the data.

Nothing else of gpufabric imports PyTorch but this file and its neighbours that run inside a rank.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

ELEMENT_BYTES = 4  # float32, as nccl-tests unless told otherwise
ROOT = 0
_PATTERN = 61
"""Element i of rank r is i mod 61 + r: sums over some thousand ranks are exact in float32."""


@dataclass(frozen=True, slots=True)
class Exchange:
    """One call of a collective: fill the buffers, run it, count the elements that are wrong afterwards."""

    fill: Callable[[], None]
    run: Callable[[], object]
    wrong: Callable[[], int]


@dataclass(frozen=True, slots=True)
class Place:
    """Where a rank runs: its number, how many there are, its group (None: all) and the device of its buffers."""

    rank: int
    ranks: int
    group: Any
    device: str


@dataclass(frozen=True, slots=True)
class Measured:
    """Seconds of one call on this rank, and how many elements were wrong on it, None when that was not checked."""

    time_s: float
    wrong: int | None


def measure(exchange: Exchange, place: Place, warmup: int, iterations: int, check: bool) -> Measured:
    """Return the mean time of *iterations* calls after *warmup* ones.

    Parameters
    ----------
    exchange
    place
    warmup, iterations
        Calls before, and calls that are timed, at least 1.
    check
        Whether a first call, on fresh data, is checked.
    """
    import torch.distributed as dist

    wrong = None
    if check:
        exchange.fill()
        exchange.run()
        wait_for_device(place)
        wrong = exchange.wrong()
    exchange.fill()
    for _ in range(warmup):
        exchange.run()
    wait_for_device(place)
    dist.barrier(group=place.group)
    begin = time.perf_counter()
    for _ in range(iterations):
        exchange.run()
    wait_for_device(place)
    return Measured((time.perf_counter() - begin) / iterations, wrong)


def wait_for_device(place: Place) -> None:
    """Wait until a GPU has done what it was asked; processors are done already."""
    if place.device != "cpu":
        import torch

        torch.cuda.synchronize()


def _pattern(rank: int, first: int, count: int, place: Place) -> Any:
    import torch

    places = torch.arange(first, first + count, device=place.device)
    return (places % _PATTERN + rank).to(torch.float32)


def _sum_pattern(first: int, count: int, place: Place) -> Any:
    ranks = place.ranks
    return ranks * _pattern(0, first, count, place) + ranks * (ranks - 1) / 2


def _differing(found: Any, expected: Any) -> int:
    return int((found != expected).sum().item())


def _empty(count: int, place: Place) -> Any:
    import torch

    return torch.zeros(count, dtype=torch.float32, device=place.device)


def all_reduce(count: int, in_place: bool, place: Place) -> Exchange:
    """Sum over all ranks; torch.distributed has it in place only, so both halves of a row call the same."""
    import torch.distributed as dist

    buffer = _empty(count, place)
    return Exchange(
        lambda: buffer.copy_(_pattern(place.rank, 0, count, place)),
        lambda: dist.all_reduce(buffer, group=place.group),
        lambda: _differing(buffer, _sum_pattern(0, count, place)),
    )


def broadcast(count: int, in_place: bool, place: Place) -> Exchange:
    """Copy from the root to all; in place only, as with :func:`all_reduce`."""
    import torch.distributed as dist

    buffer = _empty(count, place)
    return Exchange(
        lambda: buffer.copy_(_pattern(place.rank, 0, count, place)),
        lambda: dist.broadcast(buffer, ROOT, group=place.group),
        lambda: _differing(buffer, _pattern(ROOT, 0, count, place)),
    )


def reduce(count: int, in_place: bool, place: Place) -> Exchange:
    """Sum on the root; in place only, as with :func:`all_reduce`."""
    import torch.distributed as dist

    buffer = _empty(count, place)
    return Exchange(
        lambda: buffer.copy_(_pattern(place.rank, 0, count, place)),
        lambda: dist.reduce(buffer, ROOT, group=place.group),
        lambda: _differing(buffer, _sum_pattern(0, count, place)) if place.rank == ROOT else 0,
    )


def all_gather(count: int, in_place: bool, place: Place) -> Exchange:
    """Every rank's *count* / ranks elements to all."""
    import torch
    import torch.distributed as dist

    part = count // place.ranks
    result = _empty(count, place)
    own = result[place.rank * part : (place.rank + 1) * part] if in_place else _empty(part, place)
    return Exchange(
        lambda: own.copy_(_pattern(place.rank, 0, part, place)),
        lambda: dist.all_gather_into_tensor(result, own, group=place.group),
        lambda: _differing(result, torch.cat([_pattern(r, 0, part, place) for r in range(place.ranks)])),
    )


def reduce_scatter(count: int, in_place: bool, place: Place) -> Exchange:
    """Sum all ranks' *count* elements, of which each rank gets its part."""
    import torch.distributed as dist

    part, first = count // place.ranks, place.rank * (count // place.ranks)
    given = _empty(count, place)
    result = given[first : first + part] if in_place else _empty(part, place)
    return Exchange(
        lambda: given.copy_(_pattern(place.rank, 0, count, place)),
        lambda: dist.reduce_scatter_tensor(result, given, group=place.group),
        lambda: _differing(result, _sum_pattern(first, part, place)),
    )


def all_to_all(count: int, in_place: bool, place: Place) -> Exchange:
    """Every rank's part for every other one; it has no meaning in place, so both halves of a row have two buffers."""
    import torch
    import torch.distributed as dist

    part = count // place.ranks
    given, result = _empty(count, place), _empty(count, place)
    first = place.rank * part
    return Exchange(
        lambda: given.copy_(_pattern(place.rank, 0, count, place)),
        lambda: dist.all_to_all_single(result, given, group=place.group),
        lambda: _differing(result, torch.cat([_pattern(r, first, part, place) for r in range(place.ranks)])),
    )


def send_recv(count: int, in_place: bool, place: Place) -> Exchange:
    """Each rank to the next; two buffers in both halves of a row."""
    import torch.distributed as dist

    given, result = _empty(count, place), _empty(count, place)
    after, before = (place.rank + 1) % place.ranks, (place.rank - 1) % place.ranks

    def run() -> None:
        calls = [
            dist.P2POp(dist.isend, given, after, group=place.group),
            dist.P2POp(dist.irecv, result, before, group=place.group),
        ]
        for request in dist.batch_isend_irecv(calls):
            request.wait()

    return Exchange(
        lambda: given.copy_(_pattern(place.rank, 0, count, place)),
        run,
        lambda: _differing(result, _pattern(before, 0, count, place)),
    )


EXCHANGES: dict[str, Callable[[int, bool, Place], Exchange]] = {
    "all_reduce": all_reduce,
    "all_gather": all_gather,
    "reduce_scatter": reduce_scatter,
    "broadcast": broadcast,
    "reduce": reduce,
    "all_to_all": all_to_all,
    "send_recv": send_recv,
}
#: Their sizes are those of all ranks' parts together, so that they are a multiple of the number of ranks.
IN_PARTS = ("all_gather", "reduce_scatter", "all_to_all")
#: They have no meaning in place: the second half of a row repeats the first.
NOT_IN_PLACE = ("all_to_all", "send_recv")
