"""A job on shortest paths of any wiring → a refusal before the work begins, where it would take minutes."""

from __future__ import annotations

import numpy as np

from gpufabric.collectives.job_wiring import JobWiring
from gpufabric.errors import InputError
from gpufabric.jobs.lay_wiring import Wiring
from gpufabric.records.cluster import DeviceKind
from gpufabric.units import counted

#: Distances, one a switch and target leaf, that are looked up in all; so many take about 20 s.
MOST_DISTANCES = 200_000_000
# Channels that a collective sends over one after the other; an exchange is summed up and routed so many pairs of leaves a time.
_CHANNELS, _PAIRS = 16, 1 << 20
_EXCHANGES = ("all_to_all", "all_to_all_v")


def refuse_long_routing(wiring: Wiring, job: JobWiring, op: str, algorithms: int, routing: str) -> None:
    """Say so where shortest paths are asked for in a fabric so large that they take long, and tiers give the same ways at once.

    Raises
    ------
    InputError
        If the distances that *algorithms* need are more than ``MOST_DISTANCES``.
    """
    tiers, cluster = wiring.tiers, wiring.cluster
    if routing != "shortest" or tiers is None or wiring.tables is not None:
        return
    link = tiers.port_link[job.nodes.node_of_device[cluster.ports.device] >= 0]
    leaves = len(np.unique(tiers.upper[link[link >= 0]]))
    switches = int((cluster.devices.kind == DeviceKind.SWITCH).sum())
    rounds = max(1, leaves * leaves // _PAIRS) if op in _EXCHANGES else _CHANNELS
    if leaves * switches * rounds * algorithms > MOST_DISTANCES:
        raise InputError(
            f"routing shortest: would take minutes here ({counted(leaves, 'leaf', 'leaves')} of {switches:,} switches, whose "
            "distances are looked up for every channel); allowed are smaller jobs; take adaptive, which spreads messages over "
            "the same ways of a tree, or lower --gpus"
        )
