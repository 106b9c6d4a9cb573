"""Ranks of torch.distributed over Gloo, one a network namespace: ``python -m gpufabric.lab.rank_worker FOLDER``.

PyTorch is loaded once; then each rank is a fork that enters the namespace of its server (setns(2)). Ranks meet by a file, so that
nothing but collectives is on the network. They do what ``ask-N.json`` in FOLDER asks, and each writes ``answer-N-RANK.json``.
"""

from __future__ import annotations

import ctypes
import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from gpufabric.lab.bench_worker import ELEMENT_BYTES, Place, all_reduce, measure
from gpufabric.lab.training_worker import train

_NEW_NETWORK = 0x40000000  # CLONE_NEWNET of sched.h
_POLL_S = 0.005
_ESTABLISHED = "01"  # of /proc/net/tcp


class Rank:
    """One rank: its groups, each with TCP connections of its own to all others."""

    def __init__(self, number: int, ranks: int, folder: Path) -> None:
        self.number, self.ranks, self.folder = number, ranks, folder
        self.groups: list[Any] = []

    def connect(self, groups: int) -> list[list[list[str]]]:
        """Make so many groups, and return the connections of each: local and remote end as /proc/net/tcp has them."""
        import torch.distributed as dist

        store = dist.FileStore(str(self.folder / "meeting"), self.ranks)
        dist.init_process_group("gloo", store=store, rank=self.number, world_size=self.ranks)
        found, known = [], own_connections()
        for _ in range(groups):
            self.groups.append(dist.new_group(list(range(self.ranks)), backend="gloo"))
            now = own_connections()
            found.append([list(pair) for pair in sorted(now - known)])
            known = now
        return found

    def all_reduce(self, group: int, sizes: list[int], warmup: int, iterations: int) -> list[dict[str, Any]]:
        """Return time and wrong elements of each size."""
        place = Place(self.number, self.ranks, self.groups[group], "cpu")
        found = []
        for size in sizes:
            exchange = all_reduce(size // ELEMENT_BYTES, True, place)
            measured = measure(exchange, place, warmup, iterations, True)
            found.append({"time_s": measured.time_s, "wrong": measured.wrong})
        return found

    def train(self, group: int, **options: Any) -> dict[str, Any]:
        """Train a small model; see :func:`gpufabric.lab.training_worker.train`."""
        return train(Place(self.number, self.ranks, self.groups[group], "cpu"), **options)


def own_connections() -> set[tuple[str, str]]:
    """Return both ends of the TCP connections of this process."""
    own = set()
    for entry in Path("/proc/self/fd").iterdir():
        try:
            target = str(entry.readlink())
        except OSError:
            continue
        if target.startswith("socket:["):
            own.add(target[8:-1])
    found = set()
    for line in Path("/proc/self/net/tcp").read_text(encoding="ascii").splitlines()[1:]:
        fields = line.split()
        if fields[9] in own and fields[3] == _ESTABLISHED:
            found.add((fields[1], fields[2]))
    return found


def enter_network(name: str) -> None:
    """Move this process into a named network namespace.

    Raises
    ------
    OSError
        If the system refuses.
    """
    descriptor = os.open(f"/run/netns/{name}", os.O_RDONLY)
    try:
        if ctypes.CDLL(None, use_errno=True).setns(descriptor, _NEW_NETWORK):
            raise OSError(ctypes.get_errno(), f"setns to {name}")
    finally:
        os.close(descriptor)


def _serve(rank: Rank) -> None:
    deeds: dict[str, Callable[..., Any]] = {
        "connect": rank.connect,
        "all_reduce": rank.all_reduce,
        "train": rank.train,
    }
    number = 0
    while True:
        asked = rank.folder / f"ask-{number}.json"
        while not asked.exists():
            time.sleep(_POLL_S)
        question = json.loads(asked.read_text(encoding="utf-8"))
        answer = deeds[question.pop("do")](**question)
        part = rank.folder / f"part-{number}-{rank.number}"
        part.write_text(json.dumps(answer), encoding="utf-8")
        part.rename(rank.folder / f"answer-{number}-{rank.number}.json")
        number += 1


def main(folder: Path) -> int:
    """Fork the ranks that ``ranks.json`` names, and return 1 when the first of them ends: each waits to be stopped."""
    import torch

    torch.set_num_threads(1)
    places = json.loads((folder / "ranks.json").read_text(encoding="utf-8"))
    for number, place in enumerate(places):
        if os.fork() == 0:
            enter_network(place["network"])
            os.environ["GLOO_SOCKET_IFNAME"] = place["interface"]
            _serve(Rank(number, len(places), folder))
    os.wait()
    return 1


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
