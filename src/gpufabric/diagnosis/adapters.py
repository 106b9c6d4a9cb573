"""Which NICs carry the traffic: not all of them, one for several GPUs, a far one, another one at each end."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator

from gpufabric.records.job_evidence import JobEvidence
from gpufabric.records.nccl_log import Communicator, Connection
from gpufabric.records.verdicts import Cause
from gpufabric.units import counted, format_gigabytes_per_s

NICS_UNUSED = "nics-unused"
NIC_SHARED = "nic-shared"
NIC_FAR = "nic-far"
FEW_GPUS = "few-gpus-per-server"
RAIL_CHANGES = "ring-changes-rail"
#: How far measured / predicted may be from k of n NICs, relative to one NIC: neighbours must not both fit.
_FITS = 0.12
_ADVICE = 'the line "NET/IB : Using" of NCCL_DEBUG=INFO must list every compute NIC; unset NCCL_IB_HCA or name all of them'


def nics_unused(evidence: JobEvidence) -> Iterator[Cause]:
    """Yield NICs that take no part: a list that leaves them out, connections that never use them, or a rate that fits."""
    job = evidence.job
    nics = job.nics_per_server if job else 0
    name, value, where = evidence.setting("NCCL_IB_HCA")
    named = _listed(value) if name else 0
    if nics and 0 < named < nics:
        said = f"{where}: {name}={value[:80]} names {named} of {nics} compute NICs"
        yield Cause(
            f"NCCL is told to use {named} of {nics} NICs of a server", 0.85, said, _ADVICE, NICS_UNUSED
        )
        return
    used = _used_by_host(evidence)
    fewest = min(used.items(), key=lambda item: item[1][0], default=None)
    if nics and fewest and fewest[1][0] < nics:
        count, said = fewest[1]
        host = f" on {fewest[0]}" if fewest[0] else ""
        yield Cause(
            f"NCCL uses {count} of {nics} NICs of a server", 0.8, f"{said}{host}", _ADVICE, NICS_UNUSED
        )
        return
    if evidence.across and evidence.slow and not used:
        yield from _by_rate(evidence, nics)


def _by_rate(evidence: JobEvidence, nics: int) -> Iterator[Cause]:
    share = evidence.share
    fitting = [used for used in range(1, nics) if abs(share * nics / used - 1) <= _FITS / used]
    for used in fitting[:1]:
        yield Cause(
            f"only {used} of {nics} NICs of a server may carry traffic",
            0.35 if used == 1 else 0.25,
            f"measured / predicted is {share:.2f}, {used}/{nics} is {used / nics:.2f}",
            _ADVICE,
            NICS_UNUSED,
        )
    if not fitting and nics > 1 and share < 1 / nics:
        yield Cause(
            f"at most one of {nics} NICs of a server may carry traffic",
            0.2,
            f"measured / predicted is {share:.2f}, less than the {1 / nics:.2f} that one NIC gives",
            _ADVICE,
            NICS_UNUSED,
        )


def _listed(value: str) -> int:
    """Return how many adapters a list names exactly, 0 where it excludes some or gives prefixes."""
    text = value.strip()
    names = {part.split(":")[0] for part in text.removeprefix("=").split(",") if part}
    exact = text.startswith("=") or all(part[-1].isdigit() and "_" in part for part in names)
    return len(names) if names and exact and not text.startswith("^") else 0


def _used_by_host(evidence: JobEvidence) -> dict[str, tuple[int, str]]:
    """Return host → how many NICs it uses and where that is said, from logs that tell."""
    found: dict[str, tuple[int, str]] = {}
    for log in evidence.files.logs:
        hosts = {nic.host for nic in log.nics if nic.link in {"IB", "RoCE"}}
        for host in hosts:
            own = [nic for nic in log.nics if nic.host == host and nic.link in {"IB", "RoCE"}]
            count = len({(nic.name, nic.port) for nic in own})
            found[host] = (count, f"{log.file}:{own[0].line}: {count} listed in NET/IB : Using")
        for one in log.communicators:
            devices = _devices(one)
            if devices and _whole(one):
                first = next(c for c in one.connections if c.transport == "NET")
                said = f"{log.file}:{first.line}: connections use {counted(len(devices), 'NIC')}"
                if len(devices) < min((count for count, _ in found.values()), default=math.inf):
                    found["all"] = (len(devices), said)
    return {("" if host == "all" else host): value for host, value in found.items()}


def _devices(one: Communicator) -> Counter[int]:
    return Counter(c.device for c in one.connections if c.transport == "NET" and c.device >= 0)


def _whole(one: Communicator) -> bool:
    """Say whether the connections of all channels between servers are in the log."""
    channels = {c.channel for c in one.connections if c.transport == "NET"}
    said = max((count for _, count in one.channels), default=len(one.rings))
    return bool(channels) and len(channels) >= said > 0


def nic_shared(evidence: JobEvidence) -> Iterator[Cause]:
    """Yield one NIC that serves several GPUs while others have their own."""
    for inside in evidence.files.insides:
        near = Counter(nic for gpu in range(len(inside.gpus)) for nic in inside.near_nics(gpu)[:1])
        if near and max(near.values()) > min(near.values()):
            nic, gpus = near.most_common(1)[0]
            yield Cause(
                f"{inside.nics[nic]} is the nearest NIC of {gpus} GPUs, others have one each",
                0.5 if evidence.slow else 0.3,
                f"{inside.where}: nearest NICs {', '.join(f'{inside.nics[n]} ×{c}' for n, c in near.items())}",
                "look for a NIC that is missing or in another slot: lspci -t, nvidia-smi topo -m",
                NIC_SHARED,
            )
    for log in evidence.files.logs:
        for one in log.communicators:
            used = _devices(one)
            if len(used) > 1 and max(used.values()) >= 2 * min(used.values()) and _whole(one):
                device, count = used.most_common(1)[0]
                yield Cause(
                    f"NIC {device} carries {count / min(used.values()):.1f} times the channels of another",
                    0.6,
                    f"{log.file}: connections of each NIC: {', '.join(f'{d}: {n}' for d, n in sorted(used.items()))}",
                    "every NIC must carry equally many channels: look at NCCL_IB_HCA and the graph (NCCL_GRAPH_DUMP_FILE)",
                    NIC_SHARED,
                )
                return


def nic_far(evidence: JobEvidence) -> Iterator[Cause]:
    """Yield GPUs whose nearest NIC is behind a CPU, so that their traffic crosses it."""
    for inside in evidence.files.insides:
        if not inside.nics or inside.own_memory:
            continue
        lonely = [inside.gpus[gpu] for gpu in range(len(inside.gpus)) if not inside.near_nics(gpu)]
        if 0 < len(lonely) < len(inside.gpus):
            yield Cause(
                f"{', '.join(lonely[:8])} reach every NIC through a CPU only",
                0.6 if evidence.slow else 0.3,
                f"{inside.where}: no NIC at PIX or PXB for {len(lonely)} of {len(inside.gpus)} GPUs",
                "a NIC may be missing, down or in another slot; NCCL_NET_GDR_LEVEL=SYS lets GPUDirect cross the CPU",
                NIC_FAR,
            )


def few_gpus(evidence: JobEvidence) -> Iterator[Cause]:
    """Yield jobs with so few ranks a server that NICs of the server stay idle."""
    table, job = evidence.table, evidence.job
    ranks = min((count for _, count in table.hosts), default=0)
    nics = job.nics_per_server if job else 0
    gpus = job.gpus_per_server if job else 0
    listed = sum(count for _, count in table.hosts)
    if listed < (table.ranks or 0) * table.groups:
        return  # the list is elided: hosts have more ranks than it shows
    if len(table.hosts) < 2 or not nics or ranks >= gpus:
        return
    most = job.nic_bytes_per_s * max(1, nics * ranks // gpus) if job else 0.0
    yield Cause(
        f"{counted(ranks, 'rank')} a server drive about {max(1, nics * ranks // gpus)} of {nics} NICs",
        0.25 if evidence.slow else 0.75,
        f"the device list has {counted(ranks, 'rank')} on each host; NICs near their GPUs give {format_gigabytes_per_s(most)}",
        f"run one rank a GPU ({gpus} a server): only then do all NICs take part",
        FEW_GPUS,
    )


def ring_changes_rail(evidence: JobEvidence) -> Iterator[Cause]:
    """Yield rings that leave one server on a NIC and enter the next on another: their traffic crosses the spine."""
    for log in evidence.files.logs:
        changes = [pair for one in log.communicators for pair in _changes(one)]
        if not changes:
            continue
        first = changes[0]
        channels = sorted({send.channel for send, _ in changes})
        crossing = evidence.setting("NCCL_CROSS_NIC")[1].strip()
        yield Cause(
            f"rings change rail in {counted(len(channels), 'channel')}: they leave on one NIC and arrive on another",
            0.7 if evidence.slow else 0.35,
            f"{log.file}:{first[0].line}: channel {first[0].channel} sends from NIC {first[0].device} and arrives at"
            f" {first[1].device} (line {first[1].line})"
            + (f"; NCCL_CROSS_NIC={crossing}" if crossing else ""),
            "set NCCL_CROSS_NIC=0 in a rail-optimised fabric, and give NICs the order of the GPUs on every server",
            RAIL_CHANGES,
        )
        return
    name, value, where = evidence.setting("NCCL_CROSS_NIC")
    if (
        value.strip() in {"1", "2"}
        and evidence.across
        and evidence.slow
        and evidence.job
        and evidence.job.switches_crossed
    ):
        yield Cause(
            "rings may change rail between servers",
            0.45 if value.strip() == "1" else 0.3,
            f"{where}: {name}={value}",
            "set NCCL_CROSS_NIC=0 in a rail-optimised fabric; the lines via NET/IB/n of both ends must name the same n",
            RAIL_CHANGES,
        )


def _changes(one: Communicator) -> list[tuple[Connection, Connection]]:
    arriving = {
        (c.channel, c.source, c.target): c
        for c in one.connections
        if c.transport == "NET" and c.direction == "receive" and c.device >= 0
    }
    return [
        (c, other)
        for c in one.connections
        if c.transport == "NET"
        and c.direction == "send"
        and c.device >= 0
        and (other := arriving.get((c.channel, c.source, c.target))) is not None
        and other.device != c.device
    ]
