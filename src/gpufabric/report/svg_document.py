"""Elements of a drawing → a whole SVG document with a heading, a title and a description that can be read out."""

from __future__ import annotations

from html import escape

from gpufabric.errors import printable
from gpufabric.report.svg_elements import Rect, SvgElements, fitted, number
from gpufabric.report.svg_style import STYLE

MARGIN = 24.0
HEADING_BOTTOM = 84.0


def svg_document(what: str, title: str, about: str, size: tuple[float, float], svg: SvgElements) -> str:
    """Return the document.

    Parameters
    ----------
    what
        What kind of drawing it is, for readers who hear it: such as ``Floor plan``.
    title, about
        The two lines of the heading; elements begin below ``HEADING_BOTTOM``.
    size
        Width and height in px.
    svg
    """
    width, height = size
    title = fitted(title, width - 2 * MARGIN, 20, bold=True)
    head = SvgElements()
    head.rect(Rect(0, 0, width, height), "page", radius=0)
    head.text(MARGIN, 40, title, "strong", 20)
    head.text(MARGIN, 62, fitted(about, width - 2 * MARGIN, 13), "dim", 13)
    label = escape(printable(f"{what} of {title}: {about}", 300), quote=True)
    box = f'viewBox="0 0 {number(width)} {number(height)}" width="{number(width)}" height="{number(height)}"'
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" {box} role="img" aria-label="{label}">',
        f"<title>{escape(title)}</title>",
        f"<style>{STYLE}</style>",
        *head.lines,
        *svg.lines,
        "</svg>\n",
    ])  # fmt: skip
