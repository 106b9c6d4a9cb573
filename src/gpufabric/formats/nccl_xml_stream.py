"""XML text of strangers → elements with their line and place, as far as it is well formed.

Entities and document types are refused, so a bomb stays a few bytes; depth, attributes and elements are bounded. Text between
elements is ignored, as NCCL's own reader does.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from xml.sax import SAXParseException
from xml.sax.handler import ContentHandler  # the base class only; the parser is defusedxml's
from xml.sax.xmlreader import AttributesImpl

import defusedxml.sax
from defusedxml.common import DefusedXmlException

from gpufabric.formats.clean_text import CleanText
from gpufabric.formats.read_notes import ReadNotes

MAX_ELEMENTS = 200_000
MAX_DEPTH = 64
_MAX_VALUE = 4096
_NUMBER = re.compile(r"-?\d{1,18}")


@dataclass(frozen=True, slots=True)
class Element:
    """An opened element: its name, attributes, line, and the names of the elements around it, outermost first."""

    name: str
    attributes: Mapping[str, str]
    line: int
    around: tuple[str, ...]

    def text(self, key: str) -> str:
        """Return an attribute as text; empty when it is not there."""
        return self.attributes.get(key, "")

    def number(self, *keys: str) -> int:
        """Return the first of some attributes that is a whole number (0x… too); -1 when none is."""
        for key in keys:
            value = self.attributes.get(key, "").strip()
            if _NUMBER.fullmatch(value):
                return int(value)
            if re.fullmatch(r"0[xX][0-9a-fA-F]{1,16}", value):
                return int(value, 16)
        return -1

    def yes(self, key: str) -> bool | None:
        """Return whether a 0/1 attribute is 1; None when it is not there."""
        value = self.attributes.get(key)
        return None if value is None else value.strip() not in {"0", ""}


class _TooMuchError(Exception):
    pass


class _Handler(ContentHandler):
    def __init__(
        self, opened: Callable[[Element], None], closed: Callable[[str], None], lines: list[int]
    ) -> None:
        super().__init__()
        self._opened = opened
        self._closed = closed
        self._lines = lines
        self._around: list[str] = []
        self._count = 0

    def startElement(self, name: str, attrs: AttributesImpl) -> None:  # noqa: N802 - the name is SAX's
        self._count += 1
        if self._count > MAX_ELEMENTS:
            raise _TooMuchError(f"it has more than {MAX_ELEMENTS:,} elements")
        if len(self._around) >= MAX_DEPTH:
            raise _TooMuchError(f"its elements are nested more than {MAX_DEPTH} deep")
        values = {str(key)[:64]: str(value)[:_MAX_VALUE] for key, value in attrs.items()}
        self._opened(Element(name, values, self.line(), tuple(self._around)))
        self._around.append(name)

    def endElement(self, name: str) -> None:  # noqa: N802 - the name is SAX's
        self._around.pop()
        self._closed(name)

    def line(self) -> int:
        """Return the line of the file that the parser is at."""
        number = self._locator.getLineNumber() if self._locator is not None else 1  # type: ignore[attr-defined]
        return self._lines[min(max(number or 1, 1), len(self._lines)) - 1]


def read_elements(
    text: CleanText, notes: ReadNotes, opened: Callable[[Element], None], closed: Callable[[str], None]
) -> bool:
    """Call *opened* and *closed* for each element; return False when the XML breaks off or is refused.

    What stands before the first ``<`` is not XML and is counted as not understood.
    """
    lines = list(text.lines)
    while lines and not lines[0].text.lstrip().startswith("<"):
        first = lines.pop(0)
        if first.text.strip():
            notes.missed(first.number, len(first.text))
    if not lines:
        notes.cut(text.lines_read, "there is no XML element in it")
        return False
    handler = _Handler(opened, closed, [line.number for line in lines])
    data = "\n".join(line.text for line in lines).encode("utf-8", "replace")
    try:
        defusedxml.sax.parseString(data, handler, forbid_dtd=True)
    except DefusedXmlException:
        why = "the XML has a document type or entities, which no NCCL file has; it was not read further"
        notes.add("input-contradiction", "error", handler.line(), why, fix="give the file as NCCL wrote it")
        return False
    except _TooMuchError as error:
        notes.add("input-contradiction", "error", handler.line(), f"{error}; it was not read further")
        return False
    except SAXParseException as error:
        notes.cut(handler.line(), f"the XML breaks off or is not well formed ({error.getMessage()[:80]})")
        return False
    except (ValueError, LookupError):
        notes.cut(handler.line(), "the XML has bytes that can't be read; it was not read further")
        return False
    return True
