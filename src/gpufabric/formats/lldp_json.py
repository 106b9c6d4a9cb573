"""``lldpcli show neighbors -f json`` (and ``json0``, and ``lldpctl -f json``) → :class:`FoundFabric`.

In the form ``json`` one interface is an object and several are a list, a chassis is keyed by its system name or, without one,
stands there itself; ``json0`` has lists everywhere and fixed keys. Manual page lldpcli(8) of lldpd
(https://lldpd.github.io/usage.html).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO

from gpufabric.errors import printable
from gpufabric.formats.clean_text import MAX_TEXT_CHARS, CleanLine, CleanText, by_node, read_clean
from gpufabric.formats.lldp_rows import LldpRows, Neighbour
from gpufabric.formats.open_input import open_input
from gpufabric.records.found_fabric import FoundFabric

_MAX_NEIGHBOURS = 100_000
_MAX_OBJECTS = 2_000_000


def read_lldp_json(source: str | Path | BinaryIO, name: str = "", device: str = "") -> FoundFabric:
    """Read what lldpd's tools print as JSON.

    Parameters
    ----------
    source
        Path of a plain or gzip file, ``-`` for standard input, or an open binary stream.
    name
        What findings call the file; default: the path.
    device
        Whose neighbours these are; default: what labels in front of the lines say, else the name of the file.

    Returns
    -------
    FoundFabric
        The local device and its neighbours; rates are unknown.

    Raises
    ------
    InputError
        When the file can't be opened or read. What is in it never raises.
    """
    whole = _whole(source)
    if whole is not None:
        text, document = whole
        lines = text.count("\n") + (text[-1:] != "\n")
        shown = printable(name or str(source), 300)
        rows = LldpRows(CleanText(shown, (CleanLine(lines, ""),)), "lldp json", device)
        _read_document(rows, "", document, _Place(text, range(1, lines + 1)))
        return rows.finish()
    clean = read_clean(source, name)
    rows = LldpRows(clean, "lldp json", device)
    for node, own in by_node(clean.lines).items():
        _read_node(rows, node, own)
    return rows.finish()


def _whole(source: str | Path | BinaryIO) -> tuple[str, Any] | None:
    """Return text and content of a file that is one JSON document and nothing else, which is by far the quickest to read.

    None for everything else: streams, packed files, several outputs, prompts and labels in front of the lines.
    """
    if not isinstance(source, str | Path) or not Path(source).is_file():
        return None
    try:
        with open_input(source) as stream:
            packed = stream.read(MAX_TEXT_CHARS + 1)
    except (OSError, ValueError):
        return None  # the other way says why
    if len(packed) > MAX_TEXT_CHARS or packed.lstrip()[:1] != b"{" or packed.count(b"{") > _MAX_OBJECTS:
        return None
    if packed.count(b"[") > _MAX_OBJECTS:
        return None
    try:
        text = packed.decode()
        return text, json.loads(text)
    except (ValueError, RecursionError):
        return None


def _read_node(rows: LldpRows, node: str, lines: tuple[CleanLine, ...]) -> None:
    begin = next((at for at, line in enumerate(lines) if line.text.lstrip()[:1] in ("{", "[")), len(lines))
    for line in lines[:begin]:
        prompt = rows.prompt(line.text)
        node = prompt or node
        if line.text.strip() and prompt is None:
            rows.miss(line.number)
    lines = lines[begin:]
    if not lines:
        return
    text = "\n".join(line.text for line in lines)
    try:
        document, end = json.JSONDecoder().raw_decode(text.lstrip())
    except (ValueError, RecursionError):
        for line in lines:
            if line.text.strip():
                rows.miss(line.number)
        return
    after = text.lstrip().count("\n", 0, end) + 1
    for line in lines[after:]:
        if line.text.strip() and rows.prompt(line.text) is None:
            rows.miss(line.number)
    _read_document(rows, node, document, _Place(text, [line.number for line in lines]))


def _read_document(rows: LldpRows, node: str, document: Any, place: _Place) -> None:
    root = document.get("lldp", document) if isinstance(document, dict) else document
    for count, (local, interface) in enumerate(_interfaces(root)):
        if count >= _MAX_NEIGHBOURS:
            rows.rows.note(
                "found-file-cut", "warning", place.last, f"more than {_MAX_NEIGHBOURS:,} neighbours"
            )
            return
        for neighbour in _neighbours(local, interface, place.of(local)):
            rows.add(neighbour, node)


class _Place:
    """Finds the line on which each interface's name stands, in the order of the file."""

    def __init__(self, text: str, numbers: Sequence[int]) -> None:
        self._text, self._numbers = text, numbers
        self._at = self._row = 0

    @property
    def last(self) -> int:
        """Number of the last line."""
        return self._numbers[-1]

    def of(self, local: str) -> int:
        """Return the line number of the next place where the interface is named."""
        at = self._text.find(json.dumps(local), self._at)
        if at >= 0:
            self._row += self._text.count("\n", self._at, at)
            self._at = at
        return self._numbers[min(self._row, len(self._numbers) - 1)]


def _many(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [] if value is None else [value]


def _interfaces(root: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    for part in _many(root):
        for entry in _many(part.get("interface") if isinstance(part, dict) else None):
            if not isinstance(entry, dict):
                continue
            if isinstance(entry.get("name"), str):  # json0
                yield entry["name"], entry
                continue
            for local, interfaces in entry.items():
                for interface in _many(interfaces):
                    if isinstance(interface, dict):
                        yield local, interface


def _text(value: Any) -> str:
    """Return the text of a field: a string, an object with a value, or a list of these."""
    first = next(iter(_many(value)), "")
    if isinstance(first, dict):
        first = first.get("value", "")
    return str(first) if isinstance(first, str | int | float) else ""


def _chassis(interface: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for chassis in _many(interface.get("chassis")):
        if not isinstance(chassis, dict):
            continue
        if "id" in chassis:
            yield _text(chassis.get("name")), chassis
            continue
        for system, inside in chassis.items():
            if isinstance(inside, dict):
                yield system, inside


def _neighbours(local: str, interface: dict[str, Any], line: int) -> Iterator[Neighbour]:
    port = next((p for p in _many(interface.get("port")) if isinstance(p, dict)), {})
    identity = next(iter(_many(port.get("id"))), None)
    port_type = identity.get("type") if isinstance(identity, dict) else ""
    for system, chassis in _chassis(interface):
        yield Neighbour(
            line,
            local,
            system,
            _text(chassis.get("id")),
            _text(identity),
            port_type == "mac",
            _text(port.get("descr")),
            _text(chassis.get("descr")),
        )
