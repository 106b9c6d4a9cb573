"""NCCL's graph XML (``NCCL_GRAPH_DUMP_FILE``, ``NCCL_GRAPH_FILE``) → :class:`NcclGraphs`."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import BinaryIO

from gpufabric.errors import printable
from gpufabric.formats.clean_text import CleanText, read_clean
from gpufabric.formats.nccl_xml_stream import Element, read_elements
from gpufabric.formats.read_notes import ReadNotes, notes_on
from gpufabric.records.nccl_topology import GraphChannel, NcclGraphs, SearchedGraph
from gpufabric.units import counted, from_gigabytes

#: As NCCL's source numbers them (graph.h, read at 2.30.7).
PATTERNS = {1: "balanced_tree", 2: "split_tree", 3: "tree", 4: "ring", 5: "nvls", 6: "collnet_direct"}


@dataclass
class _Seen:
    notes: ReadNotes
    version: int = -1
    graphs: list[SearchedGraph] = field(default_factory=list)
    channels: list[GraphChannel] = field(default_factory=list)
    gpus: list[str] = field(default_factory=list)
    nets: list[str] = field(default_factory=list)
    line: int = 0


def read(source: str | Path | BinaryIO, name: str = "") -> NcclGraphs:
    """Read a graph file.

    Raises
    ------
    InputError
        When the file can't be opened. What is in it never raises.
    """
    return read_part(read_clean(source, name))


def read_part(text: CleanText) -> NcclGraphs:
    """Read the graphs of a text; see :func:`read`."""
    notes = notes_on(text, "a graph file of NCCL")
    seen = _Seen(notes)
    whole = read_elements(text, notes, lambda element: _open(element, seen), lambda name: _close(name, seen))
    if not whole:
        _close("channel", seen)
        _close("graph", seen)
    for graph in seen.graphs:
        if graph.channels_said != len(graph.channels):
            said = f"says {counted(graph.channels_said, 'channel')} and has {len(graph.channels)}"
            notes.add("input-contradiction", "warning", graph.line, f"graph {graph.id} {said}")
    return NcclGraphs(
        version=seen.version,
        graphs=tuple(seen.graphs),
        cut=not whole,
        file=notes.name,
        findings=notes.finish(),
        lines_read=len(text.lines),
        lines_not_understood=notes.missed_lines,
    )


def _open(element: Element, seen: _Seen) -> None:
    match element.name:
        case "graphs":
            seen.version = element.number("version")
        case "graph":
            seen.graphs.append(_graph(element))
            seen.channels = []
        case "channel":
            seen.gpus, seen.nets, seen.line = [], [], element.line
        case "gpu":
            seen.gpus.append(printable(element.text("dev") or element.text("rank"), 40))
        case "net":
            seen.nets.append(printable(element.text("dev"), 40))
        case name:
            seen.notes.missed(element.line, 0, f"element {printable(name, 40)} is unknown")


def _close(name: str, seen: _Seen) -> None:
    if name == "channel" and seen.line:
        seen.channels.append(GraphChannel(tuple(seen.gpus), tuple(seen.nets), seen.line))
        seen.line = 0
    elif name == "graph" and seen.graphs:
        seen.graphs[-1] = replace(seen.graphs[-1], channels=tuple(seen.channels))
        seen.channels = []


def _graph(element: Element) -> SearchedGraph:
    return SearchedGraph(
        id=element.number("id"),
        pattern=PATTERNS.get(element.number("pattern"), "unknown"),
        cross_nic=element.number("crossnic"),
        channels_said=element.number("nchannels"),
        intra_bytes_per_s=_gigabytes(element.text("speedintra")),
        inter_bytes_per_s=_gigabytes(element.text("speedinter")),
        type_intra=printable(element.text("typeintra"), 20),
        type_inter=printable(element.text("typeinter"), 20),
        channels=(),
        line=element.line,
    )


def _gigabytes(text: str) -> float:
    try:
        value = float(text[:40])
    except ValueError:
        return 0.0
    return from_gigabytes(value) if math.isfinite(value) and value >= 0 else 0.0
