"""A log of ``NCCL_DEBUG=INFO`` or ``WARN``, of NCCL 2.4 to 2.30 or RCCL → :class:`NcclLog`, streamed.

Ring order is taken from ring lines alone: connection lines hold ring and tree links together, as the maintainers say
(https://github.com/NVIDIA/nccl/issues/671, read 2026-11).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO

from gpufabric.errors import printable
from gpufabric.formats.clean_text import CleanText
from gpufabric.formats.log_lines import MAX_LINE_CHARS, LogBlock, LogFile
from gpufabric.formats.nccl_communicators import MAX_CONNECTIONS, Communicators, OpenCommunicator, Process
from gpufabric.formats.nccl_connection_way import counted_by_transport, way_of
from gpufabric.formats.nccl_line_shapes import LineShapes, kind_of_foreign
from gpufabric.formats.nccl_log_facts import LogFacts
from gpufabric.formats.nccl_system_tree import SystemTree
from gpufabric.formats.nccl_tuning_table import TuningTable
from gpufabric.formats.read_notes import ReadNotes
from gpufabric.formats.without_secrets import without_secrets
from gpufabric.records.nccl_log import (
    Communicator,
    Connection,
    Direction,
    LoggedWarning,
    NcclLog,
)
from gpufabric.units import counted

_KEPT_WARNINGS = 100
_KEPT_WRITERS = 1 << 16
_KEPT_WAYS = 1 << 12
_INFO = " NCCL INFO "
_PREFIX = re.compile(
    r"(?<![^\s:\[\]<>|])([^\s:\[\]<>|]{1,255}+):(\d{1,10}+):(\d{1,10}+) \[(-?\d{1,4})\] ?(?:([^\s:]{1,200}+:\d{1,6}+) )?"
    r"NCCL (INFO|WARN|TRACE|ABORT|CALL) ?"
)
_RING_WHOLE = re.compile(r"^(?:Channel|Ring) (\d{1,4})(?:/\d{1,4})? :((?: +\d{1,7})+)\s*$")
_RING_LOCAL = re.compile(r"^Ring (\d{1,4}) : (\d{1,7}) -> (\d{1,7}) -> (\d{1,7})(?=\s|$)")
_TREE_ITEM = re.compile(r"\[(\d{1,4})\] ([-\d/>]{5,80})")
_TREE_NEW = re.compile(r"^Tree (\d{1,4}) : (-?\d{1,7} -> \d{1,7} -> [-\d/]{1,40})")
_CONNECTION = re.compile(
    r"^(?:Channel|Ring) (\d{1,4})(?:/\d{1,4})? : (\d{1,7})(?:\[([0-9a-fA-F]{1,16})\])? -> (\d{1,7})(?:\[([0-9a-fA-F]{1,16})\])?"
    r"(?: \[(send|receive)\])? via (P2P|SHM|NET|COLLNET|Direct|NVLS)(?:/(.*))?$"
)
_COMM_SUFFIX = re.compile(
    r" comm (0x[0-9a-fA-F]{1,16})(?: nRanks (\d{1,7}))?(?: busId ([0-9a-fA-F]{1,16}))?\s*$"
)
_COMM = re.compile(
    r"\bcomm (0x[0-9a-fA-F]{1,16}) rank (\d{1,7}) n[rR]anks (\d{1,7})(?: cudaDev (\d{1,4}))?(?: nvmlDev \d{1,4})?"
    r"(?: busId ([0-9a-fA-F]{1,16}))?(?: commId (0x[0-9a-fA-F]{1,16}))?"
)
_NODES = re.compile(r"\bnNodes (\d{1,6}) localRanks (\d{1,5}) localRank (\d{1,5})(?: MNNVL (\d))?")
_CHANNELS = re.compile(r"(\d{1,5}) (coll|collnet|nvls|p2p) channels(?! per)")
_PXN = re.compile(r"use ring PXN (\d) GDR (\d)")
_AFFINITY = re.compile(r"^Setting affinity for GPU \d{1,4} to ([\w,-]{1,400})")


def read(source: str | Path | BinaryIO, name: str = "") -> NcclLog:
    """Read a log, in memory that does not grow with its length.

    Raises
    ------
    InputError
        When the file can't be opened or read. What is in it never raises.
    """
    log = LogFile(source)
    reader = NcclLogReader(name or log.name)
    for block in log.blocks():
        reader.take_block(block)
    return reader.finish(log.lines_read, log.stopped)


def read_part(text: CleanText) -> NcclLog:
    """Read the log in a part of a text; see :func:`read`."""
    reader = NcclLogReader(text.name)
    for line in text.lines:
        reader.take(line.number, line.text, line.number in text.cut_lines)
    return reader.finish(len(text.lines))


def _bus_id(text: str | None) -> str:
    # Newer versions write the CUDA device in the same brackets: at most three digits.
    return text if text is not None and len(text) > 3 else ""


class NcclLogReader:
    """Takes lines one after the other."""

    def __init__(self, name: str) -> None:
        self.notes = ReadNotes(printable(name, 300), "a log of NCCL")
        self.communicators = Communicators()
        self.facts = LogFacts()
        self.tuning = TuningTable()
        self.tree = SystemTree()
        self.warnings: list[LoggedWarning] = []
        self.warning_count = self.other = self.connections = self.nccl_lines = 0
        self.more_ways: Counter[str] = Counter()
        self.info_shapes, self.foreign_shapes = LineShapes(), LineShapes()
        self._writers: dict[str, Process] = {}
        self.pxn: bool | None = None
        self.gdr: bool | None = None
        self._steps: dict[str, tuple[Callable[[str, Process, int], bool], ...]] = {
            "Channel": (self._ring_whole, self._connection),
            "Ring": (self._ring_local, self._ring_whole, self._connection),
            "Trees": (self._trees,),
            "Tree": (self._tree,),
            "NVLS": (self._nvls,),
            "Connected": (self._connected,),
            "Setting": (self._affinity, self.facts.setting),
        }

    def take_block(self, block: LogBlock) -> None:
        """Take lines one after the other."""
        for number, text in enumerate(block.texts, block.first):
            if text:
                self.take(number, text, number in block.cut)

    def take(self, number: int, text: str, cut: bool) -> None:
        """Take one line of the file: one line of NCCL, several that were joined, or a foreign one."""
        if cut:
            self.notes.cut(
                number, f"a line is longer than {MAX_LINE_CHARS:,} characters; only its start was read"
            )
        head, is_info, rest = text.partition(_INFO)
        if is_info and "NCCL " not in rest and (who := self._writers.get(head) or self._writer(head)):
            self.nccl_lines += 1
            self._told(rest, who, number)
            return
        found = list(_PREFIX.finditer(text)) if "NCCL " in text else []
        for i, prefix in enumerate(found):
            end = found[i + 1].start() if i + 1 < len(found) else len(text)
            self._line(prefix, text[prefix.end() : end], number)
        if not found:
            self._foreign(text, number)

    def _writer(self, head: str) -> Process | None:
        """Return who wrote what stands behind *head*; None when several lines were joined, or it names nobody."""
        found = list(_PREFIX.finditer(head + _INFO))
        if len(found) != 1:
            return None
        if len(self._writers) >= _KEPT_WRITERS:
            self._writers.clear()
        return self._writers.setdefault(head, _process(found[0]))

    def _foreign(self, text: str, number: int) -> None:
        if self.facts.version_line(text, number):
            return
        shape = self.foreign_shapes.shape(text)
        kind = self.foreign_shapes.get(shape)
        if kind is None:
            kind = kind_of_foreign(text)
            self.foreign_shapes.keep(shape, kind)
        if kind == "missed":
            self.notes.missed(number, len(text))
        else:
            self.other += kind == "other"

    def _line(self, prefix: re.Match[str], text: str, number: int) -> None:
        self.nccl_lines += 1
        who = _process(prefix)
        if prefix[6] == "WARN":
            self.warning_count += 1
            if len(self.warnings) < _KEPT_WARNINGS:
                shown = printable(without_secrets(text.strip()[:600]), 300)
                self.warnings.append(LoggedWarning(number, who.host, printable(prefix[5] or "", 120), shown))
            return
        self._told(text, who, number)

    def _told(self, text: str, who: Process, number: int) -> None:
        """Take what a process told, without what stands in front of it."""
        way = text.rfind(" via ") if text.startswith(("Channel", "Ring")) else -1
        if way >= 0 and self.connections >= MAX_CONNECTIONS and len(self.more_ways) < _KEPT_WAYS:
            self.more_ways[text[way + 5 :].partition(" comm ")[0]] += 1
            return
        if ": opCount " in text and self.facts.call(text, number):
            return
        shape = self.info_shapes.shape(text)
        if self.info_shapes.get(shape) == "other":
            self.other += 1
        elif text.strip() and not self._is_known(text, who, number):
            self.other += 1
            # A row of a tuning table is one only below its header.
            if "|" not in text:
                self.info_shapes.keep(shape, "other")

    def _is_known(self, text: str, who: Process, number: int) -> bool:
        first = text.split(None, 1)[0]
        return (
            any(step(text.rstrip(), who, number) for step in self._steps.get(first, ()))
            or self._communicator(text, who, number)
            or self._others(text, who, number)
        )

    def _others(self, text: str, who: Process, number: int) -> bool:
        return (
            self.facts.take(text, who, number)
            or self._channel_counts(text, who)
            or self.tuning.take(text, number)
            or self.tree.take(text, number, (who.host, who.pid, who.device))
        )

    def _ring_whole(self, text: str, who: Process, number: int) -> bool:
        found = _RING_WHOLE.match(text)
        if found is None:
            return False
        one = self.communicators.get(who)
        ranks = [int(word) for word in found[2].split()]
        # NCCL's buffer holds some twenty ranks; what fits no more is cut, perhaps within a number.
        size = one.size if one.size > 0 else len(ranks)
        cut = len(set(ranks)) < len(ranks) or len(ranks) < size
        self.communicators.ring(one, int(found[1]), ranks[:-1] if cut else ranks, cut, number)
        return True

    def _ring_local(self, text: str, who: Process, number: int) -> bool:
        found = _RING_LOCAL.match(text)
        if found is None:
            return False
        one = self._with_suffix(text, who, int(found[3]), number)
        self.communicators.place(one, int(found[3]), who, number)
        self.communicators.neighbours(
            one, int(found[1]), (int(found[2]), int(found[3]), int(found[4])), number
        )
        return True

    def _with_suffix(self, text: str, who: Process, rank: int, number: int) -> OpenCommunicator:
        """Return the communicator of a line; RCCL names it, its size and the rank's bus id at the end."""
        suffix = _COMM_SUFFIX.search(text)
        if suffix is None:
            return self.communicators.get(who)
        one = self.communicators.get(who, suffix[1])
        if suffix[2]:
            one.size = int(suffix[2])
        if suffix[3]:
            known = self.communicators.place(one, rank, who, number)
            known.bus_id = known.bus_id or suffix[3]
        return one

    def _trees(self, text: str, who: Process, number: int) -> bool:
        items = _TREE_ITEM.findall(text)
        own = re.search(r">(\d{1,7})-", text)
        one = self._with_suffix(text, who, int(own[1]), number) if own else self.communicators.get(who)
        taken = [self.communicators.tree(one, int(item[0]), item[1], who, number) for item in items]
        return any(taken)

    def _tree(self, text: str, who: Process, number: int) -> bool:
        found = _TREE_NEW.match(text)
        one = self.communicators.get(who)
        return found is not None and self.communicators.tree(one, int(found[1]), found[2], who, number)

    def _nvls(self, text: str, who: Process, number: int) -> bool:
        found = re.match(r"^NVLS Head\s+(\d{1,4})\s*:", text)
        if found is not None:
            one = self.communicators.get(who)
            one.nvls_heads = max(one.nvls_heads, int(found[1]) + 1)
        return found is not None or text.startswith("NVLS Trees")

    def _connection(self, text: str, who: Process, number: int) -> bool:
        suffix = _COMM_SUFFIX.search(text)
        found = _CONNECTION.match(text[: suffix.start()] if suffix else text)
        if found is None:
            return False
        a, b = int(found[2]), int(found[4])
        direction: Direction = "send" if found[6] == "send" else "receive" if found[6] == "receive" else ""
        one = self._with_suffix(text, who, b if direction == "receive" else a, number)
        self.communicators.place(one, b if direction == "receive" else a, who, number)
        for rank, bus_id in ((a, _bus_id(found[3])), (b, _bus_id(found[5]))):
            known = one.rank(rank, number)
            known.bus_id = known.bus_id or bus_id
        if self.connections >= MAX_CONNECTIONS:
            return True
        self.connections += 1
        network, device, detail = way_of(found[7], found[8] or "")
        one.connections.append(
            Connection(int(found[1]), a, b, direction, found[7], network, device, detail, number)
        )
        return True

    def _connected(self, text: str, who: Process, number: int) -> bool:
        found = _PXN.search(text)
        if found is not None:
            self.pxn, self.gdr = found[1] != "0", found[2] != "0"
        return True

    def _affinity(self, text: str, who: Process, number: int) -> bool:
        found = _AFFINITY.match(text)
        if found is not None:
            self.communicators.affinity(who, found[1])
        return found is not None

    def _channel_counts(self, text: str, who: Process) -> bool:
        found = _CHANNELS.findall(text) if " channels" in text else []
        if found:
            one = self.communicators.get(who)
            one.channels.update({kind: int(count) for count, kind in found})
        return bool(found)

    def _communicator(self, text: str, who: Process, number: int) -> bool:
        found = _COMM.search(text) if " rank " in text else None
        if found is None:
            return False
        one = self.communicators.set_up(who, found[1], int(found[3]), found[6] or "")
        rank = self.communicators.place(one, int(found[2]), who, number)
        if found[4]:
            rank.device = int(found[4])
        rank.bus_id = found[5] or rank.bus_id
        nodes = _NODES.search(text)
        if nodes is not None:
            one.nodes, rank.local_rank = int(nodes[1]), int(nodes[3])
            one.mnnvl = nodes[4] != "0" if nodes[4] else one.mnnvl
        return True

    def finish(self, lines: int, stopped: str = "") -> NcclLog:
        """Return what was read; *stopped* says why it was not the whole log."""
        if stopped:
            self.notes.cut(lines, f"the log was not read to its end: {stopped}")
        communicators = self.communicators.finish()
        self._judge(communicators, lines)
        facts = self.facts
        return NcclLog(
            library=facts.library,
            version=facts.version,
            communicators=communicators,
            nics=tuple(facts.nics.values()),
            networks=tuple(facts.networks),
            settings=tuple(facts.settings),
            warnings=tuple(self.warnings),
            warning_count=self.warning_count,
            tuning=tuple(self.tuning.cells),
            choices=facts.tuning_choices(),
            calls=facts.collective_calls(),
            graphs=tuple(self.tree.graphs),
            system=tuple(self.tree.nodes),
            init_s=facts.init_s,
            pxn=self.pxn,
            gdr=self.gdr,
            lines_other=self.other,
            more_connections=counted_by_transport(self.more_ways),
            file=self.notes.name,
            findings=self.notes.finish(),
            lines_read=lines,
            lines_not_understood=self.notes.missed_lines,
        )

    def _judge(self, communicators: tuple[Communicator, ...], lines: int) -> None:
        notes = self.notes
        if not self.nccl_lines:
            notes.cut(
                max(lines, 1), "no line of NCCL was found", fix="run with NCCL_DEBUG=INFO and give the log"
            )
        for line, message in _ring_gaps(communicators):
            notes.add(
                "nccl-ring-unknown",
                "info",
                line,
                message,
                fix="give the log of all ranks, with NCCL_DEBUG=INFO and NCCL_DEBUG_SUBSYS=INIT,GRAPH",
            )
        if self.tuning.cut:
            notes.cut(lines, f"{counted(self.tuning.cut, 'row')} of a tuning table is cut")
        for warning in self.warnings[:5]:
            notes.add("nccl-warning", "warning", warning.line, f"NCCL warned: {warning.text}")
        if self.warning_count > 5:
            notes.add(
                "nccl-warning", "warning", lines, f"NCCL printed {counted(self.warning_count, 'warning')}"
            )
        if self.facts.no_rdma_line:
            text = "NCCL found no RDMA device: traffic between servers goes over sockets"
            notes.add(
                "nccl-warning",
                "info",
                self.facts.no_rdma_line,
                text,
                fix="ibstat shows the adapters and their ports",
            )
        if self.more_ways:
            beyond = counted(self.more_ways.total(), "connection line")
            text = f"{beyond} beyond the first {MAX_CONNECTIONS:,} were counted by transport only"
            notes.add("input-lines", "info", lines, text)


def _process(prefix: re.Match[str]) -> Process:
    return Process(printable(prefix[1], 255), int(prefix[2]), int(prefix[3]), int(prefix[4]))


def _ring_gaps(communicators: tuple[Communicator, ...]) -> Iterator[tuple[int, str]]:
    for one in communicators:
        if one.connections and not one.rings:
            yield (
                one.connections[0].line,
                "no ring line is in the log; connection lines mix ring and tree links, so ring order stays unknown",
            )
        broken = [ring for ring in one.rings if not ring.complete]
        if broken:
            yield broken[0].line, f"the log holds only a part of {counted(len(broken), 'ring')}"
