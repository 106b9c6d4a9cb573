"""A log of a job → the host and the GPU of each rank.

Read are the lines ``# Rank  0 Group  0 Pid  7 on host device  0 [0000:1a:00] …`` of nccl-tests (src/common.cu) and those of
``NCCL_DEBUG=INFO``: ``host:pid:tid [gpu] NCCL INFO … rank 3 nranks 16 cudaDev 3 nvmlDev 3 …`` (NCCL's src/init.cc).
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field, replace
from pathlib import Path

from gpufabric.errors import InputError, printable
from gpufabric.formats.log_lines import LogFile
from gpufabric.records.rank_places import MAX_HOST_RANKS, MAX_RANKS, RankPlaces

_HOST = r"[A-Za-z0-9][A-Za-z0-9._-]{0,254}"
_DEVICE = re.compile(
    rf"\bRank\s++(\d{{1,8}})\s++(?:Group\s++\d{{1,7}}\s++)?Pid\s++\d{{1,19}}\s++on\s++({_HOST})\s++device\s++(\d{{1,4}})"
    r"(?:\s*+\[[0-9a-fA-Fx:.]{1,32}\]\s*+(\S.{0,99}))?"
)
_INFO = re.compile(rf"(?<![\w.-])({_HOST}):\d{{1,10}}:\d{{1,10}}\s++\[(\d{{1,4}})\]\s++NCCL\s++INFO\s++(.*)")
_COMM = re.compile(
    r"\brank\s++(\d{1,8})\s++nranks\s++(\d{1,8})\s++cudaDev\s++(\d{1,4})(?:\s++nvmlDev\s++(\d{1,4}))?"
)
_Seat = tuple[str, int]


@dataclass(slots=True)
class _Seats:
    """Rank → host and GPU; the first mention stands."""

    of_rank: dict[int, _Seat] = field(default_factory=dict)
    gpu_name: str = ""

    def add(self, rank: int, host: str, gpu: int) -> None:
        if rank < MAX_RANKS and gpu < MAX_HOST_RANKS:
            self.of_rank.setdefault(rank, (host, gpu))


def read(path: Path | str) -> RankPlaces:
    """Return where each rank of a log ran; of several communicators the largest one counts.

    A log that tells the GPUs of hosts but no ranks gives the ranks in the order in which these were first seen.

    Raises
    ------
    InputError
        If the file can't be read, tells of no rank, or leaves some out.
    """
    log = LogFile(path)
    listed = _Seats()
    comms: dict[int, _Seats] = {}
    seen: dict[_Seat, None] = {}
    for line in log.lines():
        if "Rank" in line.text and (device := _DEVICE.search(line.text)):
            listed.add(int(device[1]), device[2], int(device[3]))
            listed.gpu_name = listed.gpu_name or printable((device[4] or "").strip())
        elif "NCCL" in line.text and (info := _INFO.search(line.text)):
            if len(seen) < MAX_RANKS:
                seen.setdefault((info[1], int(info[2])))
            if comm := _COMM.search(info[3]):
                seats = comms.setdefault(int(comm[2]), _Seats())
                seats.add(int(comm[1]), info[1], int(comm[4] or comm[3]))
    where, source = printable(log.name), f"log {printable(Path(path).name)}"
    if listed.of_rank:
        return replace(_places(source, listed.of_rank, where), gpu_name=listed.gpu_name)
    if comms:
        return _places(source, comms[max(comms)].of_rank, where)
    if seen:
        return _places(source, dict(enumerate(seen)), where)
    raise InputError(
        f"{where}: tells of no rank; allowed are logs with the lines '# Rank … on … device …' of nccl-tests or those of"
        " NCCL_DEBUG=INFO; choose another order"
    )


def _places(source: str, of_rank: dict[int, _Seat], where: str) -> RankPlaces:
    missing = next((rank for rank in range(len(of_rank)) if rank not in of_rank), None)
    if missing is not None:
        raise InputError(
            f"{where}: tells of {len(of_rank):,} ranks up to {max(of_rank):,}, and not of rank {missing:,};"
            " give a log with all of them, or a hostfile"
        )
    seats = [of_rank[rank] for rank in range(len(of_rank))]
    # A process that sees one GPU calls it 0 whatever it is, so numbers that clash say nothing.
    clashing = {host for (host, _), count in Counter(seats).items() if count > 1}
    return RankPlaces(
        source,
        tuple(host for host, _ in seats),
        (1,) * len(seats),
        tuple(-1 if host in clashing else gpu for host, gpu in seats),
    )
