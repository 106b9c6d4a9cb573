"""YAML text of a description → tree of :class:`Node`, each with the line that it stands on.

Read by the rules of YAML 1.2 (core schema): ``2:1`` and ``on`` are text, ``012`` is 12. The text may come
from a stranger, so its size, depth, node count (aliases counted as often as they are used) and number
lengths are bounded, and tags are refused.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml import events as ev
from ruamel.yaml.error import MarkedYAMLError, YAMLError

from gpufabric.errors import InputError, SpecError, printable
from gpufabric.formats.open_input import open_input

MAX_FILE_BYTES = 2**20
MAX_NODES = 100_000
MAX_DEPTH = 32
MAX_DIGITS = 400

_INT = re.compile(r"[-+]?[0-9]+")
_OCTAL_OR_HEX = re.compile(r"0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_SPECIAL_FLOAT = re.compile(r"([-+]?)\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)")
_WORDS: dict[str, bool | None] = {
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
    **dict.fromkeys(("null", "Null", "NULL", "~", ""), None),
}
_FORBIDDEN = re.compile(
    "[^\t\n\r\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]"
)

Scalar = str | int | float | bool | None


@dataclass(frozen=True, slots=True)
class Node:
    """A value of a description and where it stands.

    ``size`` and ``depth`` count the nodes below it and the levels, aliases expanded. ``key_lines`` holds the
    place of each key of a mapping.
    """

    value: Scalar | list[Node] | dict[str, Node]
    where: str
    line: int
    key_lines: dict[str, Node]
    size: int = 1
    depth: int = 1

    @property
    def place(self) -> str:
        """``file:line`` as messages print it."""
        return f"{self.where}:{self.line}"

    def plain(self) -> Any:
        """Return the value as plain Python data."""
        if isinstance(self.value, dict):
            return {key: child.plain() for key, child in self.value.items()}
        if isinstance(self.value, list):
            return [child.plain() for child in self.value]
        return self.value

    def get(self, *path: str) -> Node | None:
        """Return the node under the keys *path*, or None where one is missing."""
        node: Node | None = self
        for key in path:
            if node is None or not isinstance(node.value, dict):
                return None
            node = node.value.get(key)
        return node


def label(path: Path | str) -> str:
    """Return how messages name the file *path*."""
    return "standard input" if str(path) == "-" else printable(str(path), 200)


def read_text(path: Path | str) -> str:
    """Return the text of a description file; ``-`` is standard input.

    Raises
    ------
    InputError
        The file is missing, a folder, unreadable, longer than 1 MiB, or not UTF-8.
    """
    where = label(path)
    try:
        if str(path) == "-":
            data = sys.stdin.buffer.read(MAX_FILE_BYTES + 1)
        else:
            with open_input(path) as file:
                data = file.read(MAX_FILE_BYTES + 1)
    except FileNotFoundError:
        raise InputError(f"{where}: no such file; give the path of a description in YAML") from None
    except IsADirectoryError:
        raise InputError(f"{where}: is a folder; give the path of a description in YAML") from None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else "not a usable path"
        raise InputError(
            f"{where}: can't be read ({reason}); give the path of a description in YAML"
        ) from None
    if len(data) > MAX_FILE_BYTES:
        raise InputError(f"{where}: is larger than 1 MiB; a description has at most 1 MiB")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise SpecError(f"{where}:{line}: is not UTF-8 text; save the file as UTF-8") from None


def parse_nodes(text: str, where: str) -> Node:
    """Return the tree of the YAML mapping in *text*.

    Parameters
    ----------
    text
        One YAML document that is a mapping.
    where
        How messages name the source; made printable here.

    Raises
    ------
    SpecError
        Not valid YAML, or over one of the bounds, with file and line.
    """
    where = printable(where, 200)
    if len(text) > MAX_FILE_BYTES:
        raise SpecError(f"{where}: is larger than 1 MiB; a description has at most 1 MiB")
    text = text.removeprefix("\ufeff")
    bad = _FORBIDDEN.search(text)
    if bad is not None:
        line = text.count("\n", 0, bad.start()) + 1
        raise SpecError(
            f"{where}:{line}: holds the character U+{ord(bad.group()):04X}, which YAML forbids; remove it"
        )
    try:
        root = _Composer(where).compose(text)
    except MarkedYAMLError as error:
        raise _syntax_error(error, where) from None
    except InputError:
        raise
    except (YAMLError, AssertionError, ValueError) as error:
        raise SpecError(f"{where}: is not valid YAML ({printable(str(error))}); check the file") from None
    if root is None:
        raise SpecError(f"{where}: is empty; write a mapping of keys, beginning with name: …")
    if not isinstance(root.value, dict):
        raise SpecError(f"{root.place}: is not a mapping; write a mapping of keys, such as name: …")
    return root


def _syntax_error(error: MarkedYAMLError, where: str) -> SpecError:
    mark = error.problem_mark or error.context_mark
    place = where if mark is None else f"{where}:{mark.line + 1}"
    what = printable(" ".join(str(error.problem or error.context or "unreadable").split()), 120)
    hint = (
        "indent with blanks, not tabs"
        if "'\\t'" in what
        else "check the indentation, colons, brackets and quotes there"
    )
    return SpecError(f"{place}: is not valid YAML ({what}); {hint}")


class _Composer:
    """Builds the tree from parser events, so that bounds hold before memory is spent."""

    def __init__(self, where: str) -> None:
        self.where = where
        self.anchors: dict[str, Node] = {}
        self.nodes = 0
        self.events: Iterator[Any] = iter(())

    def compose(self, text: str) -> Node | None:
        root: Node | None = None
        self.events = YAML(typ="safe", pure=True).parse(text)
        for event in self.events:
            if isinstance(event, ev.DocumentStartEvent):
                line = event.start_mark.line + 1
                if event.version not in (None, (1, 2)):
                    raise SpecError(
                        f"{self.where}:{line}: asks for another YAML version; remove the line %YAML"
                    )
                if root is not None:
                    raise SpecError(
                        f"{self.where}:{line}: begins a second document; a description is one document"
                    )
                root = self.node(next(self.events), 1)
        return root

    def fail(self, event: Any, message: str) -> SpecError:
        return SpecError(f"{self.where}:{event.start_mark.line + 1}: {message}")

    def count(self, event: Any, size: int) -> None:
        self.nodes += size
        if self.nodes > MAX_NODES:
            raise self.fail(
                event,
                f"has more than {MAX_NODES:,} values, aliases counted as often as used; write a smaller one",
            )

    def node(self, event: Any, depth: int) -> Node:
        if depth > MAX_DEPTH:
            raise self.fail(event, f"is nested deeper than {MAX_DEPTH} levels; write it flatter")
        if isinstance(event, ev.AliasEvent):
            return self.alias(event, depth)
        self.count(event, 1)
        if event.tag is not None:
            raise self.fail(event, f'has the tag "{printable(event.tag)}"; tags are not read, remove it')
        line = event.start_mark.line + 1
        if isinstance(event, ev.ScalarEvent):
            value = self.scalar(event) if event.implicit[0] else event.value
            node = Node(value, self.where, line, {})
        elif isinstance(event, ev.SequenceStartEvent):
            node = self.sequence(line, depth)
        else:
            node = self.mapping(line, depth)
        if event.anchor is not None:
            self.anchors[event.anchor] = node
        return node

    def alias(self, event: Any, depth: int) -> Node:
        target = self.anchors.get(event.anchor)
        if target is None:
            raise self.fail(
                event,
                f'refers to "*{printable(event.anchor)}", which is not complete above it; define it before',
            )
        self.count(event, target.size)
        if depth + target.depth - 1 > MAX_DEPTH:
            raise self.fail(event, f"is nested deeper than {MAX_DEPTH} levels; write it flatter")
        return target

    def sequence(self, line: int, depth: int) -> Node:
        items = []
        while not isinstance(event := next(self.events), ev.SequenceEndEvent):
            items.append(self.node(event, depth + 1))
        return _collection(items, items, Node(items, self.where, line, {}))

    def mapping(self, line: int, depth: int) -> Node:
        values: dict[str, Node] = {}
        keys: dict[str, Node] = {}
        while not isinstance(event := next(self.events), ev.MappingEndEvent):
            if not isinstance(event, ev.ScalarEvent) or event.tag is not None:
                raise self.fail(event, "has a key that is not a word; write keys as plain words")
            self.count(event, 1)
            key, key_line = str(event.value), event.start_mark.line + 1
            if key in keys:
                both = f"{keys[key].line} and {key_line}"
                raise self.fail(event, f'key "{printable(key)}" stands on lines {both}; remove one of them')
            keys[key] = Node(key, self.where, key_line, {})
            values[key] = self.node(next(self.events), depth + 1)
        return _collection(values, values.values(), Node(values, self.where, line, keys))

    def scalar(self, event: Any) -> Scalar:
        text = str(event.value)
        if text in _WORDS:
            return _WORDS[text]
        if len(text) > MAX_DIGITS and (_INT.fullmatch(text) or _OCTAL_OR_HEX.fullmatch(text)):
            raise self.fail(
                event, f"holds a number of {len(text)} digits; write a number of at most {MAX_DIGITS}"
            )
        if _INT.fullmatch(text):
            return int(text)
        if _OCTAL_OR_HEX.fullmatch(text):
            return int(text, 0)
        special = _SPECIAL_FLOAT.fullmatch(text)
        if special is not None:
            return float(text.replace(".", ""))
        return float(text) if _FLOAT.fullmatch(text) else text


def _collection(value: list[Node] | dict[str, Node], children: Any, node: Node) -> Node:
    size, depth = 1, 0
    for child in children:
        size += child.size
        depth = max(depth, child.depth)
    return replace(node, value=value, size=size, depth=depth + 1)
