"""Whether a table of a log and a cluster fit together, so that one may be judged by the other."""

from __future__ import annotations

import re
from collections.abc import Sequence

from gpufabric.records.bus_factor_table import BUS_FACTORS
from gpufabric.records.findings import Finding
from gpufabric.records.measurements import MeasuredTable
from gpufabric.units import counted

RULE_GPU = "measured-gpu-mismatch"
RULE_LIBRARY = "measured-library-mismatch"
RULE_RANKS = "measured-ranks-mismatch"
#: A log does not say the table of bytes of an all_to_all_v, and hypercube is a test and no operation.
_NOT_PREDICTED = ("all_to_all_v", "hypercube")
_MODEL = re.compile(r"\b(?:(?:GB|GH|MI|RTX|[ABHLPVT])[ -]?\d{2,4}[A-Z]{0,2})\b", re.IGNORECASE)


def why_not_judged(table: MeasuredTable, gpus: int, gpus_per_server: int) -> str:
    """Return why *table* can't be judged by a cluster of *gpus* GPUs, an empty string when it can.

    A job must fill whole servers, be inside one of them, or have as many ranks on each of the hosts that its log lists.
    """
    ranks = table.ranks
    reason = ""
    if table.op is None or table.op not in BUS_FACTORS or table.op in _NOT_PREDICTED:
        reason = f"the operation is {table.op or 'unknown'}, which is not predicted"
    elif table.cpu_time:
        reason = "the times are of the host's calls (-C), not of the transfers"
    elif table.groups > 1:
        reason = f"{table.groups} groups of ranks ran at the same time and shared the network"
    elif ranks is None:
        reason = "the number of ranks is unknown"
    elif ranks < 2:
        reason = "the test ran on one rank"
    elif ranks > gpus:
        reason = f"{counted(ranks, 'rank')} are more than the {counted(gpus, 'GPU')} of the description"
    elif ranks % gpus_per_server and ranks > gpus_per_server and not even_hosts(table):
        reason = f"{counted(ranks, 'rank')} do not fill servers of {counted(gpus_per_server, 'GPU')}"
    return reason


def even_hosts(table: MeasuredTable) -> int:
    """Return on how many hosts the ranks ran, as many on each; 0 when the log does not list them all."""
    counts = [count for _, count in table.hosts]
    even = bool(counts) and len(set(counts)) == 1 and sum(counts) == table.ranks
    return len(counts) if even else 0


def other_library(table: MeasuredTable, libraries: Sequence[str]) -> str:
    """Return why a log can't be of a cluster whose GPUs run *libraries*, an empty string when it can or nothing is known."""
    if not table.library or not libraries or table.library in libraries:
        return ""
    return f"the log is of {table.library}, and the GPUs of the description run {', '.join(libraries)}"


def check(
    table: MeasuredTable, gpu_model: str, gpus: int, file: str, libraries: Sequence[str] = ()
) -> list[Finding]:
    """Return findings about a log of other GPUs, another library or more GPUs than the cluster has.

    Parameters
    ----------
    table
        A table of the log.
    gpu_model
        Name of the cluster's GPU, such as ``B200``; an empty string when it is not known.
    gpus
        GPUs of the cluster.
    file
        What findings call the log.
    libraries
        Names of the libraries that run on the cluster's GPU; empty when that is not known.
    """
    findings = []
    where = f"{file}:{table.rows[0].line}" if table.rows else file
    here, there = model_code(table.gpu_name), model_code(gpu_model)
    if here and there and here != there:
        findings.append(
            Finding(
                RULE_GPU,
                "error",
                where,
                "the log was measured on other GPUs than the description has",
                expected=gpu_model,
                found=table.gpu_name,
                fix="judge the log by the description of the cluster that it was measured on",
            )
        )
    if other_library(table, libraries):
        findings.append(
            Finding(
                RULE_LIBRARY,
                "error",
                where,
                "the log was measured with a library that does not run on the GPUs of the description",
                expected=", ".join(libraries),
                found=table.library,
                fix="judge the log by the description of the cluster that it was measured on",
            )
        )
    if table.ranks is not None and table.ranks > gpus:
        findings.append(
            Finding(
                RULE_RANKS,
                "error",
                where,
                "the log has more ranks than the description has GPUs",
                expected=f"at most {counted(gpus, 'rank')}",
                found=counted(table.ranks, "rank"),
                fix="judge the log by the description of the cluster that it was measured on",
            )
        )
    return findings


def model_code(name: str) -> str:
    """Return the code that tells GPU models apart (``H100``, ``MI300X``), empty if there is none."""
    found = _MODEL.search(name)
    return re.sub(r"[ -]", "", found.group()).upper() if found else ""
