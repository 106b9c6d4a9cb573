"""A hostfile of Open MPI (``host slots=8``), MPICH (``host:8``) or plain names → the hosts in the order of the ranks.

Open MPI: "Scheduling processes across hosts", https://docs.open-mpi.org/en/v5.0.8/launching-apps/scheduling.html; MPICH:
README of its process manager Hydra, src/pm/hydra/README of mpich2-1.1; both read 2026-11-30. Both fill host after host.
"""

from __future__ import annotations

import re
from pathlib import Path

from gpufabric.errors import InputError, printable
from gpufabric.formats.log_lines import LogFile
from gpufabric.records.cluster_spec import MAX_SERVERS
from gpufabric.records.rank_places import MAX_HOST_RANKS, RankPlaces

_LINE = re.compile(r"(?:[A-Za-z0-9._-]{1,64}@)?([A-Za-z0-9][A-Za-z0-9._-]{0,254})(?::(\d{1,9}))?(?:\s+(.*))?")
_SLOTS = re.compile(r"(?:^|\s)slots\s*=\s*(\S+)")
_OTHER = re.compile(r"(?:^|\s)(?:(?:max[_-])?slots\s*=\s*\S+|[A-Za-z][A-Za-z0-9_-]*=\S+)")
_ADVICE = "write host slots=8 (Open MPI), host:8 (MPICH) or host"


def read(path: Path | str) -> RankPlaces:
    """Return the hosts of a hostfile; one without a number of slots has a rank for each of its GPUs.

    Raises
    ------
    InputError
        If the file can't be read, a line can't be understood, or there is no host or more than a million of them.
    """
    log = LogFile(path)
    where = printable(log.name)
    hosts: list[str] = []
    ranks: list[int] = []
    for line in log.lines():
        text = line.text.partition("#")[0].strip()
        if not text:
            continue
        found = None if line.cut else _LINE.fullmatch(text)
        if found is None or _OTHER.sub("", found.group(3) or "").strip():
            raise InputError(
                f'{where}:{line.number}: "{printable(text)}" is no line of a hostfile; {_ADVICE}'
            )
        if len(hosts) == MAX_SERVERS:
            raise InputError(
                f"{where}:{line.number}: more than {MAX_SERVERS:,} hosts; use a shorter hostfile"
            )
        slots = _SLOTS.search(found.group(3) or "")
        hosts.append(found.group(1))
        ranks.append(_slots(slots.group(1) if slots else found.group(2), f"{where}:{line.number}"))
    if not hosts:
        raise InputError(f"{where}: names no host; {_ADVICE}")
    return RankPlaces(
        f"hostfile {printable(Path(path).name)}", tuple(hosts), tuple(ranks), (-1,) * len(hosts)
    )


def _slots(text: str | None, where: str) -> int:
    if text is None:
        return 0
    if not (text.isascii() and text.isdigit() and len(text) < 10 and 1 <= int(text) <= MAX_HOST_RANKS):
        raise InputError(
            f'{where}: slots "{printable(text)}" is out of range; allowed is 1 to {MAX_HOST_RANKS:,}; {_ADVICE}'
        )
    return int(text)
