"""Collective → Schedule, one algorithm a file; the verb is ``plan``."""

from __future__ import annotations

from collections.abc import Callable

from gpufabric.collectives import (
    collnet,
    direct,
    halving_doubling,
    hierarchical,
    nvls,
    nvls_tree,
    pairwise,
    pat,
    pxn,
    ring,
    tree,
)
from gpufabric.collectives.job_wiring import JobWiring
from gpufabric.records.collective import Collective
from gpufabric.records.schedule import Schedule

Plan = Callable[[Collective, JobWiring], Schedule]
ALGORITHMS: dict[str, dict[str, Plan]] = {
    "all_reduce": {
        "ring": ring.plan,
        "tree": tree.plan,
        "nvls": nvls.plan,
        "nvls_tree": nvls_tree.plan,
        "collnet_direct": collnet.plan_direct,
        "collnet_chain": collnet.plan_chain,
        "halving_doubling": halving_doubling.plan,
        "direct": direct.plan,
        "hierarchical": hierarchical.plan,
    },
    **{
        op: {
            "ring": ring.plan,
            "pat": pat.plan,
            "nvls": nvls.plan,
            "collnet_direct": collnet.plan_direct,
            "halving_doubling": halving_doubling.plan,
            "direct": direct.plan,
        }
        for op in ("all_gather", "reduce_scatter")
    },
    **{op: {"ring": ring.plan, "direct": direct.plan} for op in ("broadcast", "reduce")},
    **{op: {"pairwise": pairwise.plan, "pxn": pxn.plan} for op in ("all_to_all", "all_to_all_v")},
    **{op: {"direct": direct.plan, "pxn": direct.plan_pxn} for op in ("gather", "scatter", "send_recv")},
}
