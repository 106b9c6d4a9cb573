"""``ethtool -S``, SONiC ``show interfaces counters`` and ``mlxlink`` → :class:`LinkCounters`.

Counter names of ethtool are those of the mlx5 driver
(https://docs.kernel.org/networking/device_drivers/ethernet/mellanox/mlx5/counters.html),
columns those of the SONiC Command Reference (https://github.com/sonic-net/sonic-utilities), fields those of mlxlink's user guide
(https://docs.nvidia.com/networking/display/mftv4300/mlxlink+utility).
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import BinaryIO

from gpufabric.formats.clean_text import by_node, read_clean
from gpufabric.formats.counter_rows import CounterRows
from gpufabric.formats.lldp_rows import device_of_file
from gpufabric.records.link_counters import LinkCounters
from gpufabric.units import parse_time

_MAX_LINE = 4096
_ETHTOOL_CALL = re.compile(
    r"(?:\s*\[?(?:[\w-]{1,32}@)?([A-Za-z][\w.-]{0,252})[^#$>]{0,60}[#$>]\s*)?(?:sudo\s+)?ethtool\s+(?:-S|--statistics)\s+"
    r"([\w.@-]{1,64})\s*"
)
_ETHTOOL_HEAD = re.compile(r"\s*NIC statistics:\s*", re.IGNORECASE)
_ETHTOOL_VALUE = re.compile(r"\s*([A-Za-z0-9_.\[\] -]{1,80}):\s*(-?\d{1,20})\s*")
_SONIC_HEAD = re.compile(r"\s*IFACE\s+STATE\s+RX_OK\b.*", re.IGNORECASE)
_SONIC_PROMPT = re.compile(
    r"\s*(?:[\w-]{1,32}@)?([A-Za-z][\w.-]{0,252})[^#$>]{0,60}[#$>]\s*show\s+int\w*\s+count\w*.*"
)
_SONIC_QUIET = re.compile(r"\s*(?:-[-\s]*|Last cached time was.*)")
_UNIT = {"/s", "B/s", "KB/s", "MB/s", "GB/s", "b/s", "Kb/s", "Mb/s", "Gb/s"}
_MLXLINK_FIELD = re.compile(r"\s*([A-Za-z][\w /()\[\]-]{1,60}?)\s*:\s*(.*?)\s*")
_MLXLINK_CALL = re.compile(r".{0,200}\bmlxlink\b.*\s-d\s*([\w.:/-]{1,64}).*")
_MLXLINK_HEADING = re.compile(r"\s*(?:Tool Information|[A-Z][\w &/-]{2,60} Info)\s*")


def read_ethtool_statistics(source: str | Path | BinaryIO, name: str = "", device: str = "") -> LinkCounters:
    """Read the output of ``ethtool -S``, also of several interfaces and hosts one after the other.

    Parameters
    ----------
    source, name
        As other readers have them.
    device
        Whose interfaces these are; default: labels in front of the lines, else the name of the file.

    Raises
    ------
    InputError
        When the file can't be opened or read. What is in it never raises.
    """
    text = read_clean(source, name)
    rows = CounterRows(text, "ethtool -S")
    for node, lines in by_node(text.lines).items():
        host, interface = node or device or device_of_file(text.name), "?"
        values: dict[str, float] | None = None
        for line in lines:
            content = line.text[:_MAX_LINE]
            call = _ETHTOOL_CALL.fullmatch(content) if "ethtool" in content else None
            found = _ETHTOOL_VALUE.fullmatch(content)
            if call is not None:
                host, interface, values = call[1] or host, call[2], None
            elif _ETHTOOL_HEAD.fullmatch(content):
                values = rows.port(host, interface, line.number)
            elif found is not None and values is not None:
                rows.put(values, found[1], found[2])
            elif content.strip():
                rows.miss(line.number)
    return rows.finish()


def read_sonic_counters(source: str | Path | BinaryIO, name: str = "", device: str = "") -> LinkCounters:
    """Read the table of SONiC's ``show interfaces counters``.

    Parameters
    ----------
    source, name
        As other readers have them.
    device
        Whose table it is; default: the prompt before the command, labels in front of the lines, else the name of the file.

    Raises
    ------
    InputError
        When the file can't be opened or read. What is in it never raises.
    """
    text = read_clean(source, name)
    rows = CounterRows(text, "show interfaces counters")
    for node, lines in by_node(text.lines).items():
        switch, columns = node or device or device_of_file(text.name), []
        for line in lines:
            content = line.text[:_MAX_LINE]
            prompt = _SONIC_PROMPT.fullmatch(content)
            if prompt is not None:
                switch = prompt[1]
            elif _SONIC_HEAD.fullmatch(content):
                columns = content.split()
            elif content.strip() and not _SONIC_QUIET.fullmatch(content):
                cells = [cell for cell in content.split() if cell not in _UNIT]
                if not columns or len(cells) != len(columns):
                    rows.miss(line.number)
                    continue
                values = rows.port(switch, cells[0], line.number)
                for title, cell in zip(columns[2:], cells[2:], strict=True):
                    rows.put(values, title, cell)
    return rows.finish()


def read_mlxlink(source: str | Path | BinaryIO, name: str = "", device: str = "") -> LinkCounters:
    """Read the output of ``mlxlink -d DEVICE -c``.

    Parameters
    ----------
    source, name
        As other readers have them.
    device
        Whose port it is; default: labels in front of the lines, else the name of the file.

    Raises
    ------
    InputError
        When the file can't be opened or read. What is in it never raises.
    """
    text = read_clean(source, name)
    rows = CounterRows(text, "mlxlink")
    for node, lines in by_node(text.lines).items():
        host, adapter = node or device or device_of_file(text.name), "?"
        for line in lines:
            content = line.text[:_MAX_LINE]
            call, found = _MLXLINK_CALL.fullmatch(content), _MLXLINK_FIELD.fullmatch(content)
            if call is not None:
                adapter = call[1]
            elif found is not None:
                values = rows.port(host, adapter, line.number)
                if found[1].startswith("Time Since Last Clear") and re.fullmatch(
                    r"\d{1,9}(?:\.\d{1,6})?", found[2]
                ):
                    values["since_clear_s"] = float(found[2]) * parse_time("1 min")
                elif found[2]:
                    rows.put(values, found[1], found[2])
            elif (
                content.strip()
                and not _MLXLINK_HEADING.fullmatch(content)
                and set(content.strip()) - set("-=")
            ):
                rows.miss(line.number)
    return rows.finish()
