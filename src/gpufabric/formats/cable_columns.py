"""The header of a cable list → which column holds what.

There is no standard for such lists. Columns are known by the words of their headers, in one row or in two (``Source`` above
``Device`` and ``Port``), or are told by the user.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from gpufabric.errors import InputError, did_you_mean, printable

FIELDS = ("a_device", "a_port", "b_device", "b_port", "rate", "rate_gbps", "cable_part", "a_rack", "b_rack")
_REQUIRED = FIELDS[:4]
_SIDES: tuple[dict[str, set[str]], ...] = (
    {
        "a": {"a", "source", "src", "from", "local", "near", "origin", "left"},
        "b": {
            "b",
            "z",
            "destination",
            "dest",
            "dst",
            "to",
            "remote",
            "far",
            "target",
            "right",
            "peer",
            "neighbor",
            "neighbour",
        },
    },
    {"a": {"server", "host", "node"}, "b": {"switch", "leaf", "tor"}},
    {"a": {"leaf", "tor"}, "b": {"spine"}},
)
_DEVICE = ("device", "hostname", "host", "node", "switch", "server", "equipment", "system", "element")
_PORT = ("port", "interface", "intf", "int", "nic", "termination", "if")
_RACK = ("rack", "cabinet")
_RATE = ("speed", "rate", "bandwidth")
#: Columns with these words hold something else of a device or port.
_NOT = {"type", "rack", "u", "position", "model", "vendor", "serial", "site", "room", "row", "lane", "cage", "transceiver",
        "optic", "optics", "label", "description", "part", "ip", "mac", "role", "location", "unit", "units", "kind", "id",
        "group", "pod", "notes", "manufacturer", "length", "color", "colour", "status"}  # fmt: skip


def told_columns(header: Sequence[str], told: Mapping[str, str], where: str) -> dict[str, int]:
    """Return the columns that the user names, such as ``a_device=Server``.

    Raises
    ------
    InputError
        If a field is unknown or the list has no such column.
    """
    known = {cell.strip().lower(): at for at, cell in reversed(list(enumerate(header)))}
    found = {}
    for field, title in told.items():
        if field not in FIELDS:
            raise InputError(
                f'{where}: column of "{printable(field)}" can\'t be told; allowed are {", ".join(FIELDS)}.'
                f"{did_you_mean(field, FIELDS)}"
            )
        at = known.get(title.strip().lower())
        if at is None:
            shown = ", ".join(printable(cell.strip(), 30) for cell in header if cell.strip()) or "none"
            raise InputError(
                f'{where}: there is no column "{printable(title)}" for {field}; columns are: {printable(shown, 300)}'
            )
        found[field] = at
    return found


def has_titles(header: Sequence[str], titles: Iterable[str]) -> bool:
    """Say whether a row has all these cells, whatever their case."""
    return {title.strip().lower() for title in titles} <= {cell.strip().lower() for cell in header}


def guessed_columns(header: Sequence[str], above: Sequence[str] = ()) -> dict[str, int]:
    """Return the columns by the words of their headers; *above* is a row of wider headings over them.

    Sides are told apart by words such as *from* and *to*, else by what stands there: servers and switches, leaves and spines.

    Returns
    -------
    dict of str to int
        Some of ``FIELDS``; all of the first four when the rows can be read as cables.
    """
    titles = [
        re.findall(r"[a-z]+", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", title).lower())
        for title in _joined(header, above)
    ]
    best: dict[str, int] = {}
    for sides in _SIDES:
        found: dict[str, int] = {}
        rank: dict[str, int] = {}
        for at, words in enumerate(titles):
            field, weight = _field(words, sides)
            if field and weight > rank.get(field, -1):
                found[field], rank[field] = at, weight
        if is_whole(found):
            return found
        best = best or found
    return best


def is_whole(columns: Mapping[str, int]) -> bool:
    """Say whether both ends of a cable are known; a device column alone may hold ``device:port``."""
    return all(field in columns for field in ("a_device", "b_device")) and len(set(columns.values())) == len(
        columns
    )


def has_ports(columns: Mapping[str, int]) -> bool:
    """Say whether ports have columns of their own."""
    return all(field in columns for field in _REQUIRED)


def _joined(header: Sequence[str], above: Sequence[str]) -> list[str]:
    if not above:
        return list(header)
    wide, out = "", []
    for at, cell in enumerate(header):
        wide = above[at].strip() if at < len(above) and above[at].strip() else wide
        out.append(f"{wide} {cell}")
    return out


def _field(words: list[str], sides: dict[str, set[str]]) -> tuple[str, int]:
    """Return the field that the words of a header mean, and how sure that is; an empty text for none."""
    rest = [word for word in words if word not in {"side", "end", "name", "no", "number"}]
    if {"cable", "part"} <= set(rest):
        return "cable_part", 1
    side = next((s for s in "ab" for word in rest if word in sides[s]), "")
    rest = [word for word in rest if word not in sides["a"] | sides["b"]]
    if any(word in _RATE for word in rest):
        return ("rate_gbps", 1) if {"gbps", "gb", "g"} & set(words) else ("rate", 1)
    if side and rest in ([word] for word in _RACK):
        return f"{side}_rack", 1
    if not side or set(rest) & _NOT:
        return "", 0
    port = any(word in _PORT for word in rest)
    device = any(word in _DEVICE for word in rest)
    if port:
        return f"{side}_port", 2 + (not device)
    if device:
        return f"{side}_device", 3
    if rest:
        return "", 0
    # ``side_a_name`` of NetBox is the port beside ``side_a_device``; "From" alone is the device.
    return (f"{side}_port", 1) if "name" in words else (f"{side}_device", 1)
