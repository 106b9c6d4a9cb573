"""ASTRA-sim's analytical network (``network.yml``) ↔ its dimensions.

Four keys, each a list in brackets with one value a dimension: topology, npus_count, bandwidth, latency. Bandwidth is in GB/s
where ASTRA-sim's GB is 2³⁰ bytes, latency in ns. Source: NetworkParser.cc and NetworkFunction.cc of
https://github.com/astra-sim/astra-network-analytical, read 2026-12-01.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO

from gpufabric.errors import InputError
from gpufabric.formats.strict_lines import WordLine, word_lines
from gpufabric.records.simulator_inputs import AnalyticalDimension
from gpufabric.units import from_gibibytes, from_nanoseconds, gibibytes, nanoseconds

TOPOLOGIES = ("Ring", "FullyConnected", "Switch")
_KEYS = ("topology", "npus_count", "bandwidth", "latency")
_LINE = re.compile(r"(\w+): \[ ?([^\[\]#]{1,2000}?) ?\](?: +#.*)?")


def write(dimensions: Sequence[AnalyticalDimension]) -> str:
    """Return the file of some dimensions, the nearest GPUs first."""
    rates = [f"{gibibytes(one.bytes_per_s):.12g}" for one in dimensions]
    delays = [f"{nanoseconds(one.latency_s):.12g}" for one in dimensions]
    return (
        f"topology: [ {', '.join(one.topology for one in dimensions)} ]\n"
        f"npus_count: [ {', '.join(str(one.npus) for one in dimensions)} ]\n"
        f"bandwidth: [ {', '.join(rates)} ]  # GB/s of 2^30 bytes, as ASTRA-sim counts; one direction\n"
        f"latency: [ {', '.join(delays)} ]  # ns a link; a message over a Switch takes two\n"
    )


def read(source: str | Path | BinaryIO, name: str = "") -> tuple[AnalyticalDimension, ...]:
    """Read such a file as ASTRA-sim does, but refuse what it would silently leave out.

    Raises
    ------
    InputError
        For any line or value that is not allowed.
    """
    values: dict[str, tuple[str, ...]] = {}
    line = WordLine(name or "network.yml", ())
    for line in word_lines(source, name):
        found = _LINE.fullmatch(" ".join(line.words))
        if found is None or found[1] not in _KEYS or found[1] in values:
            line.refuse("is not one of the four lists, each once", f"allowed are {', '.join(_KEYS)}")
        values[found[1]] = tuple(value.strip() for value in found[2].split(","))
    if len({len(values.get(key, ())) for key in _KEYS}) != 1 or "topology" not in values:
        raise InputError(
            f"{line.where}: its lists are not equally long; write {', '.join(_KEYS)} with a value a dimension"
        )
    dimensions = []
    for topology, *texts in zip(*(values[key] for key in _KEYS), strict=True):
        row = WordLine(line.where, tuple(texts))
        if topology not in TOPOLOGIES:
            row.refuse(f"topology {topology[:40]} is unknown", f"allowed are {', '.join(TOPOLOGIES)}")
        rate = from_gibibytes(row.number(1))
        if not rate:
            row.refuse("bandwidth is 0", "write a rate above 0")
        dimensions.append(
            AnalyticalDimension(topology, row.whole(0, 2), rate, from_nanoseconds(row.number(2)))
        )
    return tuple(dimensions)
