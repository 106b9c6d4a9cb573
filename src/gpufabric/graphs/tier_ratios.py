"""A fabric's links → capacity down against capacity up of a tier."""

from __future__ import annotations

import numpy as np

from gpufabric.graphs.fabric_links import FabricLinks


def worst_ratio(links: FabricLinks, tier: int) -> float:
    """Return the greatest capacity down : capacity up among the switches of *tier* that have links up; 1 when none has."""
    devices = len(links.tier)
    below = links.tier[links.upper] == tier
    above = links.tier[links.lower] == tier
    down = np.bincount(links.upper[below], links.bytes_per_s[below], devices)
    up = np.bincount(links.lower[above], links.bytes_per_s[above], devices)
    has_up = up > 0
    return float((down[has_up] / up[has_up]).max()) if has_up.any() else 1.0
