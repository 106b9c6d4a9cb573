"""Faults of a fabric as built → marks on the drawing of its design: lines and boxes in the warning colour, with counts."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from gpufabric.records.cluster import Cluster
from gpufabric.report.fabric_layout import FabricLayout
from gpufabric.report.fold_fabric import FoldedFabric
from gpufabric.report.svg_elements import Rect, SvgElements, number, text_width
from gpufabric.units import counted

_LINE = "p1 line"
#: What the legend says of the marks.
MARK_ENTRIES = (
    (_LINE, "some of these links are not as designed"),
    ("over", "faults there; point at it to read them"),
)
_BADGE_HEIGHT = 18.0
_HOVER_FAULTS = 5


@dataclass(frozen=True, slots=True)
class FaultMarks:
    """What is wrong where: rows of links of the design, and rows of devices with what is said of each."""

    links: tuple[int, ...]
    devices: tuple[tuple[int, str], ...]


def draw_marks(
    svg: SvgElements, cluster: Cluster, folded: FoldedFabric, places: FabricLayout, marks: FaultMarks
) -> None:
    """Paint over the lines with links that are not as designed, and put a badge with the number of faults on boxes."""
    lines: Counter[tuple[int, int]] = Counter()
    for link in set(marks.links):
        ends = (
            int(folded.box_of[cluster.link_device_a[link]]),
            int(folded.box_of[cluster.link_device_b[link]]),
        )
        lines[min(ends), max(ends)] += 1
    drawn: set[tuple[int, int]] = set()
    for bundle, line in zip(folded.bundles, places.lines, strict=True):
        pair = min(bundle.lower, bundle.upper), max(bundle.lower, bundle.upper)
        if line is None or pair not in lines or pair in drawn:
            continue
        drawn.add(pair)
        course = f"M{number(line.x1)} {number(line.y1)}L{number(line.x2)} {number(line.y2)}"
        svg.path(course, _LINE, 4.0, f"{counted(lines[pair], 'link')} not as designed")
    said: dict[int, list[str]] = {}
    for device, text in marks.devices:
        box = int(folded.box_of[device])
        if box >= 0 and text not in said.setdefault(box, []):
            said[box].append(text)
    for box, texts in sorted(said.items()):
        _badge(svg, places.boxes[box], texts)


def _badge(svg: SvgElements, box: Rect, texts: list[str]) -> None:
    label = counted(len(texts), "fault")
    width = text_width(label, 11, bold=True) + 12
    more = f"; and {len(texts) - _HOVER_FAULTS} more" if len(texts) > _HOVER_FAULTS else ""
    place = Rect(box.right - width, box.y - _BADGE_HEIGHT / 2, width, _BADGE_HEIGHT)
    svg.rect(place, "over", radius=_BADGE_HEIGHT / 2, hover="; ".join(texts[:_HOVER_FAULTS]) + more)
    inside = Rect(place.x + 1.5, place.y + 1.5, place.w - 3, place.h - 3)
    svg.rect(inside, "pill", radius=inside.h / 2, hover="; ".join(texts[:_HOVER_FAULTS]) + more)
    svg.text(place.middle, place.y + 13, label, "strong middle", 11)
