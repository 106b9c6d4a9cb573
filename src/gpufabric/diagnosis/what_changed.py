"""Two runs of the same test → what is different between them, beside the rate."""

from __future__ import annotations

from collections.abc import Sequence

from gpufabric.records.compared_run import ComparedRun
from gpufabric.records.findings import Finding
from gpufabric.units import format_gigabytes_per_s, format_message_bytes

RULE = "runs-differ"
_MATTERS = 0.1
_MOST_DIFFERENCES = 12


def what_changed(runs: Sequence[ComparedRun]) -> list[Finding]:
    """Return a finding for each pair of neighbouring runs of one operation over as many ranks whose rates differ by a tenth.

    Parameters
    ----------
    runs
        In the order that the files were given: the first is what the second is compared with. Of more than four there is no
        first and second, and nothing is said; nor of runs that have no host in common, which are of two places.
    """
    if not 2 <= len(runs) <= 4:
        return []
    return [
        _finding(old, new)
        for i, old in enumerate(runs)
        for new in runs[i + 1 : i + 2]
        if (old.op, old.ranks, old.size_bytes) == (new.op, new.ranks, new.size_bytes)
        and (not (old.hosts and new.hosts) or set(old.hosts) & set(new.hosts))
        and abs(new.busbw_bytes_per_s / old.busbw_bytes_per_s - 1) > _MATTERS
    ]


def _finding(old: ComparedRun, new: ComparedRun) -> Finding:
    facts = [
        f"{name}: {old.facts.get(name) or 'not said'} → {new.facts.get(name) or 'not said'}"
        for name in dict.fromkeys([*old.facts, *new.facts])
        if old.facts.get(name) != new.facts.get(name)
    ]
    if set(old.hosts) != set(new.hosts):
        gone = sorted(set(old.hosts) - set(new.hosts))
        come = sorted(set(new.hosts) - set(old.hosts))
        facts.append(f"hosts: {', '.join(gone[:8]) or 'none'} → {', '.join(come[:8]) or 'none'}")
    elif old.hosts != new.hosts:
        facts.append("order of the hosts")
    said = "; ".join(facts[:_MOST_DIFFERENCES])
    return Finding(
        RULE,
        "info",
        new.what,
        f"{new.busbw_bytes_per_s / old.busbw_bytes_per_s - 1:+.0%} beside {old.what}: "
        + (said or "nothing that the files say is different"),
        expected=f"{format_gigabytes_per_s(old.busbw_bytes_per_s)} at {format_message_bytes(old.size_bytes)}",
        found=format_gigabytes_per_s(new.busbw_bytes_per_s),
        evidence=said,
        fix="change these back one at a time"
        if facts
        else "run both with NCCL_DEBUG=INFO: transports, channels and algorithm then stand in the files",
        source="docs/rules/runs-differ.md",
    )
