"""``ibdiagnet2.lst`` → :class:`FoundFabric`.

A line a link: ``{ CA Ports:01 SystemGUID:… NodeGUID:… PortGUID:… VenID:… DevID:… Rev:… {name} LID:… PN:… } { SW … }``, then
``PHY=4x LOG=ACT SPD=…``, as public descriptions of ibdiagnet have it (https://docs.nvidia.com/networking/display/ibdiagnet).
``SPD`` is the signalling rate of a lane in Gb/s.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import BinaryIO

from gpufabric.formats.infiniband_nodes import InfinibandNodes
from gpufabric.formats.log_lines import LogFile
from gpufabric.records.found_fabric import FoundFabric
from gpufabric.records.subnet import MAX_NODE_PORTS

_MAX_LINE = 4096
_END = (
    r"\{\s*(CA|SW|RT)(?:-\w{1,8})?\s+Ports:[0-9a-fA-F]{1,4}\s[^{}]{0,200}?\bNodeGUID:(?:0x)?([0-9a-fA-F]{1,16})\b[^{}]{0,200}"
    r"\{([^{}]{0,200})\}[^{}]{0,80}?\bPN:(?:0x)?([0-9a-fA-F]{1,2})\b[^{}]{0,80}\}"
)
_LINK = re.compile(
    rf"\s*{_END}\s*{_END}\s*PHY=(\d{{1,2}})x\s+LOG=(\w{{1,8}})\s+SPD=(\d{{1,4}}(?:\.\d{{1,2}})?)\s*"
)
#: Rate of a lane as printed → name.
_SPEEDS = {
    2.5: "SDR",
    5.0: "DDR",
    10.0: "QDR",
    14.0: "FDR",
    25.0: "EDR",
    50.0: "HDR",
    100.0: "NDR",
    200.0: "XDR",
}


def read_ibdiagnet_lst(source: str | Path | BinaryIO, name: str = "") -> FoundFabric:
    """Read the list of links that ibdiagnet leaves in its output folder.

    Parameters
    ----------
    source
        Path of a plain or gzip file, ``-`` for standard input, or an open binary stream.
    name
        What findings call the file; default: the path.

    Returns
    -------
    FoundFabric
        Each link is told once; numbers of ports are hexadecimal, as ibdiagnet writes them. A link whose speed is of no known
        name has an unknown rate.

    Raises
    ------
    InputError
        When the file can't be opened or read. What is in it never raises.
    """
    log = LogFile(source)
    nodes = InfinibandNodes()
    told: set[int] = set()
    nodes.rows.start_file(name or log.name, "ibdiagnet lst")
    for line in log.lines():
        found = _LINK.fullmatch(line.text[:_MAX_LINE])
        if found is not None:
            _link(nodes, found, line.number, told)
        elif line.text.strip() and not line.text.lstrip().startswith("#"):
            nodes.rows.miss(line.number, "a line is no link of an ibdiagnet list")
        if nodes.full:
            break
    nodes.rows.end_file(log.lines_read, log.stopped)
    return nodes.finish()


def _link(nodes: InfinibandNodes, found: re.Match[str], line: int, told: set[int]) -> None:
    ends = []
    for kind, guid, name, port in (found.groups()[0:4], found.groups()[4:8]):
        number = int(port, 16)
        if not 1 <= number <= MAX_NODE_PORTS or not int(guid, 16):
            nodes.rows.miss(line, "a link of an ibdiagnet list has no port or GUID")
            return
        key = int(guid, 16)
        # Each link describes its nodes anew.
        own = key not in told
        told.add(key)
        node = nodes.add_node(key, kind == "SW", name.strip() if own else "", line, own=own)
        ends.append(nodes.add_port(node, number))
    speed = _SPEEDS.get(float(found[11]))
    near, far = ends
    rate = nodes.set_speed(near, f"{found[9]}x{speed}") if speed else float("nan")
    nodes.add_end(near, far, line, rate)
    nodes.add_end(far, near, line, rate)
