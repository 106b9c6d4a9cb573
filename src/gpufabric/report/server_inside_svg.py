"""The inside of one found server → an SVG drawing: GPUs with the NICs near them, by NUMA node, and what is unusual marked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from gpufabric.records.server_inside import ServerInside
from gpufabric.report.svg_document import HEADING_BOTTOM, MARGIN, svg_document
from gpufabric.report.svg_elements import Rect, SvgElements, fitted, number
from gpufabric.units import counted, format_gbps

_BOX = (92.0, 44.0)
_GAP = 14.0
_ROW = 96.0
_BAND_TOP = 30.0
#: More devices than this do not fit a drawing that people read.
MOST_GPUS = 64


@dataclass(frozen=True, slots=True)
class _Column:
    """A GPU (-1: none) and the NICs that are drawn below it; ``numa`` is that of NICs without a GPU."""

    gpu: int
    nics: tuple[int, ...]
    numa: int = -1

    @property
    def width(self) -> float:
        """Boxes side by side."""
        return max(1, len(self.nics)) * (_BOX[0] + _GAP)


def draw_server_inside(inside: ServerInside, title: str) -> str:
    """Return an SVG document of a server.

    Parameters
    ----------
    inside
        At most ``MOST_GPUS`` GPUs are drawn.
    title
        Such as the id of the server that fits.

    Returns
    -------
    str
        GPUs in the first row, each NIC below the GPU that it is nearest to; NICs near no GPU stand at the end of their group.
        A GPU that differs from its peers (fewer links, no near NIC where others have one) is marked.
    """
    columns = _columns(inside)
    groups = _by_numa(inside, columns)
    svg = SvgElements()
    x = MARGIN
    top = HEADING_BOTTOM + _ROW
    odd = _odd(inside)
    centres: list[float] = []
    for numa, own in groups:
        width = sum(column.width for column in own) + _GAP
        svg.rect(Rect(x, top, width, _ROW + _BOX[1] + _BAND_TOP + _GAP), "band")
        svg.text(x + _GAP, top + 20, "NUMA node unknown" if numa < 0 else f"NUMA node {numa}", "dim")
        at = x + _GAP
        for column in own:
            centre = _draw_column(svg, inside, column, (at, top + _BAND_TOP), odd)
            centres += [centre] if column.gpu >= 0 else []
            at += column.width
        x += width + _GAP
    _draw_links(svg, inside, centres, x)
    height = top + _ROW + _BOX[1] + _BAND_TOP + _GAP + MARGIN
    about = f"{counted(len(inside.gpus), 'GPU')}, {counted(len(inside.nics), 'NIC')}, as {inside.where} shows"
    return svg_document("Inside of a server", title, about, (max(x + MARGIN - _GAP, 420.0), height), svg)


def _columns(inside: ServerInside) -> list[_Column]:
    taken: set[int] = set()
    columns = []
    for gpu in range(min(len(inside.gpus), MOST_GPUS)):
        near = [nic for nic in inside.near_nics(gpu) if nic not in taken]
        # A NIC that several GPUs share stands below the first of them, and one GPU does not take all of a shared switch.
        share = near[:1] if len(near) > 1 and _shared(inside, near[0]) else near
        taken.update(share)
        columns.append(_Column(gpu, tuple(share)))
    rest: dict[int, list[int]] = {}
    for nic in [nic for nic in range(len(inside.nics)) if nic not in taken][:MOST_GPUS]:
        rest.setdefault(_numa_of_nic(inside, nic), []).append(nic)
    return [*columns, *(_Column(-1, tuple(nics), numa) for numa, nics in sorted(rest.items()))]


def _numa_of_nic(inside: ServerInside, nic: int) -> int:
    """Return the NUMA node of the GPUs that reach a NIC without crossing to another one; -1 when none does."""
    near = (gpu for gpu, row in enumerate(inside.paths) if row[nic] in {"PIX", "PXB", "PHB", "NODE"})
    return next((inside.numa[gpu] for gpu in near), -1)


def _shared(inside: ServerInside, nic: int) -> bool:
    return sum(nic in inside.near_nics(gpu) for gpu in range(len(inside.gpus))) > 1


def _by_numa(inside: ServerInside, columns: Sequence[_Column]) -> list[tuple[int, list[_Column]]]:
    groups: dict[int, list[_Column]] = {}
    for column in columns:
        groups.setdefault(inside.numa[column.gpu] if column.gpu >= 0 else column.numa, []).append(column)
    return sorted(groups.items())


def _draw_column(
    svg: SvgElements, inside: ServerInside, column: _Column, place: tuple[float, float], odd: dict[int, str]
) -> float:
    x, y = place
    width = column.width - _GAP
    centre = x + width / 2
    if column.gpu >= 0:
        box = Rect(centre - _BOX[0] / 2, y, *_BOX)
        svg.rect(box, "t3" if column.gpu not in odd else "over", hover=odd.get(column.gpu, ""))
        name = inside.gpus[column.gpu]
        svg.text(centre, y + 19, fitted(name, _BOX[0] - 8, 12, bold=True), "strong middle", 12)
        links = inside.links[column.gpu]
        svg.text(centre, y + 35, "links unknown" if links < 0 else f"{links} links", "dim middle", 11)
    for i, nic in enumerate(column.nics):
        left = x + i * (_BOX[0] + _GAP)
        box = Rect(left, y + _ROW, *_BOX)
        svg.rect(box, "t1" if column.gpu >= 0 else "t0")
        rate = inside.nic_bytes_per_s[nic]
        base = box.y + (19 if rate > 0 else 26)
        svg.text(box.middle, base, fitted(inside.nics[nic], _BOX[0] - 8, 12), "text middle", 12)
        svg.text(box.middle, box.y + 35, format_gbps(rate) if rate > 0 else "", "dim middle", 11)
        if column.gpu >= 0:
            path = inside.paths[column.gpu][nic]
            way = f"M{number(centre)} {number(y + _BOX[1])} L{number(box.middle)} {number(box.y)}"
            svg.path(way, "line", 2, hover=path)
            svg.text((centre + box.middle) / 2 + 4, y + _BOX[1] + 30, path, "dim", 11)
    return centre


def _draw_links(svg: SvgElements, inside: ServerInside, centres: Sequence[float], right: float) -> None:
    """Draw what joins the GPUs: one bar over all of them."""
    most = max(inside.links, default=-1)
    if not centres or most <= 0:
        return
    bar = Rect(MARGIN, HEADING_BOTTOM + 14, right - MARGIN - _GAP, 30)
    svg.rect(bar, "t2")
    word = "xGMI links" if inside.maker == "AMD" else "NVLinks"
    svg.text(
        bar.middle, bar.y + 20, fitted(f"{word}: up to {most} of each GPU", bar.w - 8, 12), "text middle"
    )
    for gpu, centre in enumerate(centres):
        if inside.links[gpu] != 0:
            way = f"M{number(centre)} {number(bar.bottom)} V{number(HEADING_BOTTOM + _ROW + _BAND_TOP)}"
            svg.path(way, "line", 2)


def _odd(inside: ServerInside) -> dict[int, str]:
    """Return GPU → what is unusual about it."""
    return dict(reversed(list(_oddities(inside))))


def _oddities(inside: ServerInside) -> Iterator[tuple[int, str]]:
    most = max(inside.links, default=-1)
    near = [bool(inside.near_nics(gpu)) for gpu in range(len(inside.gpus))]
    for gpu, own in enumerate(inside.links):
        if 0 <= own < most:
            yield gpu, f"{own} links, its best peer has {most}"
    for gpu, has in enumerate(near):
        if not has and any(near):
            yield gpu, "no NIC near it, other GPUs have one"
