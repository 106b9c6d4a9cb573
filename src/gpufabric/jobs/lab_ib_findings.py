"""What OpenSM did and what its tables do → findings."""

from __future__ import annotations

from collections.abc import Iterator

from gpufabric.jobs.table_balance import TableBalance
from gpufabric.lab.opensm_on_ibsim import OpensmRun
from gpufabric.records.findings import Finding

MANUAL = "OpenSM 3.3.23, manual page and doc/current-routing.txt"


def routing_findings(engine: str, run: OpensmRun, balance: TableBalance, when: str = "") -> Iterator[Finding]:
    """Yield what a user must know of one routing; *when* ends the sentences, such as `` after the cut``."""
    if run.log.engine != engine:
        complaints = [error.text for error in run.log.errors]
        why = f" ({complaints[0].split(': ', 2)[-1].rstrip(':')})" if complaints else ""
        yield Finding(
            "opensm-fell-back",
            "warning",
            "opensm",
            f"OpenSM did not route with {engine} but fell back to {run.log.engine}{when}{why}",
            expected=engine,
            found=run.log.engine,
            evidence="; ".join(complaints[:3]),
            fix="make the tree pure (equally many links in every group of a tier), or name the roots with --roots",
            source=MANUAL,
        )
    if balance.unreachable:
        yield Finding(
            "opensm-unreachable",
            "error",
            "forwarding tables",
            f"{balance.unreachable:,} of {balance.pairs:,} pairs of switch and end port have no way{when}",
            expected="0",
            found=f"{balance.unreachable:,}",
            evidence="; ".join(balance.lost_pairs),
            fix="choose another engine, or leave the roots out",
            source=MANUAL,
        )
    if balance.longer:
        yield Finding(
            "opensm-longer-ways",
            "warning",
            "forwarding tables",
            f"{balance.longer:,} of {balance.pairs:,} pairs take more links than a shortest way{when}",
            expected=f"at most {balance.most_shortest_hops} links between switches",
            found=f"{balance.most_hops}",
            fix="choose another engine, or name the roots with --roots",
            source=MANUAL,
        )
