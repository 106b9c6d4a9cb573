"""Shapes and text → SVG elements: escaped, measured before they are placed, the same bytes for the same input."""

from __future__ import annotations

from dataclasses import dataclass, field
from html import escape

from gpufabric.errors import printable

_NARROW = frozenset("ijlIft.,:;'|!()[]·-/ ")
_WIDE = frozenset("mwMW@%×–—")
_MAX_TEXT = 200
MIN_FONT_PX = 11


@dataclass(frozen=True, slots=True)
class Rect:
    """An upright rectangle: left, top, width, height in px."""

    x: float
    y: float
    w: float
    h: float

    @property
    def right(self) -> float:
        """Right edge."""
        return self.x + self.w

    @property
    def bottom(self) -> float:
        """Lower edge."""
        return self.y + self.h

    @property
    def middle(self) -> float:
        """Horizontal middle."""
        return self.x + self.w / 2

    def overlaps(self, other: Rect) -> bool:
        """Whether the two share area."""
        apart = (
            self.right <= other.x or other.right <= self.x or self.bottom <= other.y or other.bottom <= self.y
        )
        return not apart


def text_width(text: str, size: float, bold: bool = False) -> float:
    """Return a width in px that *text* does not exceed in the usual sans-serif fonts at *size* px."""
    units = sum(_character_width(c) for c in text)
    return size * units * (1.08 if bold else 1.0)


def fitted(text: str, width: float, size: float, bold: bool = False) -> str:
    """Return *text* made printable, and shortened with an ellipsis until it fits *width* px."""
    text = printable(text, _MAX_TEXT)
    if text_width(text, size, bold) <= width:
        return text
    while text and text_width(text + "…", size, bold) > width:
        text = text[:-1]
    return f"{text.rstrip()}…" if text else ""


def _character_width(c: str) -> float:
    if c in _NARROW:
        return 0.36
    if c in _WIDE:
        return 0.94
    if not c.isascii() and c != "…":
        return 1.05
    return 0.72 if c.isupper() else 0.6


def number(value: float) -> str:
    """Return a coordinate with at most one decimal."""
    text = f"{value:.1f}"
    return text.removesuffix(".0")


@dataclass(slots=True)
class SvgElements:
    """Elements of a drawing in the order in which they are painted."""

    lines: list[str] = field(default_factory=list)

    def rect(self, place: Rect, style: str, radius: float = 6, hover: str = "") -> None:
        """Add a rectangle with rounded corners."""
        shape = (
            f'<rect class="{style}" x="{number(place.x)}" y="{number(place.y)}" width="{number(place.w)}" '
            f'height="{number(place.h)}" rx="{number(radius)}"'
        )
        self._add(shape, "rect", hover)

    def path(self, commands: str, style: str, width: float, hover: str = "") -> None:
        """Add an open line of *width* px."""
        self._add(f'<path class="{style}" d="{commands}" stroke-width="{number(width)}"', "path", hover)

    def text(self, x: float, y: float, text: str, style: str, size: float = 12) -> None:
        """Add one line of text; *style* may hold ``middle`` or ``end`` for its anchor."""
        safe = escape(printable(text, _MAX_TEXT))
        self.lines.append(
            f'<text class="{style}" x="{number(x)}" y="{number(y)}" font-size="{number(size)}">{safe}</text>'
        )

    def _add(self, shape: str, tag: str, hover: str) -> None:
        title = f"><title>{escape(printable(hover, _MAX_TEXT))}</title></{tag}>" if hover else "/>"
        self.lines.append(shape + title)
