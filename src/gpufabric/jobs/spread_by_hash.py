"""Mean loads of links and the size of a message → loads as a hash would spread the messages."""

from __future__ import annotations

import numpy as np

from gpufabric.jobs.lay_wiring import Wiring
from gpufabric.records.cluster import Role
from gpufabric.records.flows import LinkLoads


def spread_by_hash(wiring: Wiring, mean: LinkLoads, message: float, seed: int) -> LinkLoads:
    """Return loads whose counts of messages are drawn as those of hashed messages are distributed.

    A leaf that sends M messages over W equal up links puts a binomially distributed number on each, with mean M/W; so does a leaf
    that is sent M on its down links, because by then the hash has picked among the W spines. Higher up, where two independent
    choices meet, and where there are no tiers, a Poisson distribution stands for it. Links are drawn independently of each
    other: their sum a switch is then only nearly M, but the fullest of many links, which is what counts, is distributed alike.

    Parameters
    ----------
    wiring : Wiring
    mean : LinkLoads
        Evenly spread loads of links between switches, each link once.
    message : float
        Bytes of one message.
    seed : int
    """
    if not len(mean.link) or message <= 0:
        return mean
    random = np.random.default_rng(seed)
    graph, role = wiring.graph, wiring.cluster.devices.role
    start, end = (
        graph.vertex_device[graph.link_from[mean.link]],
        graph.vertex_device[graph.link_to[mean.link]],
    )
    count = mean.weight / message
    drawn = random.poisson(count).astype(np.float64)
    if wiring.tiers is not None:
        for mine, leaf in ((role[start] == Role.LEAF, start), (role[end] == Role.LEAF, end)):
            of = leaf[mine]
            total = np.bincount(of, count[mine], minlength=len(role))[of]
            drawn[mine] = random.binomial(
                np.rint(total).astype(np.int64), np.minimum(count[mine] / total, 1.0)
            )
    return LinkLoads(mean.link, drawn * message)
