"""A laid network → ranks of torch.distributed on its servers, which are asked by files and stopped at the end of a block."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any

import gpufabric
from gpufabric.errors import InputError
from gpufabric.lab.find_torch import find_torch
from gpufabric.lab.host_networks import LaidNetwork
from gpufabric.lab.run_program import Program, started

_FOLDER = "/run/ranks"
_POLL_S = 0.02
_BEGIN_S = 180.0


@dataclass(frozen=True, slots=True)
class RankPlace:
    """Where a rank runs: server, interface, its address, and the leaf that the interface is linked with."""

    host: str
    interface: str
    address: str
    leaf: str


def interleaved_ranks(net: LaidNetwork) -> tuple[RankPlace, ...]:
    """Return a rank for each server, on its first interface, in an order in which neighbours are on different leaves.

    Raises
    ------
    InputError
        If those interfaces are all on one leaf: nothing would cross the fabric.
    """
    leaf_of = {(end.device, end.interface): other.device for end, other in net.ends}
    by_leaf: dict[str, list[RankPlace]] = {}
    for host in net.hosts.values():
        first = min(host.interfaces, key=lambda one: one.metric)
        leaf = leaf_of[host.name, first.name]
        by_leaf.setdefault(leaf, []).append(RankPlace(host.name, first.name, first.address, leaf))
    if len(by_leaf) < 2:
        raise InputError(
            f"servers: all are on leaf {next(iter(by_leaf), 'none')}, so no traffic would cross the fabric; "
            "rehearse a fabric with several leaves a plane, or keep more with --leaves"
        )
    return tuple(place for row in zip_longest(*by_leaf.values()) for place in row if place is not None)


class RankTeam:
    """Ranks that run; :meth:`ask` has all of them do something at the same time."""

    def __init__(self, program: Program, folder: Path, ranks: int) -> None:
        self._program, self._folder, self._ranks = program, folder, ranks
        self._asked = 0

    def ask(self, do: str, limit_s: float, **question: Any) -> list[Any]:
        """Return the answer of each rank.

        Parameters
        ----------
        do
            ``connect``, ``all_reduce`` or ``train``: a method of :class:`gpufabric.lab.rank_worker.Rank`.
        limit_s
            Seconds to wait for the slowest one.
        question
            Its arguments.

        Raises
        ------
        InputError
            If a rank fails, or the limit is reached.
        """
        number, self._asked = self._asked, self._asked + 1
        part = self._folder / "question"
        part.write_text(json.dumps({"do": do, **question}), encoding="utf-8")
        part.rename(self._folder / f"ask-{number}.json")
        waited = [self._folder / f"answer-{number}-{rank}.json" for rank in range(self._ranks)]
        end = time.monotonic() + limit_s
        while not all(answer.exists() for answer in waited):
            if not self._program.running:
                raise InputError(f"ranks: ended too early ({self._program.last_words()}); look at the reason")
            if time.monotonic() > end:
                missing = [rank for rank, answer in enumerate(waited) if not answer.exists()]
                raise InputError(
                    f"ranks: {do} did not end within {limit_s:.0f} s (rank {missing[0]} has not answered); "
                    "rehearse on an idle machine, with a lower --rate or fewer servers"
                )
            time.sleep(_POLL_S)
        return [json.loads(answer.read_text(encoding="utf-8")) for answer in waited]


@contextmanager
def torch_ranks(net: LaidNetwork, places: Sequence[RankPlace]) -> Iterator[RankTeam]:
    """Run a rank on each place while the block lasts.

    All files are in the memory of the isolated machine, so nothing is left, even when we are killed.

    Raises
    ------
    InputError
        If PyTorch is not installed.
    """
    find_torch()
    folder = net.machine.path(_FOLDER)
    folder.mkdir()
    ranks = [{"network": place.host, "interface": place.interface} for place in places]
    (folder / "ranks.json").write_text(json.dumps(ranks), encoding="utf-8")
    settings = {
        "PYTHONPATH": str(Path(gpufabric.__file__).parents[1]),
        "PYTHONDONTWRITEBYTECODE": "1",
        "OMP_NUM_THREADS": "1",
        "HOME": _FOLDER,
        "TMPDIR": _FOLDER,
    }
    command = net.machine.command([sys.executable, "-m", "gpufabric.lab.rank_worker", _FOLDER])
    with started(command, folder, settings) as program:
        yield RankTeam(program, folder, len(places))


def connect(team: RankTeam, groups: int) -> list[list[list[list[str]]]]:
    """Have all ranks connect with each other, *groups* times, and return of each rank the connections of each group."""
    return team.ask("connect", _BEGIN_S, groups=groups)
