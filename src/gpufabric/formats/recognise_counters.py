"""A file of port counters of unknown format → its format, by content → :class:`LinkCounters`."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import BinaryIO

from gpufabric.formats.ethernet_counters import read_ethtool_statistics, read_mlxlink, read_sonic_counters
from gpufabric.formats.infiniband_counters import read_ibqueryerrors, read_perfquery
from gpufabric.formats.log_lines import LogFile
from gpufabric.records.link_counters import LinkCounters

_HEAD_LINES = 400
_MAX_LINE = 1024
_Reader = Callable[[str | Path | BinaryIO, str], LinkCounters]
#: Format → the line that only it has, and its reader.
COUNTER_READERS: Mapping[str, tuple[re.Pattern[str], _Reader]] = {
    "ibqueryerrors": (
        re.compile(r'^\s*Errors for (?:0x[0-9a-fA-F]{1,16} )?"', re.MULTILINE),
        read_ibqueryerrors,
    ),
    "perfquery": (re.compile(r"\bPort (?:extended )?counters:\s*Lid\s+\d", re.IGNORECASE), read_perfquery),
    "ethtool -S": (re.compile(r"^\s*NIC statistics:\s*$", re.MULTILINE), read_ethtool_statistics),
    "sonic counters": (re.compile(r"\bIFACE\s+STATE\s+RX_OK\b"), read_sonic_counters),
    "mlxlink": (re.compile(r"^\s*Physical Counters and BER Info\s*$", re.MULTILINE), read_mlxlink),
}


def read_counters(source: str | Path | BinaryIO, name: str = "") -> LinkCounters | None:
    """Read a file of counters in whatever format it is; None when it is of none that is known.

    Parameters
    ----------
    source
        Path of a plain or gzip file, or an open binary stream that can be rewound.
    name
        What findings call the file; default: the path.

    Raises
    ------
    InputError
        When the file can't be opened or read.
    """
    text = "\n".join(line.text[:_MAX_LINE] for line in itertools.islice(LogFile(source).lines(), _HEAD_LINES))
    if not isinstance(source, str | Path):
        source.seek(0)
    for opens, read in COUNTER_READERS.values():
        if opens.search(text):
            return read(source, name)
    return None
