"""How busy the links of a fabric are → the classes that its drawing shows by colour, width, dashes and numbers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gpufabric.report.fold_fabric import Bundle
from gpufabric.units import percent_text

_LIMITS = (0.0, 0.25, 0.5, 0.75, 0.95)
_NAMES = ("not used", "up to 25 %", "up to 50 %", "up to 75 %", "up to 95 %", "more: what holds it back")
_WIDTHS = (1.0, 1.8, 3.0, 4.5, 6.5, 9.0)


@dataclass(frozen=True, slots=True)
class FabricLoad:
    """What a drawing shows of a collective: ``in_use`` for each link of the cluster 0 to 1, the fuller direction; ``about``."""

    in_use: NDArray[np.float64]
    about: str


def load_class(bundle: Bundle) -> int:
    """Return the class of a bundle: that of its busiest link."""
    return int(np.searchsorted(_LIMITS, bundle.busiest - 1e-9)) if bundle.busiest > 0 else 0


def load_style(bundle: Bundle) -> str:
    """Return the style of a bundle's line."""
    return f"use b{load_class(bundle)}"


def load_width(bundle: Bundle) -> float:
    """Return the width of a bundle's line in px."""
    return _WIDTHS[load_class(bundle)]


def load_text(bundle: Bundle, short: bool = False) -> str:
    """Return, for example, ``busiest 100 %, mean 46 %``; *short* is the busiest alone."""
    if short:
        return percent_text(bundle.busiest)
    if abs(bundle.busiest - bundle.busy) < 0.005:
        return f"{percent_text(bundle.busiest)} in use"
    return f"busiest {percent_text(bundle.busiest)}, mean {percent_text(bundle.busy)}"


def load_legend() -> list[tuple[str, float, str]]:
    """Return style, width and name of each class."""
    return [(f"use b{i}", width, name) for i, (width, name) in enumerate(zip(_WIDTHS, _NAMES, strict=True))]
