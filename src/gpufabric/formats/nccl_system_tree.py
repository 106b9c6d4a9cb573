"""The system tree and the searched graphs that NCCL prints with ``NCCL_DEBUG_SUBSYS=GRAPH`` → records."""

from __future__ import annotations

import re
from dataclasses import replace

from gpufabric.formats.nccl_graph_xml import PATTERNS
from gpufabric.records.nccl_log import SystemNode
from gpufabric.records.nccl_topology import GraphChannel, SearchedGraph
from gpufabric.units import from_gigabytes

MAX_NODES = 10_000
MAX_GRAPHS = 64
_NODE = re.compile(
    r"^(\s*)\+ ([A-Z0-9]{2,8})\[(\d{1,9}(?:\.\d{1,9})?)\] - ([A-Z]{3})/([0-9A-Fa-f-]{1,40})(?: \(([^)]{0,60})\))?"
)
_CPU = re.compile(r"^\s*CPU/([0-9A-Fa-f-]{1,40})(?: \(([^)]{0,60})\))?\s*$")
_PATHS = re.compile(r"^(?:GPU|NET|CPU|NVS|PCI|NIC|DEV)/[0-9A-Fa-f-]{1,40} :")
_PATTERN = re.compile(
    r"^\s*Pattern (\d{1,2}), crossNic (\d), nChannels (\d{1,4}), (?:bw|speed) (\d{1,6}(?:\.\d{1,9})?)/(\d{1,6}(?:\.\d{1,9})?),"
    r" type (\w{1,6})/(\w{1,6})(?:, sameChannels (\d))?"
)
_CHANNEL = re.compile(r"^\s*(\d{1,4}) :((?: +(?:GPU|NET)/[0-9A-Fa-f-]{1,40})+)\s*$")
_STEP = re.compile(r"(GPU|NET)/([0-9A-Fa-f-]{1,40})")


class SystemTree:
    """Takes the lines of the first process that prints a tree; those of the others are the same or of another server."""

    def __init__(self) -> None:
        self.nodes: list[SystemNode] = []
        self.graphs: list[SearchedGraph] = []
        self._owner: object = None
        self._open: list[tuple[int, int]] = []
        self._graph_open = False

    def take(self, text: str, line: int, owner: object) -> bool:
        """Take one line; False when it is none of a tree or graph."""
        if not self._is_one(text):
            return False
        if self._owner is None:
            self._owner = owner
        if owner == self._owner:
            self._take(text, line)
        return True

    def _is_one(self, text: str) -> bool:
        return (
            text.startswith(("=== System", "====="))
            or _NODE.match(text) is not None
            or _CPU.match(text) is not None
            or _PATHS.match(text) is not None
            or _PATTERN.match(text) is not None
            or _CHANNEL.match(text) is not None
        )

    def _take(self, text: str, line: int) -> None:
        node, cpu = _NODE.match(text), _CPU.match(text)
        if cpu is not None and len(self.nodes) < MAX_NODES:
            self._open = [(-1, len(self.nodes))]
            self.nodes.append(SystemNode("CPU", cpu[1], -1, "", 0.0, line))
        elif node is not None and len(self.nodes) < MAX_NODES:
            depth = len(node[1])
            while self._open and self._open[-1][0] >= depth:
                self._open.pop()
            parent = self._open[-1][1] if self._open else -1
            self._open.append((depth, len(self.nodes)))
            rate = from_gigabytes(float(node[3]))
            self.nodes.append(SystemNode(node[4], node[5], parent, node[2], rate, line))
        elif (pattern := _PATTERN.match(text)) is not None:
            self._pattern(pattern, line)
        elif (channel := _CHANNEL.match(text)) is not None and self._graph_open:
            steps = _STEP.findall(channel[2])
            gpus = tuple(name for kind, name in steps if kind == "GPU")
            nets = tuple(name for kind, name in steps if kind == "NET")
            graph = self.graphs[-1]
            if len(graph.channels) < 1024:
                self.graphs[-1] = replace(graph, channels=(*graph.channels, GraphChannel(gpus, nets, line)))

    def _pattern(self, found: re.Match[str], line: int) -> None:
        self._graph_open = len(self.graphs) < MAX_GRAPHS
        if not self._graph_open:
            return
        self.graphs.append(
            SearchedGraph(
                id=len(self.graphs),
                pattern=PATTERNS.get(int(found[1]), "unknown"),
                cross_nic=int(found[2]),
                channels_said=int(found[3]),
                intra_bytes_per_s=from_gigabytes(float(found[4])),
                inter_bytes_per_s=from_gigabytes(float(found[5])),
                type_intra=found[6],
                type_inter=found[7],
                channels=(),
                line=line,
            )
        )
