"""Files of any kind → those about the wiring, those with counters of links, those of a scheduler, and logs of tests."""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, cast

from gpufabric.formats.recognise_counters import read_counters
from gpufabric.formats.recognise_fabric import read_fabric
from gpufabric.formats.slurm_topology import is_slurm_topology, read_slurm_topology
from gpufabric.records.found_fabric import FoundFabric
from gpufabric.records.link_counters import LinkCounters
from gpufabric.records.scheduler_topology import SchedulerTopology

_KEPT_IN_MEMORY = 1 << 24


@dataclass(frozen=True, slots=True)
class SortedFiles:
    """What was read; logs are yet to be read by whom they concern."""

    fabrics: tuple[FoundFabric, ...]
    counters: tuple[LinkCounters, ...]
    logs: tuple[str | Path | BinaryIO, ...]
    schedulers: tuple[SchedulerTopology, ...] = ()


@contextmanager
def sorted_files(sources: Sequence[str], columns: Mapping[str, str] | None = None) -> Iterator[SortedFiles]:
    """Read files about a fabric and counters, and hand logs on; standard input can be rewound inside the block.

    Parameters
    ----------
    sources
        Paths, or ``-`` once for standard input.
    columns
        Titles of the columns of cable lists by field, where their words do not tell.

    Raises
    ------
    InputError
        When a file can't be opened or read.
    """
    with tempfile.SpooledTemporaryFile(max_size=_KEPT_IN_MEMORY) as kept:
        fabrics: list[FoundFabric] = []
        counters: list[LinkCounters] = []
        logs: list[str | Path | BinaryIO] = []
        schedulers: list[SchedulerTopology] = []
        for source in sources:
            one: str | BinaryIO = source
            name = source
            if source == "-":
                shutil.copyfileobj(sys.stdin.buffer, kept)
                kept.seek(0)
                one, name = cast(BinaryIO, kept), "standard input"
            fabric = read_fabric(one, name, columns)
            _rewind(one)
            counted = read_counters(one, name) if fabric is None else None
            _rewind(one)
            if fabric is not None:
                fabrics.append(fabric)
            elif counted is not None:
                counters.append(counted)
            elif is_slurm_topology(one):
                _rewind(one)
                schedulers.append(read_slurm_topology(one, name))
            else:
                _rewind(one)
                logs.append(one)
        yield SortedFiles(tuple(fabrics), tuple(counters), tuple(logs), tuple(schedulers))


def _rewind(source: str | BinaryIO) -> None:
    if not isinstance(source, str):
        source.seek(0)
