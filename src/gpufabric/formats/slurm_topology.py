"""Slurm's ``topology.conf`` and ``topology.yaml`` → :class:`SchedulerTopology`.

Keys and forms are those of the manual pages topology.conf(5) and topology.yaml(5) (https://slurm.schedmd.com/topology.conf.html,
read 2026-12-01; https://slurm.schedmd.com/topology.yaml.html).
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from pathlib import Path
from typing import BinaryIO

from gpufabric.errors import InputError, printable
from gpufabric.formats.clean_text import CleanText, read_clean
from gpufabric.formats.log_lines import LogFile
from gpufabric.formats.slurm_nodelist import expand
from gpufabric.formats.yaml_nodes import Node, parse_nodes
from gpufabric.records.findings import Finding, Severity
from gpufabric.records.scheduler_topology import SchedulerBlock, SchedulerSwitch, SchedulerTopology

_PAIR = re.compile(r"([A-Za-z]{1,32})\s*=\s*(\S+)")
_FIRST = re.compile(
    r"\s*(?:SwitchName|BlockName|RingName|BlockSizes)\s*=\s*\S|- topology:\s*\S|- cluster_default:\s",
    re.IGNORECASE,
)
_HEAD_LINES = 400
_SHOWN = 20
_MAX_HOSTS = 1 << 20
_KINDS = {"switchname": "switch", "blockname": "block", "ringname": "block", "blocksizes": "sizes"}


def is_slurm_topology(source: str | Path | BinaryIO) -> bool:
    """Say whether the first line of a file that is no comment belongs to a topology file of Slurm.

    Raises
    ------
    InputError
        When the file can't be opened or read.
    """
    for line in itertools.islice(LogFile(source).lines(), _HEAD_LINES):
        text = line.text.split("#", 1)[0].rstrip()
        if text and text != "---":
            return _FIRST.match(text) is not None
    return False


def read_slurm_topology(source: str | Path | BinaryIO, name: str = "") -> SchedulerTopology:
    """Read a topology file of Slurm in either form.

    Parameters
    ----------
    source
        Path of a plain or gzip file, ``-`` for standard input, or an open binary stream.
    name
        What findings call the file; default: the path.

    Returns
    -------
    SchedulerTopology
        Host lists are written out, at most 1,048,576 names. Names that dangle, stand twice or have two parents are findings.

    Raises
    ------
    InputError
        When the file can't be opened or read. What is in it never raises.
    """
    return read_part(read_clean(source, name))


def read_part(text: CleanText) -> SchedulerTopology:
    """Read the lines of a topology file; what is in them never raises."""
    reader = _Reader(text)
    first = next((line.text.strip() for line in text.lines if line.text.strip()[:1] not in ("", "#")), "")
    if re.match(r"-(?:\s|$)|---", first):
        reader.read_yaml()
    else:
        reader.read_conf()
    return reader.finish()


class _Reader:
    """Collects switches and blocks, and what is odd about them."""

    def __init__(self, text: CleanText) -> None:
        self._text = text
        self._switches: list[SchedulerSwitch] = []
        self._blocks: list[SchedulerBlock] = []
        self._sizes: list[int] = []
        self._findings: list[Finding] = []
        self._missed = self._hidden = 0
        self._room = _MAX_HOSTS

    def read_conf(self) -> None:
        """Read ``Key=Value`` lines; a backslash at the end continues a line."""
        held, start = "", 0
        for line in self._text.lines:
            content = line.text.split("#", 1)[0].strip()
            start = start if held else line.number
            joined = f"{held}{content}"
            held = ""
            if content.endswith("\\"):
                held = joined[:-1]
            elif joined.strip() and not self._entry(joined.strip(), start):
                self._miss(start)

    def read_yaml(self) -> None:
        """Read the list of topologies of the YAML form."""
        try:
            # The list of the file becomes a value on the line of its start mark, or on one before it.
            texts = ["" if line.text.strip() == "---" else line.text for line in self._text.lines]
            root = parse_nodes("\n".join(["topologies:", *texts]), self._text.name)
        except InputError as error:
            self._note("found-lines", "error", 1, f"is no YAML: {printable(str(error), 300)}")
            self._missed += self._text.lines_read
            return
        for entry in _items(root.get("topologies")):
            topology = _text(entry.get("topology"))
            for node in _items(entry.get("tree", "switches")):
                line = node.line - 1
                children, nodes = (self._hosts(_text(node.get(key)), line) for key in ("children", "nodes"))
                self._switches.append(
                    SchedulerSwitch(_name(node.get("switch")), line, children, nodes, topology)
                )
            for node in _items(entry.get("block", "blocks")):
                line = node.line - 1
                hosts = self._hosts(_text(node.get("nodes")), line)
                self._blocks.append(SchedulerBlock(_name(node.get("block")), line, hosts, topology))
            sizes = (_size(_text(node)) for node in _items(entry.get("block", "block_sizes")))
            self._sizes += [size for size in sizes if size]

    def finish(self) -> SchedulerTopology:
        """Check the whole and return it."""
        self._check_names()
        self._check_parents()
        self._check_sizes()
        last = max(self._text.lines_read, 1)
        if not (self._switches or self._blocks):
            self._note(
                "scheduler-topology",
                "error",
                last,
                "no switch or block was found",
                "give topology.conf or topology.yaml",
            )
        if self._text.stopped:
            self._note("found-file-cut", "warning", last, f"the file ends early: {self._text.stopped}")
        if self._hidden:
            self._findings.append(
                Finding(
                    "found-lines",
                    "info",
                    f"{self._text.name}:{last}",
                    f"{self._hidden} more findings on this file",
                )
            )
        return SchedulerTopology(
            self._text.name,
            tuple(self._switches),
            tuple(self._blocks),
            tuple(self._sizes),
            tuple(self._findings),
            self._text.lines_read,
            self._missed,
        )

    def _note(self, rule: str, severity: Severity, line: int, message: str, fix: str = "") -> None:
        if len(self._findings) >= _SHOWN:
            self._hidden += 1
        else:
            self._findings.append(Finding(rule, severity, f"{self._text.name}:{line}", message, fix=fix))

    def _miss(self, line: int) -> None:
        self._missed += 1
        self._note("found-lines", "info", line, "a line is not part of a topology of Slurm")

    def _entry(self, text: str, number: int) -> bool:
        pairs = {key.lower(): value for key, value in _PAIR.findall(text[: 1 << 16])}
        kind = next((_KINDS[key] for key in pairs if key in _KINDS), "")
        if not kind or _PAIR.sub("", text).strip():
            return False
        if kind == "sizes":
            sizes = [_size(item) for item in pairs["blocksizes"].split(",")]
            self._sizes += [size for size in sizes if size]
            return all(sizes)
        nodes = self._hosts(pairs.get("nodes", ""), number)
        if kind == "block":
            name = printable(pairs.get("blockname", pairs.get("ringname", "")), 128)
            self._blocks.append(SchedulerBlock(name, number, nodes))
        else:
            below = self._hosts(pairs.get("switches", ""), number)
            self._switches.append(SchedulerSwitch(printable(pairs["switchname"], 128), number, below, nodes))
        return True

    def _hosts(self, text: str, line: int) -> tuple[str, ...]:
        if not text:
            return ()
        where = f"{self._text.name}:{line}"
        try:
            names = expand(text, where) if self._room else []
        except InputError as error:
            self._missed += 1
            self._note("found-lines", "warning", line, printable(str(error).removeprefix(f"{where}: "), 300))
            return ()
        if not 0 < len(names) <= self._room:
            self._room = 0
            self._missed += 1
            self._note(
                "found-lines", "warning", line, f"the lists of this file name more than {_MAX_HOSTS:,} hosts"
            )
            return ()
        self._room -= len(names)
        return tuple(printable(name, 255) for name in names)

    def _check_names(self) -> None:
        named = [(item.topology, item.name, item.line) for item in self._switches]
        named += [(item.topology, item.name, item.line) for item in self._blocks]
        times = Counter((topology, name.lower()) for topology, name, _ in named)
        for topology, name, line in named:
            if times.pop((topology, name.lower()), 1) > 1:
                self._note(
                    "scheduler-topology",
                    "error",
                    line,
                    f"{name} is described twice",
                    "give each a name of its own",
                )

    def _check_parents(self) -> None:
        for topology in dict.fromkeys(switch.topology for switch in self._switches):
            switches = [switch for switch in self._switches if switch.topology == topology]
            known = {switch.name.lower() for switch in switches}
            parents = Counter(
                child.lower() for switch in switches for child in dict.fromkeys(switch.switches)
            )
            homes = Counter(node.lower() for switch in switches for node in dict.fromkeys(switch.nodes))
            for switch in switches:
                lost = next((child for child in switch.switches if child.lower() not in known), None)
                if lost is not None:
                    self._note(
                        "scheduler-topology",
                        "error",
                        switch.line,
                        f"{switch.name} is above {lost}, which is not described",
                    )
                twice = next((node for node in switch.nodes if homes[node.lower()] > 1), None)
                if twice is not None:
                    self._note(
                        "scheduler-topology", "error", switch.line, f"node {twice} is below two switches"
                    )
            roots = [switch for switch in switches if not parents[switch.name.lower()]]
            if len(roots) > 1 and any(switch.switches for switch in switches):
                names = ", ".join(switch.name for switch in roots[:4])
                text = f"the tree has {len(roots)} roots ({names}{', …' if len(roots) > 4 else ''}): no job can span them"
                self._note(
                    "scheduler-topology", "warning", roots[1].line, text, "describe the switch above them"
                )

    def _check_sizes(self) -> None:
        if not self._sizes or not self._blocks:
            return
        least = min(self._sizes)
        for block in self._blocks:
            if len(block.nodes) < least:
                text = f"block {block.name} has {len(block.nodes)} nodes, fewer than the block size {least}"
                self._note(
                    "scheduler-topology",
                    "warning",
                    block.line,
                    text,
                    "make the block size that of the smallest domain",
                )
        odd = next(
            (size for size in self._sizes if size % least or (size // least) & (size // least - 1)), None
        )
        if odd is not None:
            text = f"block size {odd} is not {least} times a power of two"
            self._note("scheduler-topology", "error", self._blocks[-1].line, text, "correct BlockSizes")


def _items(node: Node | None) -> list[Node]:
    return node.value if node is not None and isinstance(node.value, list) else []


def _text(node: Node | None) -> str:
    return str(node.value) if node is not None and isinstance(node.value, str | int) else ""


def _name(node: Node | None) -> str:
    return printable(_text(node), 128)


def _size(text: str) -> int:
    return int(text) if re.fullmatch(r"[1-9]\d{0,6}", text.strip()) else 0
