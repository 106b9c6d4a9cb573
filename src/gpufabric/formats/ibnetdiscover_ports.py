"""The port list that ``ibnetdiscover -p`` prints → :class:`FoundFabric`.

One line a port: kind, LID, port number, GUID, width and speed, and the same of the far end with both names; a port without a far
end has only its own name, and its speed says nothing. Manual page ibnetdiscover(8) of infiniband-diags, option ``--ports``
(https://github.com/linux-rdma/rdma-core).
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import BinaryIO

from gpufabric.formats.infiniband_nodes import InfinibandNodes
from gpufabric.formats.log_lines import LogFile, strip_prefix
from gpufabric.records.found_fabric import FoundFabric, PortState
from gpufabric.records.subnet import MAX_NODE_PORTS

_MAX_LINE = 1024
_END = r"(CA|SW|RT)\s+(\d{1,6})\s+(\d{1,3})\s+0x([0-9a-fA-F]{1,16})"
_LINE = re.compile(
    rf"{_END}\s+(\d{{1,2}}x\s*\S{{1,8}})\s*(?:-\s*{_END}\s*\(\s*'(.*)'\s+-\s+'(.*)'\s*\)|(?:'(.*)')?)"
)
_START = re.compile(r"(?:CA|SW|RT)\s+\d")


def read_ibnetdiscover_ports(source: str | Path | BinaryIO, name: str = "") -> FoundFabric:
    """Read the port list of ``ibnetdiscover -p``.

    Parameters
    ----------
    source
        Path of a plain or gzip file, ``-`` for standard input, or an open binary stream.
    name
        What findings call the file; default: the path.

    Returns
    -------
    FoundFabric
        Ports that are listed without a far end are dark. Rates are bytes/s each direction.

    Raises
    ------
    InputError
        When the file can't be opened or read. What is in it never raises.
    """
    log = LogFile(source)
    nodes = InfinibandNodes()
    nodes.rows.start_file(name or log.name, "ibnetdiscover -p")
    for line in log.lines():
        text = line.text.strip()
        if not _START.match(text):
            text = strip_prefix(text).strip()
        if not text or text[:1] == "#":
            continue
        if len(text) > _MAX_LINE or not _take(nodes, text, line.number):
            nodes.rows.miss(line.number, "a line is not part of a port list of ibnetdiscover -p")
        if nodes.full:
            break
    nodes.rows.end_file(log.lines_read, log.stopped)
    return nodes.finish()


def _take(nodes: InfinibandNodes, text: str, number: int) -> bool:
    found = _LINE.fullmatch(text)
    if found is None:
        return False
    kind, _, port, guid, rate, far_kind, _, far_port, far_guid, name, far_name, lone_name = found.groups()
    if max(int(port), int(far_port or 0)) > MAX_NODE_PORTS:
        return False
    node = nodes.add_node(int(guid, 16), kind == "SW", (name or lone_name or "").strip(), number)
    near = nodes.add_port(node, int(port))
    if far_kind is None:
        nodes.set_port(near, float("nan"), PortState.DARK)
        return True
    far = nodes.add_node(int(far_guid, 16), far_kind == "SW", far_name.strip(), number)
    nodes.add_end(near, nodes.add_port(far, int(far_port)), number, nodes.set_speed(near, rate))
    return True
