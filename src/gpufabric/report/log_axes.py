"""Values of two logarithmic axes → places in a panel, and the values that get a tick."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from gpufabric.report.svg_elements import Rect, number

_STEPS = (1, 2, 5)
_MOST_TICKS = 9
_MOST_SIZES = 14


@dataclass(frozen=True, slots=True)
class LogAxes:
    """A panel and the least and greatest value on its axes, all positive."""

    panel: Rect
    x_least: float
    x_most: float
    y_least: float
    y_most: float

    def x(self, value: float) -> float:
        """Return where a value of the lower axis stands, in px; outside values at the edge."""
        return self.panel.x + self.panel.w * _part(value, self.x_least, self.x_most)

    def y(self, value: float) -> float:
        """Return where a value of the left axis stands, in px; outside values at the edge."""
        return self.panel.bottom - self.panel.h * _part(value, self.y_least, self.y_most)

    def course(self, points: Iterable[tuple[float, float]]) -> str:
        """Return the path commands of a line through points, without the leading M."""
        return "L".join(f"{number(self.x(x))} {number(self.y(y))}" for x, y in points)

    def y_ticks(self) -> list[float]:
        """Return round values on the left axis: 1, 2 and 5 times a power of ten, or only powers where there are too many."""
        powers = range(math.floor(math.log10(self.y_least)), math.ceil(math.log10(self.y_most)) + 1)
        every = [step * 10.0**power for power in powers for step in _STEPS]
        inside = [v for v in every if self.y_least <= v <= self.y_most]
        if len(inside) <= _MOST_TICKS:
            return inside
        return [10.0**power for power in powers if self.y_least <= 10.0**power <= self.y_most]

    def x_ticks(self) -> list[int]:
        """Return powers of two on the lower axis, every one or every few of them."""
        first, last = math.ceil(math.log2(self.x_least)), math.floor(math.log2(self.x_most))
        step = max(1, -(-(last - first + 1) // _MOST_SIZES))
        return [1 << power for power in range(max(first, 0), last + 1, step)]


def log_axes(panel: Rect, sizes: Iterable[float], values: Iterable[float]) -> LogAxes:
    """Return axes that hold all positive finite values with some room around them."""
    xs = [x for x in sizes if x > 0 and math.isfinite(x)]
    ys = [y for y in values if y > 0 and math.isfinite(y)]
    if min(xs) == max(xs):
        xs = [min(xs) / 2, max(xs) * 2]
    return LogAxes(panel, min(xs), max(xs), min(ys) / 1.3, max(ys) * 1.3)


def _part(value: float, least: float, most: float) -> float:
    return min(1.0, max(0.0, math.log(value / least) / math.log(most / least))) if value > 0 else 0.0
