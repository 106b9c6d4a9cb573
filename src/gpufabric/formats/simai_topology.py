"""SimAI's topology text (ns-3 mode) ↔ its nodes and links.

First line: nodes, GPUs a server, NVSwitches, other switches, links, GPU type. Second: the numbers of all switches, NVSwitches
first. Then a line a link: two nodes, rate (``400Gbps``), delay (``0.0005ms``), error rate. Source: SetupNetwork in common.h and
gen_Topo_Template.py of https://github.com/aliyun/SimAI, read 2026-12-01.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import numpy as np

from gpufabric.errors import InputError
from gpufabric.formats.strict_lines import WordLine, word_lines
from gpufabric.records.simulator_inputs import SimaiTopology
from gpufabric.units import from_gbps, from_milliseconds, gbps, milliseconds

#: SimAI makes an address of a node's number, and reads 16 bits of it back.
MAX_NODES = 65_536
_LINK_WORDS, _HEAD_WORDS = 5, 6


def write(topology: SimaiTopology) -> Iterator[str]:
    """Yield the lines of a topology, without their ends."""
    links = len(topology.start)
    yield (
        f"{topology.nodes} {topology.gpus_per_server} {len(topology.nv_switches)} {len(topology.switches)} {links} "
        f"{topology.gpu_type}"
    )
    yield " ".join(map(str, [*topology.nv_switches.tolist(), *topology.switches.tolist()]))
    rates = {rate: f"{gbps(rate):.12g}Gbps" for rate in np.unique(topology.bytes_per_s).tolist()}
    # ns-3 reads exponents, SimAI's own generator writes none.
    delays = {
        delay: f"{milliseconds(delay):.12f}".rstrip("0").rstrip(".") + "ms"
        for delay in np.unique(topology.delay_s).tolist()
    }
    columns = (topology.start, topology.end, topology.bytes_per_s, topology.delay_s)
    for start, end, rate, delay in zip(*(column.tolist() for column in columns), strict=True):
        yield f"{start} {end} {rates[rate]} {delays[delay]} 0"


def read(source: str | Path | BinaryIO, name: str = "") -> SimaiTopology:
    """Read such a text.

    Raises
    ------
    InputError
        When a count does not fit the lines, a node is out of range or a link joins two GPUs, or two nodes twice.
    """
    lines = word_lines(source, name, comment="\0")
    head = next(lines, None)
    if head is None or len(head.words) != _HEAD_WORDS:
        where = head.where if head else name
        raise InputError(
            f"{where}: does not begin with six words; write nodes, GPUs a server, NVSwitches, switches, links, type"
        )
    nodes, per_server, nv, switches, links = (head.whole(place) for place in range(5))
    if nodes > MAX_NODES or nv + switches > nodes:
        head.refuse(
            "has more switches than nodes, or too many nodes", f"at most {MAX_NODES:,} nodes are allowed"
        )
    listed = next(lines, head)
    numbers = np.array([listed.whole(place) for place in range(len(listed.words))], np.int64)
    if len(numbers) != nv + switches or len(np.unique(numbers)) != len(numbers) or (numbers >= nodes).any():
        listed.refuse(
            "does not list every switch once", f"{nv} NVSwitches and {switches} switches are announced"
        )
    rows = [_link(line, nodes) for line in lines]
    if len(rows) != links:
        head.refuse(f"{len(rows):,} links follow", f"{links:,} are announced")
    start, end, rate, delay = (np.array([row[place] for row in rows]) for place in range(4))
    found = SimaiTopology(
        nodes,
        per_server,
        numbers[:nv],
        numbers[nv:],
        head.words[5],
        start.astype(np.int64),
        end.astype(np.int64),
        rate,
        delay,
    )
    pairs = np.sort(np.stack([found.start, found.end], axis=1), axis=1)
    if len(np.unique(pairs, axis=0)) != links:
        head.refuse(
            "two nodes are linked twice", "SimAI keeps one link of two nodes; write their rates as one"
        )
    if (~np.isin(found.start, numbers) & ~np.isin(found.end, numbers)).any():
        head.refuse("two GPUs are linked with each other", "SimAI forwards at switches only")
    return found


def _link(line: WordLine, nodes: int) -> tuple[int, int, float, float]:
    if len(line.words) != _LINK_WORDS:
        line.refuse("is not five words", "write two nodes, rate, delay and error rate")
    start, end = line.whole(0), line.whole(1)
    line.number(4)
    if max(start, end) >= nodes or start == end:
        line.refuse("names no two nodes", f"nodes are 0 to {nodes - 1}")
    return start, end, from_gbps(line.number(2, "Gbps")), from_milliseconds(line.number(3, "ms"))
