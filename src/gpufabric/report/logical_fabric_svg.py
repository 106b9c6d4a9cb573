"""Cluster → an SVG drawing of the logical fabric: tiers as rows, planes side by side, equal units folded, counts on bundles.

The drawing holds no scripts and no addresses, follows the reader's light or dark scheme, and can be read out:
it has a title and a description. Colours are those of Okabe and Ito, which colour-blind people tell apart
(https://jfly.uni-koeln.de/color/, read 2026-11-30); tiers also differ by their place and bundles by their
labels, so no fact hangs on a colour.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from gpufabric.errors import InputError, printable
from gpufabric.graphs.bisection import bisection_bytes_per_s, injection_bytes_per_s
from gpufabric.records.cluster import Cluster, Role
from gpufabric.records.tiers import link_fabrics
from gpufabric.report.fabric_counts import TierCounts, tier_counts
from gpufabric.report.fabric_layout import GUTTER, PAGE_WIDTH, FabricLayout, Line, lay_out
from gpufabric.report.fabric_load import FabricLoad, load_legend, load_style, load_text, load_width
from gpufabric.report.fault_marks_svg import MARK_ENTRIES, FaultMarks, draw_marks
from gpufabric.report.fold_fabric import Bundle, FoldedFabric, fold_fabric
from gpufabric.report.svg_document import svg_document
from gpufabric.report.svg_elements import Rect, SvgElements, fitted, number, text_width
from gpufabric.units import counted, format_gbps, percent_text

_TIER_NAMES = ("Servers", "Leaf", "Spine", "Core")
_MOST_PILLS = 14
_PILL_HEIGHT = 20.0
_CLEARANCE = 8.0
_PILL_PLACES = (0.5, 0.38, 0.62, 0.26, 0.74, 0.2, 0.8)
_RAIL_COLOURS = 8
_STACKED = "stacked"


def draw_logical_fabric(
    cluster: Cluster, fabric_index: int = 0, load: FabricLoad | None = None, marks: FaultMarks | None = None
) -> str:
    """Return the drawing of one fabric as an SVG document.

    A small fabric (up to 12 servers and 10 leaves) shows every device and every link. In a larger one equal
    units, pods and planes are folded; a box then stands for all that its text counts, and the counts on the
    lines add up to all links.

    Parameters
    ----------
    cluster
    fabric_index : int
        Index into ``cluster.fabrics``.
    load : FabricLoad, optional
        How busy the links are: lines then show that instead of rails, planes and counts.
    marks : FaultMarks, optional
        Faults to mark on it.

    Returns
    -------
    str
        The same bytes for the same cluster.

    Raises
    ------
    InputError
        If there is no such fabric, or it has no device.
    """
    if not 0 <= fabric_index < len(cluster.fabrics):
        raise InputError(
            f"fabric {fabric_index} is not in cluster {printable(cluster.name)}; "
            f"it has {len(cluster.fabrics)}, counted from 0"
        )
    folded = fold_fabric(cluster, fabric_index, None if load is None else load.in_use)
    if not folded.boxes:
        name = printable(cluster.fabrics[fabric_index].name)
        raise InputError(f"fabric {name} has no device whose role is known; give the devices roles first")
    places = lay_out(folded)
    svg = SvgElements()
    _draw_frames(svg, folded, places)
    pills = _draw_bundles(svg, folded, places)
    _draw_boxes(svg, folded, places)
    if marks is not None:
        draw_marks(svg, cluster, folded, places, marks)
    _draw_pills(svg, folded, places, pills)
    _draw_gutter(svg, cluster, fabric_index, folded, places)
    marked = () if marks is None else MARK_ENTRIES
    height = _draw_legend(svg, cluster, fabric_index, folded, places, marked)
    if load is not None:
        height = _draw_load_legend(svg, height)
    return _document(cluster, fabric_index, svg, (height, load))


def _document(
    cluster: Cluster, fabric_index: int, svg: SvgElements, size: tuple[float, FabricLoad | None]
) -> str:
    height, load = size
    fabric = cluster.fabrics[fabric_index]
    planes = f", {counted(fabric.planes, 'plane')}" if fabric.planes > 1 else ""
    tiers = f", {counted(fabric.tiers, 'tier')}" if fabric.tiers > 1 else ""
    about = f"{fabric.topology}{tiers}{planes}, {fabric.network}"
    title = f"{cluster.name} – {fabric.name} fabric"
    if load is not None:
        return svg_document("Load of the links", title, f"{load.about}; {about}", (PAGE_WIDTH, height), svg)
    return svg_document("Logical fabric", title, about, (PAGE_WIDTH, height), svg)


def _draw_frames(svg: SvgElements, folded: FoldedFabric, places: FabricLayout) -> None:
    for band, frame in enumerate(places.bands):
        svg.rect(frame, f"band p{band}")
        svg.text(frame.x + 10, frame.y + 18, folded.bands[band].title, "strong", 13)
    for pod, frame in places.pods:
        svg.rect(frame, "pod")
        title = fitted(folded.layout.pods[pod].title, frame.w / 2 - 13, 11)
        svg.text(frame.x + 6, frame.y + 15, title, "dim", 11)


def _draw_bundles(svg: SvgElements, folded: FoldedFabric, places: FabricLayout) -> list[int]:
    """Draw the lines and return which bundles get their count written on them."""
    gaps: dict[tuple[int, int], list[int]] = {}
    for index, (bundle, line) in enumerate(zip(folded.bundles, places.lines, strict=True)):
        if line is None:
            continue
        tiers = (folded.boxes[bundle.lower].tier, folded.boxes[bundle.upper].tier)
        gaps.setdefault(tiers, []).append(index)
        hover = f"{folded.boxes[bundle.lower].lines[0]} – {folded.boxes[bundle.upper].lines[0]}: {_amount(bundle)}"
        svg.path(_course(line, tiers[0] == tiers[1]), _colour(folded, bundle), _width(folded, bundle), hover)
    return (
        []
        if folded.single
        else [
            i for members in gaps.values() if _labelled([folded.bundles[i] for i in members]) for i in members
        ]
    )


def _labelled(bundles: Sequence[Bundle]) -> bool:
    """Whether each of these lines gets its count: not when they are too many, nor when equal ones cross each other."""
    fans_out = len(bundles) > max(len({b.lower for b in bundles}), len({b.upper for b in bundles})) + 2
    return len(bundles) <= _MOST_PILLS and not (
        fans_out and len({(b.links, b.bytes_per_s) for b in bundles}) == 1
    )


def _course(line: Line, arc: bool) -> str:
    start, end = f"{number(line.x1)} {number(line.y1)}", f"{number(line.x2)} {number(line.y2)}"
    if not arc:
        return f"M{start}L{end}"
    top = line.y1 - 24 - 0.26 * abs(line.x2 - line.x1)
    return f"M{start}Q{number((line.x1 + line.x2) / 2)} {number(top)} {end}"


def _colour(folded: FoldedFabric, bundle: Bundle) -> str:
    if bundle.busiest >= 0:
        return load_style(bundle)
    if len(folded.bands) > 1:
        return f"line p{bundle.band}" if bundle.band >= 0 else "line"
    if folded.single and 0 <= bundle.rail < _RAIL_COLOURS:
        return f"line r{bundle.rail}"
    return "line"


def _width(folded: FoldedFabric, bundle: Bundle) -> float:
    if bundle.busiest >= 0:
        return load_width(bundle)
    if folded.single:
        return 1.4
    return min(9.0, 1.5 + 0.75 * float(np.log2(bundle.links)))


def _amount(bundle: Bundle, short: bool = False) -> str:
    amount = f"{bundle.links:,} × {_rate_text(bundle.bytes_per_s)}"
    return amount if bundle.busiest < 0 else f"{amount}: {load_text(bundle, short)}"


def _rate_text(bytes_per_s: float) -> str:
    return "unknown" if np.isnan(bytes_per_s) else format_gbps(bytes_per_s)


def _draw_boxes(svg: SvgElements, folded: FoldedFabric, places: FabricLayout) -> None:
    for box, place in zip(folded.boxes, places.boxes, strict=True):
        style = f"box t{box.tier}"
        if box.folded:
            _draw_stack(svg, place, style)
        front = Rect(place.x, place.y, place.w - 6, place.h) if box.folded else place
        svg.rect(front, style, hover=box.hover)
        top = front.y + (front.h - 17 * len(box.lines)) / 2 + 13
        for position, line in enumerate(box.lines):
            size, bold = (13, True) if position == 0 else (12, False)
            if text_width(line, size, bold) > front.w - 10:
                size = 11
            text = fitted(line, front.w - 10, size, bold)
            svg.text(front.middle, top + 17 * position, text, "strong middle" if bold else "middle", size)


def _draw_stack(svg: SvgElements, place: Rect, style: str) -> None:
    """Draw three boxes one behind the other, the front one at the lower left of *place*."""
    for shift in (6.0, 3.0, 0.0):
        front = Rect(place.x + shift, place.y - shift, place.w - 6, place.h)
        svg.rect(front, style, radius=min(6.0, place.h / 4))


def _draw_pills(svg: SvgElements, folded: FoldedFabric, places: FabricLayout, bundles: Sequence[int]) -> None:
    """Write the counts on the lines, each where it covers neither a box nor another count."""
    taken = list(places.boxes)
    for index in bundles:
        line = places.lines[index]
        text = _amount(folded.bundles[index], short=True)
        width = text_width(text, 12) + 14
        spots = [_spot(line, t, width) for t in _PILL_PLACES] if line is not None else []
        others = [other for i, other in enumerate(places.lines) if other is not None and i != index]
        free = [spot for spot in spots if not any(spot.overlaps(other) for other in taken)]
        if free:
            best = min(free, key=lambda spot: sum(_crosses(other, spot) for other in others))
            taken.append(best)
            svg.rect(best, "pill", radius=_PILL_HEIGHT / 2)
            svg.text(best.middle, best.y + 14, text, "middle", 12)


def _spot(line: Line, t: float, width: float) -> Rect:
    x, y = line.x1 + t * (line.x2 - line.x1), line.y1 + t * (line.y2 - line.y1)
    return Rect(x - width / 2, y - _PILL_HEIGHT / 2, width, _PILL_HEIGHT)


def _crosses(line: Line, spot: Rect) -> bool:
    """Whether an upright or slanted line passes a spot or comes close to it."""
    low, high = min(line.y1, line.y2), max(line.y1, line.y2)
    for y in (spot.y - _CLEARANCE, spot.y + spot.h / 2, spot.bottom + _CLEARANCE):
        if low < y < high:
            x = line.x1 + (line.x2 - line.x1) * (y - line.y1) / (line.y2 - line.y1)
            if spot.x - _CLEARANCE < x < spot.right + _CLEARANCE:
                return True
    return False


def _draw_gutter(
    svg: SvgElements, cluster: Cluster, fabric_index: int, folded: FoldedFabric, places: FabricLayout
) -> None:
    """Write beside each row what the tier is, and between rows what joins them."""
    tiers = tier_counts(cluster, fabric_index)
    for tier, row in places.rows.items():
        lines = [
            _TIER_NAMES[tier],
            *(_tier_lines(tier, tiers) if tier else _server_lines(cluster, fabric_index)),
        ]
        _write_lines(svg, row.y + row.h / 2 - 8 * len(lines) + 12, lines)
    ordered = sorted(places.rows)
    for lower, upper in pairwise(ordered):
        top, bottom = places.rows[upper].bottom, places.rows[lower].y
        lines = _gap_lines([b for b in folded.bundles if folded.boxes[b.upper].tier == upper])
        _write_lines(svg, (top + bottom) / 2 - 8 * len(lines) + 12, lines, first="")
    if len(ordered) == 1:
        lines = _gap_lines(list(folded.bundles))
        _write_lines(svg, places.rows[ordered[0]].y - 30, lines, first="")


def _write_lines(svg: SvgElements, y: float, lines: Sequence[str], first: str = "strong") -> None:
    for position, line in enumerate(lines):
        style = first if position == 0 and first else "dim"
        svg.text(GUTTER.x, y + 16 * position, fitted(line, GUTTER.w, 12, bool(first)), style, 12)


def _server_lines(cluster: Cluster, fabric_index: int) -> list[str]:
    """Return how many servers and storage servers are wired to the fabric, and their GPUs."""
    inside = link_fabrics(cluster) == fabric_index
    wired = np.zeros(len(cluster.devices), bool)
    wired[cluster.link_device_a[inside]] = wired[cluster.link_device_b[inside]] = True
    roles = np.bincount(cluster.devices.role[wired & (cluster.devices.role >= 0)], minlength=len(Role.NAMES))
    gpus = int(np.count_nonzero(wired[cluster.gpus.host]))
    counts = ((roles[Role.SERVER], "server"), (roles[Role.STORAGE], "storage server"), (gpus, "GPU"))
    return [counted(count, word) for count, word in counts if count]


def _tier_lines(tier: int, tiers: Sequence[TierCounts]) -> list[str]:
    rows = [row for row in tiers if row.role == _TIER_NAMES[tier].lower()]
    if not rows:
        return []
    down, up = max(row.ports_down for row in rows), max(row.ports_up for row in rows)
    count = sum(row.switches for row in rows)
    lines = [
        counted(count, "switch", "switches"),
        f"{counted(down, 'port')} down" + (f", {up:,} up" if up else ""),
    ]
    ratios = [row.oversubscription for row in rows if row.oversubscription is not None]
    return [*lines, f"{max(ratios):.3g}:1 down to up"] if ratios else lines


def _gap_lines(bundles: Sequence[Bundle]) -> list[str]:
    """Return the lines that say what joins two tiers."""
    if not bundles:
        return []
    rates = sorted({bundle.bytes_per_s for bundle in bundles})
    lines = [
        _links_and_others(bundles),
        " and ".join(_rate_text(rate) for rate in rates) + (" each" if len(rates) == 1 else ""),
    ]
    sizes = {bundle.links for bundle in bundles}
    if not _labelled(bundles) and max(sizes) > 1:
        least, most = min(sizes), max(sizes)
        lines.append(f"{most:,} a line" if least == most else f"{least:,} to {most:,} a line")
    return lines if bundles[0].busiest < 0 else [*lines, *_gap_load(bundles)]


def _gap_load(bundles: Sequence[Bundle]) -> list[str]:
    """Return the lines that say how busy the links between two tiers are."""
    busiest = max(bundle.busiest for bundle in bundles)
    mean = sum(bundle.busy * bundle.links for bundle in bundles) / sum(bundle.links for bundle in bundles)
    return [f"busiest {percent_text(busiest)}", f"mean {percent_text(mean)}"]


def _links_and_others(bundles: Sequence[Bundle]) -> str:
    """Return a sum of links as the design counts them: those between servers and switches apart from the others."""
    others = sum(bundle.other_links for bundle in bundles)
    main = sum(bundle.links for bundle in bundles) - others
    if not main or not others:
        return counted(main, "link") if main else counted(others, "other link")
    return f"{counted(main, 'link')} + {others:,} other"


def _draw_legend(
    svg: SvgElements,
    cluster: Cluster,
    fabric_index: int,
    folded: FoldedFabric,
    places: FabricLayout,
    more: Sequence[tuple[str, str]],
) -> float:
    """Write totals and legend below the rows and return the height of the drawing."""
    y = places.bottom + 34
    bisection = bisection_bytes_per_s(cluster, fabric_index)
    switches = sum(row.switches for row in tier_counts(cluster, fabric_index))
    totals = [
        *_server_lines(cluster, fabric_index)[-1:],
        counted(switches, "switch", "switches") if switches else "no switches",
        counted(sum(bundle.links for bundle in folded.bundles) + folded.undrawn_links, "link"),
        f"injection {_rate_text(injection_bytes_per_s(cluster, fabric_index))}",
        f"bisection {format_gbps(bisection)} each direction"
        if bisection is not None
        else "bisection unknown",
    ]
    svg.text(24, y, " · ".join(totals), "strong", 13)
    x = 24.0
    for style, text in (*_legend_entries(folded), *more):
        width = 28 + text_width(text, 12) + 22
        if x + width > PAGE_WIDTH - 24:
            x, y = 24.0, y + 22
        if style.startswith("line"):
            svg.path(f"M{number(x)} {number(y + 20)}h20", style, 3)
        elif style == _STACKED:
            _draw_stack(svg, Rect(x, y + 14, 20, 12), "box t0")
        else:
            svg.rect(Rect(x, y + 14, 20, 12), style, radius=3)
        svg.text(x + 28, y + 24, text, "dim", 12)
        x += width
    return y + 46


def _draw_load_legend(svg: SvgElements, y: float) -> float:
    """Write what the lines of the classes mean and return the height of the drawing."""
    svg.text(
        24,
        y + 6,
        "part of the time at nominal rates in which the busiest link of a line is in use:",
        "dim",
        12,
    )
    x = 24.0
    for style, width, text in load_legend():
        svg.path(f"M{number(x)} {number(y + 22)}h28", style, width)
        svg.text(x + 36, y + 26, text, "dim", 12)
        x += 36 + text_width(text, 12) + 24
    return y + 46


def _legend_entries(folded: FoldedFabric) -> list[tuple[str, str]]:
    entries = [
        (f"box t{tier}", _TIER_NAMES[tier].lower()) for tier in sorted({box.tier for box in folded.boxes})
    ]
    in_use = any(bundle.busiest >= 0 for bundle in folded.bundles)
    if folded.single:
        rails = [] if in_use else sorted({b.rail for b in folded.bundles if 0 <= b.rail < _RAIL_COLOURS})
        if len(rails) > 1 and len(folded.bands) == 1:
            entries += [(f"line r{rail}", f"rail {rail + 1}") for rail in rails]
        entries.append(("line", "one line = one link"))
    else:
        entries.append(
            ("line", "one line = all links between two boxes" + ("" if in_use else "; the thicker, the more"))
        )
    if any(box.folded for box in folded.boxes):
        entries.append(
            (_STACKED, "stacked box = several that are folded into one; its counts are for all of them")
        )
    if folded.undrawn_links:
        entries.append(
            ("pill", f"not drawn: {counted(folded.undrawn_links, 'link')} to a device of unknown role")
        )
    return entries
