"""Hashed loads of an algorithm → the rates that no other hash and no number of queue pairs can exceed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from gpufabric.jobs.lay_wiring import Wiring
from gpufabric.records.priced_algorithm import PricedAlgorithm


def even_spread_bound(wiring: Wiring, priced: PricedAlgorithm) -> PricedAlgorithm:
    """Return *priced* as if its messages lay evenly on the links that a hash picks from.

    A hash moves bytes between the links that lead up from one leaf, not off them: what leaves a leaf upwards, what comes down to
    it, and what a pod exchanges with the cores stays, whatever the hash. The fullest link of such a group carries at least the
    mean, so no time is below the largest mean over the rate of its group; the cables of servers bound it as they did.

    Parameters
    ----------
    wiring : Wiring
        Without tiers only the cables of servers bound it.
    priced : PricedAlgorithm
        With the bytes on its links.

    Returns
    -------
    PricedAlgorithm
        With ``fabric_bytes_per_s`` and ``line_bytes_per_s`` no lower than those of any hash. Names and shares are left alone.
    """
    line_s = 1 / priced.line_bytes_per_s
    seconds = [priced.shares.get("nic", 0.0) * line_s]
    if wiring.tiers is not None and priced.link_bytes is not None:
        climb = wiring.tiers.climb
        group = np.where(climb.core_share > 0, wiring.tiers.devices + climb.pod, climb.lower)
        for link in (climb.up_link, climb.down_link):
            moved = np.bincount(group, priced.link_bytes[link])
            rate = np.bincount(group, wiring.graph.bytes_per_s[link])
            seconds.append(
                float(np.divide(moved, rate, out=np.zeros(len(rate)), where=rate > 0).max(initial=0.0))
            )
    longest = max(seconds)
    fabric = max(1 / longest if longest else np.inf, priced.fabric_bytes_per_s)
    return replace(
        priced,
        fabric_bytes_per_s=fabric,
        line_bytes_per_s=max(min(fabric, priced.inside_bytes_per_s), priced.line_bytes_per_s),
    )
