"""An estimate and what it rests on → the limit that sets its time.

The links that are fullest at nominal rates need not be what a message waits for: a library reaches less of the rate of some links
than of others, has so many channels and NICs, and spends time on starts and steps. Each limit is found by leaving the others out.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal

from gpufabric.libraries.estimate import limit_rates_of, time_parts
from gpufabric.records.binding_limit import BindingLimit
from gpufabric.records.calibration import Calibration
from gpufabric.records.estimate import Estimate
from gpufabric.records.job_situation import JobSituation
from gpufabric.records.library_model import LibrarySettings
from gpufabric.records.priced_algorithm import PricedAlgorithm
from gpufabric.units import counted

_SAME = 1e-6


@dataclass(frozen=True, slots=True)
class Rated:
    """An algorithm as priced on the wiring, with the rates that channels and NICs of the library leave it, and its estimate."""

    estimate: Estimate
    priced: PricedAlgorithm
    limited: PricedAlgorithm


def find_limit(
    rated: Rated,
    settings: LibrarySettings,
    situation: JobSituation,
    calibration: Calibration,
    size_bytes: int,
) -> BindingLimit:
    """Return what sets the time of an estimate.

    Parameters
    ----------
    rated : Rated
    settings, situation, calibration
        Those of the estimate.
    size_bytes : int

    Returns
    -------
    BindingLimit
    """
    priced, chosen = rated.priced, rated.estimate
    parts = time_parts(rated.limited, chosen.protocol, situation, calibration, size_bytes)
    steps_s = parts.start_s + parts.path_s + parts.filling_s
    if steps_s <= parts.wire_s and chosen.wire_s < (parts.wire_s + parts.filling_s) * (1 - _SAME):
        # A tuning: what is left is the rate of the link itself.
        return BindingLimit(_side(priced, situation), priced.bottleneck, priced.shares)
    inside_s, fabric_s, bound_s = _seconds(rated.limited, chosen.protocol, situation, calibration, size_bytes)
    shares = _shares(priced, situation, (inside_s, fabric_s), size_bytes)
    if steps_s > parts.wire_s:
        return BindingLimit("steps", _steps(priced), shares)
    if 0 < max(inside_s, fabric_s) <= bound_s * (1 + _SAME):
        return BindingLimit(
            "protocol", f"what {chosen.protocol} moves at most ({chosen.calibration})", shares
        )
    if fabric_s >= inside_s:
        return BindingLimit("fabric", _between(rated, settings, situation), shares)
    return BindingLimit("inside", _within(rated, settings, situation, shares), shares)


def _seconds(
    priced: PricedAlgorithm, protocol: str, situation: JobSituation, calibration: Calibration, size_bytes: int
) -> tuple[float, float, float]:
    """Return the seconds of the bytes at the limit inside nodes, at that between them, and at that of the protocol."""
    inside, fabric = limit_rates_of(priced, situation)
    rates = ((inside, math.inf), (math.inf, fabric), (math.inf, math.inf))
    alone = (replace(priced, inside_bytes_per_s=i, fabric_bytes_per_s=f, shares={}) for i, f in rates)
    inside_s, fabric_s, bound_s = (
        time_parts(one, protocol, situation, calibration, size_bytes).wire_s for one in alone
    )
    return inside_s, fabric_s, bound_s


def _belongs_inside(name: str, priced: PricedAlgorithm, situation: JobSituation) -> bool:
    """Tell whether a kind of link limits GPUs that reach each other; PCIe beside NVLink, or of a lone GPU, limits the NICs."""
    if situation.nodes > 1 and situation.node_ranks == 1:
        return False
    own = situation.scale_up not in ("pcie", "none") and priced.shares.get("scale-up", 0.0) > 0
    return name == "scale-up" or (name == "pcie" and not own)


def _shares(
    priced: PricedAlgorithm, situation: JobSituation, seconds: tuple[float, float], size_bytes: int
) -> dict[str, float]:
    rates = limit_rates_of(priced, situation)
    slower = [
        s * rate / size_bytes if math.isfinite(rate) else 1.0 for s, rate in zip(seconds, rates, strict=True)
    ]
    needed = {
        name: share * slower[0 if _belongs_inside(name, priced, situation) else 1]
        for name, share in priced.shares.items()
    }
    most = max(needed.values(), default=0.0)
    return {name: share / most for name, share in needed.items()} if most > 0 else dict(priced.shares)


def _side(priced: PricedAlgorithm, situation: JobSituation) -> Literal["fabric", "inside"]:
    inside, fabric = limit_rates_of(priced, situation)
    return "fabric" if fabric <= inside else "inside"


def _steps(priced: PricedAlgorithm) -> str:
    steps = [
        counted(count, "step") + where
        for count, where in ((priced.inside_steps, " inside nodes"), (priced.fabric_steps, " between nodes"))
        if count
    ]
    return f"latency: {' and '.join(steps) or 'start-up'}"


def _between(rated: Rated, settings: LibrarySettings, situation: JobSituation) -> str:
    priced, limited = rated.priced, rated.limited
    if limited.fabric_bytes_per_s < priced.fabric_bytes_per_s * (1 - _SAME):
        if settings.nics is not None and 0 < settings.nics < situation.node_nics:
            return (
                f"{counted(settings.nics, 'NIC')} of {situation.node_nics} a node: the settings name no more"
            )
        return (
            f"the library's {counted(limited.channels, 'channel')}: {priced.channels} ways lead out of a node"
        )
    if _side(priced, situation) == "fabric":
        return priced.bottleneck
    return f"rate that the library reaches between nodes ({rated.estimate.calibration})"


def _within(
    rated: Rated, settings: LibrarySettings, situation: JobSituation, shares: dict[str, float]
) -> str:
    priced, limited = rated.priced, rated.limited
    channels = counted(limited.channels, "channel")
    if limited.inside_bytes_per_s < priced.inside_bytes_per_s * (1 - _SAME):
        return f"the library's {channels} inside nodes: settings allow no more than {settings.most_channels}"
    if _side(priced, situation) == "inside":
        return priced.bottleneck
    inside = [name for name in shares if _belongs_inside(name, priced, situation)]
    others = [name for name in shares if name not in inside]
    links = max(inside, key=lambda name: shares[name], default="scale-up")
    idle = max(others, key=lambda name: (shares[name], name != "pcie"), default="")
    before = f", before the {idle} links are full" if idle else ""
    return (
        f"rate of the library's {channels} over {links} inside nodes ({rated.estimate.calibration}){before}"
    )
