"""Subnet ↔ the network file of ibsim, the InfiniBand fabric simulator.

One record a node: how many ports it has, then one line a cable. Every cable stands at both its ends. The form is explained in
the README and net-examples of ibsim-utils (https://github.com/linux-rdma/ibsim, read 2026-11-30).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from gpufabric.errors import InputError, printable
from gpufabric.records.subnet import MAX_NODE_PORTS, MAX_UNICAST_LIDS, Subnet

MAX_NAME = 63
"""Longest name that ibsim keeps whole: its node description has 64 bytes."""
_MAX_LINE = 255
_MAX_LINES = 1 << 23
_NAME = re.compile(r"[A-Za-z0-9 ._:/+()=,-]{1,63}")
_GUID = re.compile(r"(switchguid|caguid)=0x([0-9a-f]{1,15})")
_NODE = re.compile(r'(Switch|Hca|Ca)\s+(\d{1,3})\s+"([^"]{1,63})"')
_PORT = re.compile(r'\[(\d{1,3})\]\s*"([^"]{1,63})"\[(\d{1,3})\]')


def write(subnet: Subnet) -> str:
    """Return the network file of *subnet*, in the order of its nodes: ibsim attaches to the first port of the first node.

    Raises
    ------
    InputError
        If a name can't stand in such a file or is used twice, or a node has more ports than InfiniBand can number.
    """
    bad = [name for name in subnet.names if not _NAME.fullmatch(name)]
    if bad or len(set(subnet.names)) < len(subnet.names):
        found = f'"{printable(bad[0])}"' if bad else "a name that stands twice"
        raise InputError(
            f"ibsim netlist: a node can't be named like this ({found}); allowed are {MAX_NAME} letters, digits, blanks and "
            '"._:/+()=,-", each name once; rename the device'
        )
    widest = int(subnet.ports.max(initial=0))
    if widest > MAX_NODE_PORTS:
        raise InputError(
            f"ibsim netlist: {printable(subnet.names[int(subnet.ports.argmax())])} has {widest:,} ports; "
            f"at most {MAX_NODE_PORTS} can be numbered; split fewer cages"
        )
    node = subnet.link_node.ravel()
    far_node, far_port = subnet.link_node[:, ::-1].ravel(), subnet.link_port[:, ::-1].ravel()
    order = np.lexsort((subnet.link_port.ravel(), node))
    first = np.searchsorted(node[order], np.arange(len(subnet) + 1))
    port, other, other_port = (
        column[order].tolist() for column in (subnet.link_port.ravel(), far_node, far_port)
    )
    lines = []
    for row, name in enumerate(subnet.names):
        kind, guid = ("Switch", "switchguid") if subnet.is_switch[row] else ("Hca", "caguid")
        lines.append(f"{guid}=0x{int(subnet.guid[row]):x}")
        lines.append(f'{kind} {int(subnet.ports[row])} "{name}"')
        span = range(int(first[row]), int(first[row + 1]))
        lines += [f'[{port[at]}] "{subnet.names[other[at]]}"[{other_port[at]}]' for at in span]
        lines.append("")
    return "\n".join(lines) + "\n"


def read(path: Path) -> Subnet:
    """Return the subnet of a network file.

    Raises
    ------
    InputError
        If a line is none of the four kinds, a node is described twice, or the two ends of a cable don't agree.
    """
    try:
        with path.open("rb") as stream:
            return _Nodes(printable(str(path))).read(stream)
    except OSError as error:
        raise InputError(
            f"{printable(str(path))}: can't be read ({error.strerror}); name an ibsim network file"
        ) from error


class _Nodes:
    """What has been read of one file so far."""

    def __init__(self, name: str) -> None:
        self._file = name
        self._names: list[str] = []
        self._row: dict[str, int] = {}
        self._switch: list[bool] = []
        self._ports: list[int] = []
        self._guid: list[int] = []
        self._ends: dict[tuple[int, int], tuple[str, int, int]] = {}

    def read(self, stream: BinaryIO) -> Subnet:
        guid, inside = 0, False
        for number, line in self._lines(stream):
            if not line:
                inside = False
            elif line.startswith("#"):
                continue
            elif inside and (port := _PORT.fullmatch(line)):
                self._add_port(number, port)
            elif (given := _GUID.fullmatch(line)) and not inside:
                guid = int(given[2], 16)
            elif (node := _NODE.fullmatch(line)) and not inside:
                self._add_node(number, node, guid)
                guid, inside = 0, True
            else:
                raise self._error(number, "is no line of a network file", line)
        link_node, link_port = self._links()
        return Subnet(
            tuple(self._names),
            np.array(self._switch, np.bool_),
            np.array(self._ports, np.int16),
            np.array(self._guid, np.int64),
            link_node,
            link_port,
        )

    def _lines(self, stream: BinaryIO) -> Iterator[tuple[int, str]]:
        for number in range(1, _MAX_LINES + 1):
            raw = stream.readline(_MAX_LINE + 1)
            if not raw:
                return
            if len(raw) > _MAX_LINE or not raw.isascii():
                raise self._error(number, f"is longer than {_MAX_LINE} characters or not ASCII", "")
            yield number, raw.decode("ascii").rstrip()
        raise self._error(_MAX_LINES, "is one line too many", "")

    def _add_node(self, number: int, node: re.Match[str], guid: int) -> None:
        name, ports = node[3], int(node[2])
        if name in self._row or not 1 <= ports <= MAX_NODE_PORTS or not _NAME.fullmatch(name):
            raise self._error(number, f"needs a new plain name and 1 to {MAX_NODE_PORTS} ports", node[0])
        if len(self._names) > MAX_UNICAST_LIDS:
            raise self._error(
                number, f"is node {len(self._names) + 1:,} of a subnet of {MAX_UNICAST_LIDS:,} LIDs", ""
            )
        self._row[name] = len(self._names)
        self._names.append(name)
        self._switch.append(node[1] == "Switch")
        self._ports.append(ports)
        self._guid.append(guid)

    def _add_port(self, number: int, port: re.Match[str]) -> None:
        end = (len(self._names) - 1, int(port[1]))
        if end in self._ends or not 1 <= end[1] <= self._ports[-1]:
            raise self._error(
                number, f"needs a port of 1 to {self._ports[-1]} that has no cable yet", port[0]
            )
        self._ends[end] = (port[2], int(port[3]), number)

    def _links(self) -> tuple[NDArray[np.int32], NDArray[np.int16]]:
        nodes, ports = [], []
        for (row, port), (name, far_port, number) in self._ends.items():
            far = self._row.get(name, -1)
            if self._ends.get((far, far_port), ("", 0, 0))[:2] != (self._names[row], port):
                raise self._error(
                    number, "is not what stands at the other end of the cable", f'"{name}"[{far_port}]'
                )
            if (row, port) < (far, far_port):
                nodes.append((row, far))
                ports.append((port, far_port))
        return np.array(nodes, np.int32).reshape(-1, 2), np.array(ports, np.int16).reshape(-1, 2)

    def _error(self, number: int, what: str, found: str) -> InputError:
        shown = f' (found "{printable(found)}")' if found else ""
        return InputError(
            f"{self._file}:{number}: {what}{shown}; allowed are switchguid= and caguid= lines, Switch and Hca headers and "
            "port lines of ibsim; write the file with gpufabric lab ib -o"
        )
