"""Cabling as Graphviz DOT (NVIDIA Air, Prescriptive Topology Manager) → :class:`FoundFabric`.

``"leaf01":"swp1" -- "server01":"eth1"`` is a cable, ``"leaf01" [function="leaf"]`` a device. One statement a line, as these tools
write it (https://docs.nvidia.com/networking-ethernet-software/nvidia-air/Custom-Topology/).
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import BinaryIO

from gpufabric.formats.cable_rows import DEVICE_KIND_OF_WORD, add_cable
from gpufabric.formats.found_rows import FoundRows
from gpufabric.formats.lldp_rows import device_key
from gpufabric.formats.log_lines import LogFile
from gpufabric.records.cluster import UNKNOWN
from gpufabric.records.found_fabric import FoundFabric

_MAX_LINE = 4096
_WORD = r'(?:"([^"]{1,128})"|([\w.-]{1,128}))'
_CABLE = re.compile(rf"{_WORD}\s*:\s*{_WORD}\s*--\s*{_WORD}\s*:\s*{_WORD}\s*(?:\[.*)?;?\s*")
_NODE = re.compile(rf"{_WORD}\s*\[(.*?)\]?\s*;?\s*")
_FUNCTION = re.compile(r'\bfunction\s*=\s*"?([\w-]{1,32})', re.IGNORECASE)
_QUIET = re.compile(
    r"(?:strict\s+)?(?:di)?graph\b.*|[{}\];]*|(?://|#|/\*|\*).*|(?:graph|node|edge)\s*\[.*|[\w]{1,32}\s*=.*"
)


def read_cabling_dot(source: str | Path | BinaryIO, name: str = "") -> FoundFabric:
    """Read a DOT file whose edges join ports.

    Parameters
    ----------
    source
        Path of a plain or gzip file, ``-`` for standard input, or an open binary stream.
    name
        What findings call the file; default: the path.

    Returns
    -------
    FoundFabric
        Kinds as ``function`` says them; rates are unknown.

    Raises
    ------
    InputError
        When the file can't be opened or read. What is in it never raises.
    """
    log = LogFile(source)
    rows = FoundRows("ethernet")
    rows.start_file(name or log.name, "dot")
    for line in log.lines():
        text = line.text.strip()
        if len(text) > _MAX_LINE or not (_take(rows, text, line.number) or _QUIET.fullmatch(text)):
            rows.miss(line.number, "a line is no cable, device or setting of a DOT file")
        if rows.full:
            break
    rows.end_file(log.lines_read, log.stopped)
    return rows.finish()


def _take(rows: FoundRows, text: str, number: int) -> bool:
    cable = _CABLE.fullmatch(text)
    if cable is not None:
        words = [cable[at] or cable[at + 1] for at in (1, 3, 5, 7)]
        return add_cable(rows, ((words[0], words[1]), (words[2], words[3])), number)
    node = _NODE.fullmatch(text)
    if node is None or (node[2] or "").lower() in {"graph", "node", "edge"}:
        return False
    device = node[1] or node[2]
    function = _FUNCTION.search(node[3])
    kind = DEVICE_KIND_OF_WORD.get(function[1].lower(), UNKNOWN) if function else UNKNOWN
    rows.add_device(device_key(device), device, kind, number)
    return True
