"""htsim's connection matrix (``.cm``) ↔ its flows.

``Nodes N``, ``Connections C``, then C lines ``A->B id I start T size S`` with T in picoseconds and S in bytes, below 2³¹.
Triggers and failures are not used here. Source: connection_matrix.cpp of https://github.com/Broadcom/csg-htsim, read 2026-12-01.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import numpy as np

from gpufabric.errors import InputError
from gpufabric.formats.strict_lines import word_lines
from gpufabric.records.simulator_inputs import HtsimConnections
from gpufabric.units import from_picoseconds, picoseconds

#: htsim reads a size as a signed number of 32 bits.
MOST_BYTES = 2**31 - 1
_FLOW = re.compile(r"([0-9]{1,9})->([0-9]{1,9}) id ([0-9]{1,9}) start ([0-9]{1,18}) size ([0-9]{1,10})")


def write(connections: HtsimConnections) -> Iterator[str]:
    """Yield the lines of a matrix, without their ends."""
    yield f"Nodes {connections.nodes}"
    yield f"Connections {len(connections.sender)}"
    columns = (connections.sender, connections.receiver, connections.start_s, connections.size_bytes)
    rows = zip(*(column.tolist() for column in columns), strict=True)
    for number, (sender, receiver, start, size) in enumerate(rows, start=1):
        yield f"{sender}->{receiver} id {number} start {round(picoseconds(start))} size {size}"


def read(source: str | Path | BinaryIO, name: str = "") -> HtsimConnections:
    """Read such a file.

    Raises
    ------
    InputError
        For a line of another form, a count that does not fit, a node out of range or a size that htsim can't hold.
    """
    lines = word_lines(source, name)
    head = [line for line in (next(lines, None), next(lines, None)) if line]
    if [line.words[0] for line in head] != ["Nodes", "Connections"]:
        raise InputError(f"{name}: does not begin with Nodes and Connections; write both with a number")
    nodes, announced = head[0].whole(1, 1), head[1].whole(1)
    rows = []
    for line in lines:
        found = _FLOW.fullmatch(" ".join(line.words))
        row = tuple(map(int, found.groups())) if found else ()
        if len(row) != 5 or max(row[:2]) >= nodes or row[0] == row[1] or row[2] < 1 or row[4] > MOST_BYTES:
            line.refuse(
                "is no flow", f"write A->B id I start T size S, nodes below {nodes}, I above 0, S below 2^31"
            )
        rows.append(row)
    if len(rows) != announced or len({row[2] for row in rows}) != len(rows):
        head[1].refuse(f"{len(rows):,} flows follow", "announce as many, each with an id of its own")
    table = np.array(rows, np.int64).reshape(-1, 5)
    start = np.array([from_picoseconds(row[3]) for row in rows], np.float64)
    return HtsimConnections(nodes, table[:, 0], table[:, 1], table[:, 4], start)
