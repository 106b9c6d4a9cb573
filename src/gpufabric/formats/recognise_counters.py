"""A file with counters of links → its format, by content → :class:`LinkCounters`."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

from gpufabric.formats.ethernet_counters import read_ethtool_statistics, read_mlxlink, read_sonic_counters
from gpufabric.formats.infiniband_counters import read_ibqueryerrors, read_perfquery
from gpufabric.formats.log_lines import LogFile
from gpufabric.records.link_counters import LinkCounters

_HEAD_LINES = 200
_MAX_LINE = 1024
_OPENS: dict[str, re.Pattern[str]] = {
    "perfquery": re.compile(r"#\s?Port counters:", re.IGNORECASE),
    "ibqueryerrors": re.compile(r'\bErrors for (?:0x[0-9a-fA-F]{1,16} )?"'),
    "ethtool -S": re.compile(r"^\s*NIC statistics:", re.MULTILINE | re.IGNORECASE),
    "sonic counters": re.compile(r"\bIFACE\s+STATE\s+RX_OK\b", re.IGNORECASE),
    "mlxlink": re.compile(
        r"^\s*(?:Physical Counters and BER Info|Operational Info)\s*$", re.MULTILINE | re.IGNORECASE
    ),
}
COUNTER_READERS: dict[str, Callable[[str | Path | BinaryIO, str], LinkCounters]] = {
    "perfquery": read_perfquery,
    "ibqueryerrors": read_ibqueryerrors,
    "ethtool -S": read_ethtool_statistics,
    "sonic counters": read_sonic_counters,
    "mlxlink": read_mlxlink,
}


def read_counters(source: str | Path | BinaryIO, name: str = "") -> LinkCounters | None:
    """Read a file with counters of links in whatever format it is; None when it is of none that is known.

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
    lines = (line.text[:_MAX_LINE] for line in itertools.islice(LogFile(source).lines(), _HEAD_LINES))
    head = "\n".join(lines)
    if not isinstance(source, str | Path):
        source.seek(0)
    found = next((key for key, opens in _OPENS.items() if opens.search(head)), "")
    return COUNTER_READERS[found](source, name) if found else None
