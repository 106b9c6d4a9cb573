"""Cabling as containerlab YAML or NVIDIA Air JSON → :class:`FoundFabric`.

containerlab lists ``endpoints: ["a:e1-1", "b:e1-1"]`` (https://containerlab.dev/manual/topo-def-file/), Air a pair of interfaces
and nodes a link (https://docs.nvidia.com/networking-ethernet-software/nvidia-air/Custom-Topology/). JSON is
read as the YAML that it is, so that every link keeps its line.
"""

from __future__ import annotations

from pathlib import Path
from typing import BinaryIO

from gpufabric.errors import InputError, printable
from gpufabric.formats.cable_rows import DEVICE_KIND_OF_WORD, End, add_cable
from gpufabric.formats.clean_text import read_clean
from gpufabric.formats.found_rows import FoundRows
from gpufabric.formats.lldp_rows import device_key
from gpufabric.formats.yaml_nodes import Node, parse_nodes
from gpufabric.records.cluster import UNKNOWN
from gpufabric.records.found_fabric import FoundFabric

#: Ends of links that leave the simulation.
_OUTSIDE = {"outbound", "host", "macvlan", "mgmt-net"}


def read_cabling_yaml(source: str | Path | BinaryIO, name: str = "") -> FoundFabric:
    """Read a containerlab topology or an Air topology in its JSON form.

    Parameters
    ----------
    source
        Path of a plain or gzip file of at most 1 MiB, ``-`` for standard input, or an open binary stream.
    name
        What findings call the file; default: the path.

    Returns
    -------
    FoundFabric
        Devices of unknown kind unless a role is written; rates are unknown. Links to the outside are left out.

    Raises
    ------
    InputError
        When the file can't be opened or read. What is in it never raises.
    """
    text = read_clean(source, name)
    rows = FoundRows("ethernet")
    rows.start_file(text.name, "containerlab or air")
    try:
        root = parse_nodes("\n".join(line.text for line in text.lines), text.name)
    except InputError as error:
        rows.note("found-lines", "error", 1, f"is no YAML or JSON: {printable(str(error), 300)}")
        rows.lines_not_understood += text.lines_read
        rows.end_file(text.lines_read, text.stopped)
        return rows.finish()
    nodes = root.get("topology", "nodes") or root.get("content", "nodes")
    links = root.get("topology", "links") or root.get("content", "links")
    _read_nodes(rows, nodes)
    for link in links.value if links is not None and isinstance(links.value, list) else []:
        ends = _ends(link)
        if ends is None or not add_cable(rows, ends, link.line):
            if _leaves(link):
                rows.left_out["link to the outside"] = rows.left_out.get("link to the outside", 0) + 1
            else:
                rows.miss(link.line, "a link has not two ends with device and interface")
    rows.end_file(text.lines_read, text.stopped)
    return rows.finish()


def _read_nodes(rows: FoundRows, nodes: Node | None) -> None:
    if nodes is None or not isinstance(nodes.value, dict):
        return
    for device, node in nodes.value.items():
        words = [_text(node.get(key)).lower() for key in ("group", "role", "function")]
        labels = node.get("labels")
        words += [_text(labels.get(key)).lower() for key in ("role", "graph-icon")] if labels else []
        kind = next((DEVICE_KIND_OF_WORD[word] for word in words if word in DEVICE_KIND_OF_WORD), UNKNOWN)
        line = nodes.key_lines[device].line if device in nodes.key_lines else node.line
        rows.add_device(device_key(device), device, kind, line)


def _text(node: Node | None) -> str:
    return str(node.value) if node is not None and isinstance(node.value, str | int) else ""


def _ends(link: Node) -> tuple[End, End] | None:
    """Return both ends of a link; None when it has not two ends on devices."""
    listed = link.get("endpoints") or link
    if not isinstance(listed.value, list) or len(listed.value) != 2:
        return None
    found = []
    for end in listed.value:
        if isinstance(end.value, dict):
            found.append((_text(end.get("node")), _text(end.get("interface"))))
        else:
            device, _, port = _text(end).partition(":")
            found.append((device, port))
    if any(device.lower() in _OUTSIDE for device, _ in found):
        return None
    return found[0], found[1]


def _leaves(link: Node) -> bool:
    listed = link.get("endpoints") or link
    ends = listed.value if isinstance(listed.value, list) else []
    texts = {_text(end).partition(":")[0].lower() for end in ends}
    return bool(texts & _OUTSIDE) or _text(link.get("type")) in {
        "host",
        "macvlan",
        "mgmt-net",
        "vxlan",
        "dummy",
    }
