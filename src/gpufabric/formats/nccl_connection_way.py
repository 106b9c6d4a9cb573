"""What stands behind ``via`` in a connection line of NCCL → transport, network, device."""

from __future__ import annotations

import re
from collections import Counter

from gpufabric.errors import printable
from gpufabric.records.nccl_log import transport_name


def way_of(transport: str, rest: str) -> tuple[str, int, str]:
    """Return network, device and detail of what stands behind ``via``."""
    rest = printable(rest.strip(), 120)
    if transport not in {"NET", "COLLNET"}:
        return "", -1, rest
    found = re.match(r"(.*?)/(\d{1,4})(?:/(.*))?$", rest)
    return (found[1], int(found[2]), found[3] or "") if found else (rest, -1, "")


def counted_by_transport(ways: Counter[str]) -> tuple[tuple[str, int], ...]:
    """Return counts of what stands behind ``via`` by transport, network and use of GPUDirect."""
    counts: Counter[str] = Counter()
    for way, count in ways.items():
        transport, _, rest = way.strip().partition("/")
        network, _, detail = way_of(transport, rest)
        counts[transport_name(printable(transport, 20), network, detail)] += count
    return tuple(counts.most_common(64))
