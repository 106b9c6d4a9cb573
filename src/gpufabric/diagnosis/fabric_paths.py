"""What happens between the switches: hashing, oversubscription, one slow link."""

from __future__ import annotations

from collections.abc import Iterator

from gpufabric.records.job_evidence import JobEvidence
from gpufabric.records.verdicts import Cause
from gpufabric.units import counted, format_gigabytes_per_s

ECMP = "ecmp-collisions"
ADAPTIVE_OFF = "adaptive-routing-off"
OVERSUBSCRIBED = "oversubscription"
SLOW_LINK = "slow-link"
#: Id of the what-if that says what adaptive routing would give.
ADAPTIVE_GAIN = "adaptive-routing-gain"
_FEW_QUEUE_PAIRS = 4
_GAIN = 0.1
_OVER = 1.05
#: Ports of one device whose traffic differs by this factor, and how much traffic makes that no chance.
_UNEVEN = 1.25
_MUCH_BYTES = 4e9
#: Ports of a bond: those of a switch carry what their servers ask for, even or not.
_BOND = 2


def ecmp_collisions(evidence: JobEvidence) -> Iterator[Cause]:
    """Yield flows that hash onto the same uplink, where switches choose by hash and connections have few queue pairs."""
    job = evidence.job
    if job is None or not evidence.across or not evidence.slow or _links_err(evidence):
        return
    yield from _uneven_ports(evidence)
    if not job.switches_crossed:
        return
    name, value, where = evidence.setting("NCCL_IB_QPS_PER_CONNECTION")
    pairs = int(value) if value.strip().isdigit() and len(value.strip()) < 6 else 1
    ethernet, hashed = job.network == "ethernet", job.routing == "ecmp"
    if not (ethernet or hashed) or pairs > _FEW_QUEUE_PAIRS:
        return
    match = evidence.matching(ECMP, 0.15)
    sure = 0.25 + 0.15 * hashed + 0.15 * (match is not None) - 0.1 * (not ethernet)
    said = f"{job.routing} routing, {counted(pairs, 'queue pair')} a connection" + (
        f" ({where})" if name else ""
    )
    if match:
        said += f"; {match.what} gives {format_gigabytes_per_s(match.busbw_bytes_per_s)}"
    yield Cause(
        "flows may collide on uplinks: the switches choose them by hash",
        sure,
        said,
        "read the bytes of all uplinks of one leaf during a run: uneven ones show it; more queue pairs"
        " (NCCL_IB_QPS_PER_CONNECTION=4, NCCL_IB_SPLIT_DATA_ON_QPS=0) or adaptive routing spread them",
        ECMP,
    )


def adaptive_routing_off(evidence: JobEvidence) -> Iterator[Cause]:
    """Yield adaptive routing that the description has and the job does not get, or that the fabric lacks."""
    job = evidence.job
    name, value, where = evidence.setting("NCCL_IB_ADAPTIVE_ROUTING")
    if job is None or not evidence.across or not job.switches_crossed:
        return
    next_step = (
        "InfiniBand: the subnet manager's log names its engine (ar_updn, ar_ftree), and NCCL_IB_ADAPTIVE_ROUTING=1 asks for it;"
        " Ethernet: look at the switches' load balancing"
    )
    better = [one for one in evidence.what_ifs if one.cause == ADAPTIVE_GAIN]
    if job.routing != "adaptive" and evidence.best and better:
        gain = better[0].busbw_bytes_per_s / evidence.best.measured_bytes_per_s - 1
        if gain > _GAIN:
            yield Cause(
                "the fabric has no adaptive routing: hashing makes flows collide",
                0.5,
                f"the description says {job.routing} routing; {better[0].what} gives"
                f" {format_gigabytes_per_s(better[0].busbw_bytes_per_s)}, {gain:.0%} more",
                next_step,
                ADAPTIVE_OFF,
            )
        return
    if not evidence.slow:
        return
    off = value.strip() == "0"
    match = evidence.matching(ADAPTIVE_OFF, 0.15)
    said = [f"the description says {job.routing} routing"]
    said += [f"{where}: {name}={value}"] if name else []
    said += [f"{match.what} gives {format_gigabytes_per_s(match.busbw_bytes_per_s)}"] if match else []
    sure = 0.15 + 0.6 * off + 0.15 * (match is not None)
    yield Cause("adaptive routing may be off", sure, "; ".join(said), next_step, ADAPTIVE_OFF)


def oversubscription(evidence: JobEvidence) -> Iterator[Cause]:
    """Yield tiers with fewer uplinks than downlinks, or than described, crossed by ranks in no good order."""
    job = evidence.job
    if job is None or not evidence.across or not evidence.slow or not job.switches_crossed:
        return
    match = evidence.matching(OVERSUBSCRIBED, 0.15)
    over = job.oversubscription > _OVER
    sure = 0.2 + 0.25 * over + 0.2 * (match is not None) + 0.06 * (evidence.share < 0.6)
    said = [f"tiers are described as {job.oversubscription:.3g}:1"]
    said += [f"{match.what} gives {format_gigabytes_per_s(match.busbw_bytes_per_s)}"] if match else []
    said += (
        [f"measured / predicted is {evidence.share:.2f}, as with so many of the links up"]
        if not match
        else []
    )
    yield Cause(
        "the servers are spread over leaves that too few links join, or their ranks cross them too often",
        sure,
        "; ".join(said),
        "run the same number of servers within one leaf or unit, and these in fabric order (hostfile by leaf, Slurm's topology"
        " plug-in); gpufabric check with the fabric's files counts the links up",
        OVERSUBSCRIBED,
    )


def slow_link(evidence: JobEvidence) -> Iterator[Cause]:
    """Yield one link or rail at half its rate: a ring runs at its slowest link."""
    job = evidence.job
    if job is None or not evidence.across or not evidence.slow:
        return
    tested = [
        (max(row.average_bytes_per_s for row in run.rows), run, record.file)
        for record in evidence.files.perftests
        for run in record.runs
        if run.rows
    ]
    if tested and job.nic_bytes_per_s > 0:
        rate, run, file = min(tested, key=lambda one: one[0])
        if rate < 0.75 * job.nic_bytes_per_s:
            yield Cause(
                f"{run.device or 'a NIC'} is slow by itself",
                0.75,
                f"{file}:{run.line}: {format_gigabytes_per_s(rate)} of {format_gigabytes_per_s(job.nic_bytes_per_s)}",
                "test the other NICs the same way; then the cable, the PCIe link (lspci -vvv) and the switch port of this one",
                SLOW_LINK,
            )
            return
    match = evidence.matching(SLOW_LINK, 0.1)
    if match or abs(evidence.share - 0.5) < 0.06:
        rate_text = (
            f"{match.what} gives {format_gigabytes_per_s(match.busbw_bytes_per_s)}"
            if match
            else "half a rate"
        )
        yield Cause(
            "one link or rail may run at half its rate: every ring waits for it",
            0.24,
            f"measured / predicted is {evidence.share:.2f}; {rate_text}",
            "run pairs of servers, or one rail at a time (NCCL_IB_HCA=NIC): gpufabric acceptance writes the list",
            SLOW_LINK,
        )


def _links_err(evidence: JobEvidence) -> bool:
    names = ("symbol_errors", "link_downs", "receive_errors", "integrity_errors")
    return any(
        port.values.get(name, 0) > 0
        for file in evidence.files.counters
        for port in file.ports
        for name in names
    )


def _uneven_ports(evidence: JobEvidence) -> Iterator[Cause]:
    """Yield a device whose ports sent very different amounts, as hashing on few queue pairs makes them."""
    sent: dict[tuple[str, str], list[float]] = {}
    for file in evidence.files.counters:
        for port in file.ports:
            if port.values.get("transmitted_bytes", 0) > _MUCH_BYTES:
                sent.setdefault((file.file, port.device), []).append(port.values["transmitted_bytes"])
    for (name, device), amounts in sent.items():
        if len(amounts) == _BOND and max(amounts) > _UNEVEN * min(amounts):
            yield Cause(
                "queue pairs fall unevenly on the ports: the hash puts several on one",
                0.65,
                f"{name}: {counted(len(amounts), 'port')} of {device or 'one device'} sent {min(amounts):.3g} to"
                f" {max(amounts):.3g} bytes",
                "more queue pairs (NCCL_IB_QPS_PER_CONNECTION=4) spread them; or one port a queue pair instead of a bond",
                ECMP,
            )
            return
