"""InfiniBand nodes and ports, known by GUID, as several tools print them → rows of a found fabric.

Adapters that name the same host become ports of one server. Nodes inside switches (aggregation nodes of in-network reduction) are
counted and left out. Descriptions of nodes are free text; the usual ones are ``<host> <device>`` for adapters, set by rdma-ndd
(manual page rdma-ndd(8) of rdma-core, format ``%h %d``), and ``MF0;<name>:<model>/U1`` for managed switches.
"""

from __future__ import annotations

import math
import re
from array import array
from collections import defaultdict

import numpy as np

from gpufabric.errors import printable
from gpufabric.formats.found_rows import MAX_ENDS, FoundRows
from gpufabric.records.cluster import UNKNOWN, DeviceKind
from gpufabric.records.found_fabric import FoundFabric, PortState
from gpufabric.units import parse_rate

NO_GUID = 1 << 64
"""Keys of nodes from here on are LIDs: the file does not tell the GUID."""
_MAX_NAME = 128  # a node description has 64 bytes
_MOST_ADAPTER_PORTS = 2
AGGREGATION_NODE = "aggregation node"
_MANAGED_SWITCH = re.compile(r"MF0;\s*(.*):([^:/]*)((?:/[A-Z]\d{1,3}){0,3})/U(\d{1,3})")
_ADAPTER_NAME = re.compile(
    r"(\S.*?)\s+((?:HCA-?\d|mlx\d_|mlx5|ib[ps]?\d|roce|rocep|hfi1_|qib\d|bnxt_re|ibp|irdma)\S*)",
    re.IGNORECASE,
)
_FACTORY_NAME = re.compile(
    r"|localhost.*|\(?none\)?|unknown|.*\b(?:Mellanox|NVIDIA|Infiniscale|SwitchX|ConnectX|Quantum|MT\d{4,6}).*",
    re.IGNORECASE,
)
LANE_RATE = {
    # nominal rates of one lane as the links are sold: 4x of them is 10, 20, 40, 40, 56, 100, 200, 400, 800 Gb/s
    # (https://infiniband.jp/2022/06/01/infiband-%E8%A6%8F%E6%A0%BC/ up to NDR, "InfiniBand Types and Speeds" for FDR10,
    # https://www.advancedclustering.com/act_kb/infiniband-types-speeds/, both read 2026-12-01)
    "SDR": parse_rate("2.5 Gb/s"),
    "DDR": parse_rate("5 Gb/s"),
    "QDR": parse_rate("10 Gb/s"),
    "FDR10": parse_rate("10 Gb/s"),
    "FDR": parse_rate("14 Gb/s"),
    "EDR": parse_rate("25 Gb/s"),
    "HDR": parse_rate("50 Gb/s"),
    "NDR": parse_rate("100 Gb/s"),
    "XDR": parse_rate("200 Gb/s"),
}
# What tools print is the signalling rate with its line coding, sometimes rounded.
_SIGNALLING_GBPS = {
    2.5: "SDR",
    5.0: "DDR",
    10.0: "QDR",
    10.3125: "FDR10",
    14.0625: "FDR",
    25.78125: "EDR",
    53.125: "HDR",
    106.25: "NDR",
    212.5: "XDR",
}
_ROUNDING = 0.01
_RATE = re.compile(r"(1|2|4|8|12)\s*x\s*([A-Z]{3}(?:10)?)", re.IGNORECASE)
_LANE_GBPS = re.compile(
    r"(1|2|4|8|12)\s*x\s*(\d{1,4}(?:\.\d{1,6})?)\s*(?:Gb/s|Gbps)?(?:\s*\(FDR10\))?", re.IGNORECASE
)


def width_rate(told: tuple[int, str] | None) -> float:
    """Return the nominal bytes/s of a width and a generation; NaN where they are unknown."""
    return told[0] * LANE_RATE[told[1]] if told else float("nan")


def width_and_speed(text: str) -> tuple[int, str] | None:
    """Return width and generation, such as (4, "NDR"), of what tools print of a link; None where it is not known.

    Signalling rates of a lane carry the line coding; they are given the generation that they belong to.
    """
    found = _RATE.fullmatch(text.strip())
    if found is not None:
        return (int(found[1]), found[2].upper()) if found[2].upper() in LANE_RATE else None
    found = _LANE_GBPS.fullmatch(text.strip())
    if found is None:
        return None
    lane = float(found[2])
    nearest = min(_SIGNALLING_GBPS, key=lambda gbps: abs(gbps - lane))
    close = abs(nearest - lane) <= _ROUNDING * nearest
    return (int(found[1]), _SIGNALLING_GBPS[nearest]) if close else None


def node_kind(name: str, is_switch: bool) -> int | None:
    """Return the device kind of a node; None for what is no device of its own."""
    if is_switch:
        return DeviceKind.SWITCH
    return None if "aggregation node" in name.lower() else DeviceKind.SERVER


class InfinibandNodes:
    """Nodes by GUID, with their numbered ports, until all names are known."""

    def __init__(self) -> None:
        self.rows = FoundRows("infiniband")
        self._node: dict[int, int] = {}
        self._name: list[str] = []
        self._switch, self._line = array("b"), array("q")
        self._guid, self._lid, self._named = array("Q"), array("i"), array("b")
        self._port: dict[int, int] = {}
        self._port_node, self._port_number = array("i"), array("i")
        self._rate, self._state = array("d"), array("b")
        self._ends: list[array[int]] = [array("i"), array("i"), array("q")]
        self._end_rate = array("d")
        self._speed: dict[int, tuple[int, str]] = {}

    @property
    def full(self) -> bool:
        """Whether no more rows are taken."""
        return max(len(self._port), len(self._node), len(self._end_rate)) >= MAX_ENDS

    @property
    def counts(self) -> tuple[int, int]:
        """How many nodes and link ends there are so far."""
        return len(self._node), len(self._end_rate)

    def add_node(self, key: int, is_switch: bool | None, name: str, line: int, own: bool = False) -> int:
        """Return the row of a node.

        *key* is its GUID, or :data:`NO_GUID` plus its LID. *is_switch* is None where the file does not say it: then a node
        with a port above 2 is one. *own* says that this is its own record, whose name counts more than what others call it.
        """
        row = self._node.setdefault(key, len(self._name))
        if row == len(self._name):
            self._name.append(name[:_MAX_NAME])
            self._guid.append(key if key < NO_GUID else 0)
            self._lid.append(max(key - NO_GUID, 0))
            self._switch.append(UNKNOWN if is_switch is None else is_switch)
            self._line.append(line)
            self._named.append(own)
        elif (own and not self._named[row]) or not self._name[row]:
            self._name[row] = name[:_MAX_NAME] or self._name[row]
            if own:
                self._line[row] = line
                self._named[row] = True
                self._switch[row] = UNKNOWN if is_switch is None else is_switch
        elif own:
            self.rows.note(
                "found-duplicate-name",
                "warning",
                line,
                f"node {self._id(row)} is described twice",
                "check whether two devices have one GUID, or whether outputs were joined",
            )
        return row

    def add_port(self, node: int, number: int) -> int:
        """Return the row of a port."""
        row = self._port.setdefault(node << 8 | number, len(self._port_node))
        if row == len(self._port_node):
            self._port_node.append(node)
            self._port_number.append(number)
            self._rate.append(np.nan)
            self._state.append(PortState.UNKNOWN)
        return row

    def set_port(self, port: int, rate: float, state: int = PortState.UNKNOWN) -> None:
        """Note what a port says of itself."""
        if not math.isnan(rate):
            self._rate[port] = rate
        if state != PortState.UNKNOWN:
            self._state[port] = state

    def set_speed(self, port: int, text: str) -> float:
        """Note width and generation of the link at a port, as a tool prints them; return their bytes/s, NaN where unknown."""
        told = width_and_speed(text)
        if told is not None:
            self._speed[port] = told
        return width_rate(told)

    def add_end(self, port: int, far: int, line: int, rate: float) -> None:
        """Note that *port* is told to be linked with *far*."""
        self._ends[0].append(port)
        self._ends[1].append(far)
        self._ends[2].append(line)
        self._end_rate.append(rate)

    def finish(self) -> FoundFabric:
        """Name all devices and ports, and return the fabric."""
        self._settle_kinds()
        device, port_prefix = self._devices()
        port_row = np.full(len(self._port_node), -1, np.int64)
        recorded = any(self._named)
        for port, (node, number) in enumerate(zip(self._port_node, self._port_number, strict=True)):
            if device[node] < 0:
                continue
            switch = self._switch[node]
            name = str(number) if switch else f"{port_prefix[node]}/{number}"
            row = self.rows.add_port(device[node], name, number, 0 if switch else self._guid[node])
            if self._named[node] or not recorded or self._state[port] != PortState.UNKNOWN:
                self.rows.set_port(row, self._rate[port], self._state[port])
            if port in self._speed:
                self.rows.set_speed(row, self._speed[port])
            port_row[port] = row
        for port, far, line, rate in zip(*self._ends, self._end_rate, strict=True):
            if port_row[port] >= 0 and port_row[far] >= 0:
                self.rows.add_end(int(port_row[port]), int(port_row[far]), line, rate)
        return self.rows.finish()

    def _settle_kinds(self) -> None:
        kind = np.array(self._switch, np.int8)
        if not (kind == UNKNOWN).any():
            return
        highest = np.zeros(len(kind), np.int64)
        np.maximum.at(highest, np.array(self._port_node, np.int64), np.array(self._port_number, np.int64))
        managed = np.array([name.startswith("MF0;") for name in self._name], np.bool_)
        kind = np.where(kind == UNKNOWN, managed | (highest > _MOST_ADAPTER_PORTS), kind)
        self._switch = array("b", kind.astype(np.int8).tobytes())

    def _devices(self) -> tuple[list[int], list[str]]:
        """Return the device of each node, -1 for those left out, and what its ports' names begin with."""
        hosts = [self._host(row) if not switch else ("", "") for row, switch in enumerate(self._switch)]
        twice = self._repeated_hosts(hosts)
        switch_names = self._switch_names()
        device, prefix = [], []
        for row, name in enumerate(self._name):
            kind = node_kind(name, bool(self._switch[row]))
            guid, line = self._guid[row], self._line[row]
            host, adapter = hosts[row]
            prefix.append(adapter or self._id(row))
            if kind is None:
                self.rows.left_out[AGGREGATION_NODE] = self.rows.left_out.get(AGGREGATION_NODE, 0) + 1
                device.append(UNKNOWN)
            elif kind == DeviceKind.SWITCH:
                shown, model = switch_names[row]
                device.append(self.rows.add_device(row, shown, kind, line, guid, model))
            elif host and row not in twice:
                device.append(self.rows.add_device(host.lower(), host, kind, line))
            else:
                shown = f"{host} ({self._id(row)})" if host else self._id(row)
                device.append(self.rows.add_device(row, shown, kind, line, model=name))
        return device, prefix

    def _id(self, row: int) -> str:
        return f"0x{self._guid[row]:016x}" if self._guid[row] else f"lid {self._lid[row]}"

    def _host(self, row: int) -> tuple[str, str]:
        """Return the host and the adapter that a node description names; empty where it does not."""
        name = self._name[row].strip()
        if _FACTORY_NAME.fullmatch(name):
            return "", ""
        found = _ADAPTER_NAME.fullmatch(name)
        return (found[1], found[2]) if found else (name, "")

    def _repeated_hosts(self, hosts: list[tuple[str, str]]) -> set[int]:
        """Return the nodes whose host and adapter another node has too: two servers of one name."""
        users: dict[tuple[str, str], list[int]] = defaultdict(list)
        for row, (host, adapter) in enumerate(hosts):
            if host and adapter:
                users[host.lower(), adapter.lower()].append(row)
        repeated: set[int] = set()
        for (host, adapter), rows in users.items():
            if len(rows) > 1:
                repeated.update(rows)
                self._tell_twice(f"{host} {adapter}", rows)
        return repeated

    def _switch_names(self) -> dict[int, tuple[str, str]]:
        """Return name and model of each switch; names that several have are told apart by board, chip or GUID."""
        named: dict[int, tuple[str, str, str]] = {}
        for row in np.flatnonzero(np.array(self._switch, np.int8)).tolist():
            text = self._name[row].strip()
            found = _MANAGED_SWITCH.fullmatch(text)
            if found is not None and found[1].strip():
                named[row] = (found[1].strip(), found[2], f"{found[3]}/U{found[4]}")
            elif _FACTORY_NAME.fullmatch(text):
                named[row] = (self._id(row), text, "")
            else:
                named[row] = (text, "", "")
        same: dict[str, list[int]] = defaultdict(list)
        for row, (name, _, _) in named.items():
            same[name.lower()].append(row)
        out = {}
        for rows in same.values():
            places = {named[row][2] for row in rows}
            for row in rows:
                name, model, place = named[row]
                if len(rows) > 1:
                    name += place if len(places) == len(rows) else f" ({self._id(row)})"
                out[row] = (name, model)
            if len(rows) > 1 and len(places) < len(rows):
                self._tell_twice(named[rows[0]][0], rows)
        return out

    def _tell_twice(self, name: str, rows: list[int]) -> None:
        from_text = ", ".join(self._id(row) for row in rows[:4])
        self.rows.note(
            "found-duplicate-name",
            "warning",
            self._line[rows[-1]],
            f'{len(rows)} nodes are called "{printable(name)}" ({from_text}{", …" if len(rows) > 4 else ""})',
            "give every device a name of its own; until then they are told apart by GUID",
        )
