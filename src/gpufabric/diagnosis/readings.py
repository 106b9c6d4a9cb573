"""When nothing is broken: how a figure has to be read."""

from __future__ import annotations

from collections.abc import Iterator

from gpufabric.records.job_evidence import JobEvidence
from gpufabric.records.verdicts import Cause
from gpufabric.units import format_gigabytes_per_s, format_message_bytes

MESSAGE_SMALL = "message-too-small"
AVERAGE = "average-over-small-sizes"
WITHOUT_MPI = "not-built-with-mpi"
ERROR_COLUMN = "error-column"
TUNING_MODEL = "tuning-table"
AT_CEILING = "at-the-ceiling"
TWO_SERVER_TREE = "tree-on-two-servers"
IN_SWITCH = "in-switch-reduction"
OTHER_CLUSTER = "description-differs"
_PLATEAU_BYTES = 1 << 30
_NEAR = 0.9
#: A rate that grows by less than this when the size doubles has levelled off.
_RISING = 1.05
#: The prediction knows the size: what is so far below it is not slow because of the size.
_NOT_BY_SIZE = 0.5


def message_small(evidence: JobEvidence) -> Iterator[Cause]:
    """Yield tables whose largest size is below the plateau of the bandwidth."""
    largest = max((row.size_bytes for row in evidence.table.rows), default=0)
    if not 0 < largest < _PLATEAU_BYTES:
        return
    flat = _levelled_off(evidence) or evidence.share < _NOT_BY_SIZE
    unsure = evidence.slow or evidence.verdict == "cannot tell"
    sure = 0.15 if flat else 0.6 if unsure else 0.3
    yield Cause(
        "the messages are too small: bandwidth still rises with the size",
        sure,
        f"the largest size is {format_message_bytes(largest)}; busbw levels off from about"
        f" {format_message_bytes(_PLATEAU_BYTES)}",
        "run up to 8G (-e 8G), and read busbw, not algbw",
        MESSAGE_SMALL,
    )


def _levelled_off(evidence: JobEvidence) -> bool:
    """Say whether the two largest sizes have nearly the same rate."""
    best: dict[int, float] = {}
    for row in evidence.table.rows:
        best[row.size_bytes] = max(best.get(row.size_bytes, 0.0), row.busbw_bytes_per_s)
    last = [best[size] for size in sorted(best)[-2:]]
    return len(last) > 1 and last[1] < last[0] * _RISING


def average_small(evidence: JobEvidence) -> Iterator[Cause]:
    """Yield averages over all sizes, which say more about the list of sizes than about the fabric."""
    average = evidence.table.average_busbw_bytes_per_s
    rows = evidence.table.rows
    best = max((row.busbw_bytes_per_s for row in rows), default=0.0)
    if average is None or not best or average > 0.7 * best:
        return
    yield Cause(
        "the average that the log prints is over small sizes too",
        0.5 if evidence.verdict in {"healthy", "high"} else 0.15,
        f"average {format_gigabytes_per_s(average)}, largest row {format_gigabytes_per_s(best)},"
        f" sizes from {format_message_bytes(max(1, min(row.size_bytes for row in rows)))}",
        "compare the largest sizes, never averages",
        AVERAGE,
    )


def not_built_with_mpi(evidence: JobEvidence) -> Iterator[Cause]:
    """Yield processes that did not find each other: each ran the test by itself."""
    found = [f for f in evidence.files.findings if f.rule == "measured-without-mpi"]
    if found:
        yield Cause(
            "nccl-tests was built without MPI: every process ran a test of its own",
            0.95,
            f"{found[0].where}: {found[0].message}",
            "build with make MPI=1; the result says nothing about the network",
            WITHOUT_MPI,
        )


def error_column(evidence: JobEvidence) -> Iterator[Cause]:
    """Yield tables whose column is the largest deviation, which is no count of faults."""
    checked = [row for row in evidence.table.rows if row.wrong is not None]
    if evidence.table.rows and not checked:
        yield Cause(
            "the error column of old tables is the largest relative deviation, not a count of wrong elements",
            0.4 if evidence.verdict != "low" else 0.12,
            f"{evidence.file}:{evidence.table.rows[0].line}: no row has a count of wrong elements",
            "nothing: 1e-06 is rounding; newer versions print #wrong, where only 0 is right",
            ERROR_COLUMN,
        )


def tuning_table(evidence: JobEvidence) -> Iterator[Cause]:
    """Yield the tuner's own table, when its figure is beaten or missed: it is a model."""
    cells = [(cell, log.file) for log in evidence.files.logs for cell in log.tuning if cell.bytes_per_s > 0]
    rows = evidence.table.rows
    best = max((row.algbw_bytes_per_s for row in rows), default=0.0)
    if not cells or not best:
        return
    cell, file = max(cells, key=lambda one: one[0].bytes_per_s)
    yield Cause(
        "NCCL's tuning table is a model: it chooses by it and promises nothing",
        0.5 if not evidence.slow else 0.15,
        f"{file}:{cell.line}: {cell.algorithm} {cell.protocol} {format_gigabytes_per_s(cell.bytes_per_s)}; measured algbw"
        f" {format_gigabytes_per_s(best)}",
        "judge by the prediction and the ceiling, not by the table",
        TUNING_MODEL,
    )


def at_the_ceiling(evidence: JobEvidence) -> Iterator[Cause]:
    """Yield rates that the wiring can't exceed: more than this is not there."""
    best = evidence.best
    if best is None or evidence.verdict in {"low", "high"} or evidence.slow:
        return
    job, op = evidence.job, evidence.table.op or ""
    line = job.nics_per_server * job.nic_bytes_per_s if job and "all_to_all" not in op else 0.0
    limits = [(best.expected.ceiling_bytes_per_s, best.expected.ceiling_name)]
    limits += [(line, "the rate of the NICs of a server")] if line else []
    limit, name = min(limits)
    share = best.measured_bytes_per_s / limit
    if _NEAR <= share <= 1.05:
        yield Cause(
            "nothing is wrong: the wiring gives no more",
            0.8,
            f"{format_gigabytes_per_s(best.measured_bytes_per_s)} is {share:.0%} of {format_gigabytes_per_s(limit)} ({name})",
            "more needs more or faster NICs; 4x in the name of a link is its lanes, not four adapters",
            AT_CEILING,
        )


def two_server_tree(evidence: JobEvidence) -> Iterator[Cause]:
    """Yield busbw above the link rate on two servers, which a tree reaches because it sends each byte once."""
    job, best = evidence.job, evidence.best
    if job is None or best is None or job.nodes != 2 or evidence.table.op != "all_reduce":
        return
    line = job.nics_per_server * job.nic_bytes_per_s
    if line and best.measured_bytes_per_s > line:
        ranks = job.ranks
        yield Cause(
            "a tree on two servers: busbw may exceed the rate of the NICs",
            0.8,
            f"{format_gigabytes_per_s(best.measured_bytes_per_s)} beside {format_gigabytes_per_s(line)} of NICs; busbw is"
            f" 2·({ranks}−1)/{ranks} × algbw, and a tree sends each byte over the network once each way",
            "run with NCCL_ALGO=Ring to compare with the rate of the NICs",
            TWO_SERVER_TREE,
        )


def in_switch_reduction(evidence: JobEvidence) -> Iterator[Cause]:
    """Yield busbw above the link rate because switches add: NVLS inside a server, SHARP between them."""
    job, best = evidence.job, evidence.best
    if (
        job is None
        or best is None
        or not evidence.table.op
        or evidence.table.op not in {"all_reduce", "all_gather", "reduce_scatter"}
    ):
        return
    inside = job.nodes == 1
    if inside and not (job.multicast and best.measured_bytes_per_s > job.gpu_bytes_per_s):
        return
    if not inside and evidence.verdict != "high":
        return
    name, value, where = evidence.setting("NCCL_NVLS_ENABLE", "NCCL_COLLNET_ENABLE")
    on = bool(name) and value.strip() not in {"", "0"}
    yield Cause(
        "switches add (NVLS in the server)"
        if inside
        else "switches may add (SHARP), which the description does not say",
        0.7 if on else 0.55 if inside else 0.4,
        f"{where}: {name}={value}"
        if on
        else f"predicted algorithm {job.algorithm}; each GPU then sends (1 + 1/n) times the"
        " data instead of twice",
        "NCCL_NVLS_ENABLE=0 or NCCL_COLLNET_ENABLE=0 gives the figure without; say in_network_reduction: true in the description",
        IN_SWITCH,
    )


def description_differs(evidence: JobEvidence) -> Iterator[Cause]:
    """Yield a description with fewer or slower links than the cluster that was measured."""
    if evidence.verdict == "high":
        yield Cause(
            "the description may have fewer or slower NICs than the cluster",
            0.3,
            f"measured / predicted is {evidence.share:.2f}",
            "compare it with ibstat and nvidia-smi topo -m of a server; gpufabric explain reads both",
            OTHER_CLUSTER,
        )
