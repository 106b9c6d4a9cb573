"""Lines of an NCCL log that stand for themselves: version, NICs, networks, settings, choices, calls, timings."""

from __future__ import annotations

import re
from collections.abc import Hashable
from typing import TypeVar

from gpufabric.errors import printable
from gpufabric.formats.nccl_communicators import Process
from gpufabric.formats.without_secrets import without_secrets
from gpufabric.records.nccl_log import CollectiveCall, LoggedNic, TuningChoice

_Key = TypeVar("_Key", bound=Hashable)
MAX_KEPT = 20_000
OPS = {
    "AllReduce": "all_reduce",
    "AllGather": "all_gather",
    "ReduceScatter": "reduce_scatter",
    "Broadcast": "broadcast",
    "Reduce": "reduce",
    "AlltoAll": "all_to_all",
    "AllToAll": "all_to_all",
    "SendRecv": "send_recv",
    "Send": "send_recv",
    "Recv": "send_recv",
    "Gather": "gather",
    "Scatter": "scatter",
}
#: ncclAlgoStr and ncclProtoStr of older versions print numbers (nccl.h and graph.h, read at 2.30.7).
_ALGORITHM_NUMBERS = ("tree", "ring", "collnet_direct", "collnet_chain", "nvls", "nvls_tree", "pat")
_PROTOCOL_NUMBERS = ("ll", "ll128", "simple")
_ALGORITHM_NAMES = {
    "collnetdirect": "collnet_direct",
    "collnetchain": "collnet_chain",
    "nvlstree": "nvls_tree",
}
_VERSION = re.compile(r"\b(N|R)CCL version\s*:?\s*(\d{1,3}(?:\.\d{1,3}){1,3}(?:[+-][\w.:+-]{1,60})?)")
_NETWORK = re.compile(r"^Using network (.{1,80}?)\s*$")
_USING = re.compile(r"^NET/(\w{1,20}) : Using (\[.*)$")
_NO_DEVICE = re.compile(r"^NET/IB : No device found")
_NIC = re.compile(
    r"\[(\d{1,4})\]([\w.-]{1,64})(?::(\d{1,4})(?=/))?(?::[^\s/<]{1,64})?(?:/(IB|RoCE|Socket|UET))?"
)
_SETTING = re.compile(
    r"\b((?:N|R)CCL_[A-Z0-9_]{1,60}) (?:set by environment to|environment variable to|set to) (.{0,300}?)\.?\s*$"
)
_CHOICE = re.compile(
    r"^\s*(\w{1,20}): (\d{1,19}) Bytes -> Algo (\w{1,20}) proto (\w{1,10})(?:.*channel\{Lo\.\.Hi\}=\{(\d{1,4})\.\.(\d{1,4})\})?"
)
_CALL = re.compile(
    r"^\s*(\w{1,20}): opCount \w{1,16} sendbuff \S{1,20} recvbuff \S{1,20} count (\d{1,19}) datatype (\w{1,12})"
    r"(?: op (\w{1,12}))?(?: root (\d{1,7}))?.{0,60}?\[nranks=(\d{1,7})\]"
)
_TIMINGS = re.compile(r"^Init timings\b.*?\btotal (\d{1,7}(?:\.\d{1,6})?)")


class LogFacts:
    """Takes such lines one after the other; equal ones are counted, not kept."""

    def __init__(self) -> None:
        self.library = ""
        self.version = ""
        self.networks: dict[str, None] = {}
        self.nics: dict[tuple[str, int, str], LoggedNic] = {}
        self.settings: dict[tuple[str, str], None] = {}
        self.init_s: float | None = None
        self.no_rdma_line = 0
        self._choices: dict[tuple[str, int, str, str, tuple[int, ...]], tuple[int, int]] = {}
        self._calls: dict[tuple[str, int, str, str, int, int], tuple[int, int]] = {}

    def take(self, text: str, who: Process, line: int) -> bool:
        """Take one line; False when it is none of these."""
        return (
            self.version_line(text, line)
            or self.setting(text, who, line)
            or self._network(text, who, line)
            or self._choice(text, line)
            or self._timing(text)
        )

    def version_line(self, text: str, line: int) -> bool:
        """Take a line that names the library's version."""
        found = _VERSION.search(text) if "CCL version" in text else None
        if found is not None and (not self.version or (found[1] == "R" and self.library == "NCCL")):
            self.library, self.version = f"{found[1]}CCL", found[2]
        return found is not None

    def setting(self, text: str, who: Process, line: int) -> bool:
        """Take a line about a setting; the value of a name that smells of a secret is removed."""
        found = _SETTING.search(text) if "CCL_" in text else None
        if found is None:
            return False
        value = without_secrets(f"{found[1]}={found[2].strip()}").partition("=")[2]
        if len(self.settings) < MAX_KEPT:
            self.settings[found[1], printable(value, 200)] = None
        return True

    def _network(self, text: str, who: Process, line: int) -> bool:
        network = _NETWORK.match(text)
        if network is not None:
            if len(self.networks) < MAX_KEPT:
                self.networks[printable(network[1], 80)] = None
            return True
        using = _USING.match(text)
        if using is None:
            lacking = _NO_DEVICE.match(text)
            if lacking is not None:
                self.no_rdma_line = self.no_rdma_line or line
            return lacking is not None
        for index, name, port, link in _NIC.findall(using[2])[:1024]:
            key = (who.host, int(index), using[1])
            if len(self.nics) < MAX_KEPT:
                kind = link or ("Socket" if using[1] == "Socket" else "")
                self.nics.setdefault(
                    key, LoggedNic(who.host, int(index), name, int(port) if port else -1, kind, line)
                )
        return True

    def _choice(self, text: str, line: int) -> bool:
        found = _CHOICE.match(text)
        if found is None:
            return False
        channels = (int(found[5]), int(found[6])) if found[5] else ()
        op = OPS.get(found[1], found[1].lower())
        key = (op, int(found[2]), _algorithm(found[3]), _protocol(found[4]), channels)
        _count(self._choices, key, line)
        return True

    def call(self, text: str, line: int) -> bool:
        """Take the line of a call of a collective."""
        found = _CALL.match(text)
        if found is None:
            return False
        op = OPS.get(found[1], found[1].lower())
        key = (op, int(found[2]), found[3], found[4] or "", int(found[5] or 0), int(found[6]))
        _count(self._calls, key, line)
        return True

    def _timing(self, text: str) -> bool:
        found = _TIMINGS.match(text)
        if found is not None:
            self.init_s = max(self.init_s or 0.0, float(found[1]))
        return found is not None

    def tuning_choices(self) -> tuple[TuningChoice, ...]:
        """Return what was chosen, in order of first line."""
        return tuple(
            TuningChoice(*key, count=times, line=line) for key, (line, times) in self._choices.items()
        )

    def collective_calls(self) -> tuple[CollectiveCall, ...]:
        """Return the calls, in order of first line."""
        return tuple(
            CollectiveCall(*key, times=times, line=line) for key, (line, times) in self._calls.items()
        )


def _count(counts: dict[_Key, tuple[int, int]], key: _Key, line: int) -> None:
    """Count an equal line, and keep where the first of them stands."""
    first, times = counts.get(key, (line, 0))
    if key in counts or len(counts) < MAX_KEPT:
        counts[key] = (first, times + 1)


def _algorithm(text: str) -> str:
    if text.isdigit():
        number = int(text)
        return _ALGORITHM_NUMBERS[number] if number < len(_ALGORITHM_NUMBERS) else text
    return _ALGORITHM_NAMES.get(text.lower(), text.lower())


def _protocol(text: str) -> str:
    if text.isdigit():
        number = int(text)
        return _PROTOCOL_NUMBERS[number] if number < len(_PROTOCOL_NUMBERS) else text
    return text.lower()
