"""NCCL's tuning table in a log, with one header row (old) or two (new) → :class:`TuningCell`."""

from __future__ import annotations

import math
import re

from gpufabric.records.nccl_log import TuningCell
from gpufabric.units import from_gigabytes, from_microseconds

MAX_CELLS = 10_000
_ALGORITHMS = (
    "Tree",
    "Ring",
    "CollNetDirect",
    "CollNetChain",
    "CollNet",
    "NVLSTree",
    "NVLS",
    "PAT",
    "Direct",
)
_PROTOCOLS = ("LL128", "LL", "Simple")
_PAIR = re.compile(r"(-?\d{1,9}(?:\.\d{1,9})?)\s*/\s*(-?\d{1,9}(?:\.\d{1,9})?)")
_OPS = {
    "Broadcast": "broadcast",
    "Reduce": "reduce",
    "AllGather": "all_gather",
    "ReduceScatter": "reduce_scatter",
    "AllReduce": "all_reduce",
}
_ROW = re.compile(rf"^\s*({'|'.join(_OPS)})\s*\|")
_OLD_NAME = re.compile(rf"({'|'.join(_ALGORITHMS)})\s*/\s*({'|'.join(_PROTOCOLS)})\b")


class TuningTable:
    """Takes the rows of tables one after the other."""

    def __init__(self) -> None:
        self.cells: list[TuningCell] = []
        self.cut = 0
        self._algorithms: list[str] = []
        self._columns: list[tuple[str, str]] = []
        self._threads: list[int] = []

    def take(self, text: str, line: int) -> bool:
        """Take one row; False when it is none of a tuning table."""
        first = text.split(None, 1)[0] if text.strip() else ""
        if first == "Algorithm":
            self._threads = []
            self._algorithms = [cell.strip() for cell in text.split("|")[1:] if cell.strip()][:64]
            return True
        if first == "Protocol" and "|" in text:
            protocols = [cell.strip() for cell in text.split("|")[1:] if cell.strip()][:256]
            each = max(len(protocols) // max(len(self._algorithms), 1), 1)
            self._columns = [
                (algorithm, protocol)
                for i, protocol in enumerate(protocols)
                if i // each < len(self._algorithms)
                for algorithm in [self._algorithms[i // each]]
            ]
            return True
        if first == "Latency/AlgBw":
            self._columns = _OLD_NAME.findall(text)[:256]
            self._threads = []
            return True
        if text.lstrip().startswith("Max NThreads"):
            self._threads = [int(word) for word in re.findall(r"\|\s*(\d{1,6})(?=\s*\|)", text)]
            return bool(self._columns)
        row = _ROW.match(text) if self._columns else None
        if row is None or _PAIR.search(text) is None:
            return False
        self._row(_OPS[row[1]], text[row.end() :], line)
        return True

    def _row(self, op: str, text: str, line: int) -> None:
        pairs = _PAIR.findall(text)
        # The last number of a cut line may lack its last digits.
        if pairs and not text.rstrip().endswith("|"):
            pairs.pop()
        self.cut += len(pairs) < len(self._columns)
        for i, (algorithm, protocol) in enumerate(self._columns):
            if len(self.cells) >= MAX_CELLS:
                return
            latency, bandwidth = (
                (float(value) for value in pairs[i]) if i < len(pairs) else (math.nan, math.nan)
            )
            threads = self._threads[i] if i < len(self._threads) else -1
            rate = from_gigabytes(bandwidth)
            self.cells.append(
                TuningCell(op, algorithm, protocol, from_microseconds(latency), rate, threads, line)
            )
