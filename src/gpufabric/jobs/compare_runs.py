"""Judged tables and what their files say → the runs as they are compared with each other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from gpufabric.diagnosis.common_suspect import find_suspects
from gpufabric.diagnosis.what_changed import what_changed
from gpufabric.jobs.find_causes import deciding
from gpufabric.records.cluster import Cluster, Role
from gpufabric.records.compared_run import ComparedRun
from gpufabric.records.findings import Finding
from gpufabric.records.job_evidence import FileEvidence
from gpufabric.records.measurements import MeasuredTable
from gpufabric.records.names import device_names
from gpufabric.records.nccl_log import NcclLog
from gpufabric.records.verdicts import Verdict

_NICS = "NCCL_IB_HCA"
_FROM_BYTES = 1 << 20
_Named = tuple[MeasuredTable, str, Verdict]


def compare_runs(tables: Sequence[_Named], evidence: FileEvidence) -> list[Finding]:
    """Return what changed between two runs of the same test.

    Parameters
    ----------
    tables
        Each with the name of its file and its verdict.
    evidence
        Everything that was read.
    """
    return what_changed(list(_runs(tables, evidence, {})))


def suspects_of(
    tables: Sequence[_Named], evidence: FileEvidence, leaves: Mapping[str, tuple[str, ...]]
) -> tuple[Finding, ...]:
    """Return the places that the slow ones of several runs have in common, the surest first.

    Parameters
    ----------
    tables, evidence
        As of :func:`compare_runs`.
    leaves
        Host → the leaves it hangs on, where its name is one of the description.
    """
    return tuple(find_suspects(list(_runs(tables, evidence, leaves))))


def of_job(
    suspects: Sequence[Finding], hosts: Sequence[str], leaves: Mapping[str, tuple[str, ...]]
) -> tuple[Finding, ...]:
    """Return those of *suspects* that a job on *hosts* has; a NIC is of every job."""
    own = {f"server {host}" for host in hosts}
    own |= {f"leaf {leaf}" for host in hosts for leaf in leaves.get(host, ())}
    return tuple(one for one in suspects if one.where in own or one.where.startswith("NIC "))


def leaves_of_hosts(cluster: Cluster) -> dict[str, tuple[str, ...]]:
    """Return server → the leaves that it hangs on, all by name."""
    a, b = cluster.link_device_a, cluster.link_device_b
    joins = (cluster.devices.role[a] == Role.SERVER) & (cluster.devices.role[b] == Role.LEAF)
    pairs = np.unique(np.stack([a[joins], b[joins]], axis=1), axis=0)
    names = device_names(cluster, np.unique(pairs)).tolist()
    name = dict(zip(np.unique(pairs).tolist(), names, strict=True))
    found: dict[str, list[str]] = {}
    for server, leaf in pairs.tolist():
        found.setdefault(name[server], []).append(name[leaf])
    return {server: tuple(own) for server, own in found.items()}


def _runs(
    tables: Sequence[_Named],
    evidence: FileEvidence,
    leaves: Mapping[str, tuple[str, ...]],
) -> Iterator[ComparedRun]:
    for table, file, verdict in tables:
        best = deciding(verdict)
        large = [
            r for r in table.rows if r.size_bytes >= _FROM_BYTES and r.consistent and r.busbw_bytes_per_s > 0
        ]
        if not large or table.op is None or table.ranks is None:
            continue
        row = max(large, key=lambda r: (r.size_bytes, r.busbw_bytes_per_s))
        hosts = tuple(host for host, _ in table.hosts)
        facts = _facts(table, file, evidence)
        own = [leaf for host in hosts for leaf in leaves.get(host, ())]
        nics = [facts[_NICS]] if _NICS in facts and "," not in facts[_NICS] else []
        yield ComparedRun(
            verdict.what,
            file,
            table.op,
            table.ranks,
            hosts,
            (*dict.fromkeys(f"leaf {leaf}" for leaf in own), *(f"NIC {nic}" for nic in nics)),
            row.size_bytes,
            row.busbw_bytes_per_s,
            float("nan") if best is None else 1.0 + best.gap,
            facts,
        )


def _facts(table: MeasuredTable, file: str, evidence: FileEvidence) -> dict[str, str]:
    facts = {"library": table.library_version} if table.library_version else {}
    facts |= {"GPU": table.gpu_name} if table.gpu_name else {}
    facts |= {name: value for name, (value, _) in evidence.file_settings.get(file, {}).items()}
    for log in evidence.logs:
        if log.file == file:
            facts |= _of_log(log)
    return facts


def _of_log(log: NcclLog) -> dict[str, str]:
    facts = {"library": f"{log.library} {log.version}".strip()} if log.version else {}
    facts |= {"network": ", ".join(log.networks)} if log.networks else {}
    shown = [name for name, _ in log.transports()]
    facts |= {"transports": ", ".join(sorted(shown)[:8])} if shown else {}
    channels = {name: count for one in log.communicators for name, count in one.channels}
    facts |= {f"{name} channels": str(count) for name, count in channels.items()}
    rings = max((len(one.rings) for one in log.communicators), default=0)
    facts |= {"rings": str(rings)} if rings else {}
    facts |= dict(log.settings)
    last = log.choices[-1] if log.choices else None
    facts |= {"algorithm": f"{last.algorithm} {last.protocol}"} if last else {}
    return facts
