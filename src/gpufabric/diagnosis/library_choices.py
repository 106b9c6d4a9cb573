"""What the library was told or chose: algorithm, channels, queue pairs, NVLS, its age."""

from __future__ import annotations

from collections.abc import Iterator

from gpufabric.records.job_evidence import JobEvidence
from gpufabric.records.verdicts import Cause
from gpufabric.units import counted, format_gigabytes_per_s

FORCED = "algorithm-forced"
FEW_CHANNELS = "few-channels"
SETTINGS_DEFAULT = "settings-at-default"
NVLS_MISSING = "nvls-missing"
LIBRARY_OLD = "library-old"
#: Since this version NCCL knows NVSwitch systems of the Hopper generation; what is older than it misses many fixes.
_OLD = (2, 18)
#: What is nearer to the prediction asks for no cause, whatever a file shows.
_AS_PREDICTED = 0.95


def algorithm_forced(evidence: JobEvidence) -> Iterator[Cause]:
    """Yield an algorithm or protocol that was asked for and that is slower here."""
    name, value, where = evidence.setting("NCCL_ALGO", "NCCL_PROTO")
    if not name or not (evidence.slow or evidence.verdict == "high"):
        return
    match = evidence.matching(FORCED, 0.15)
    said = f"{where}: {name}={value}"
    if match:
        said += f"; {match.what} gives {format_gigabytes_per_s(match.busbw_bytes_per_s)}"
    yield Cause(
        f"{name} forces {value}, which need not be the fastest here",
        0.7 if match else 0.5,
        said,
        f"unset {name} and run again: the library then chooses by size",
        FORCED,
    )


def few_channels(evidence: JobEvidence) -> Iterator[Cause]:
    """Yield limits on channels, and searches that found a single one."""
    name, value, where = evidence.setting("NCCL_MAX_NCHANNELS", "NCCL_MAX_CTAS", "NCCL_MAX_NRINGS")
    advice = "unset the limit; NCCL_DEBUG_SUBSYS=INIT,GRAPH shows the search, and another version may find more channels"
    if name and value.strip().isdigit() and len(value.strip()) < 5 and evidence.slow:
        nics = evidence.job.nics_per_server if evidence.job else 8
        sure = 0.75 if int(value) < max(nics, 2) else 0.5
        yield Cause(
            f"{name} leaves at most {value.strip()} channels",
            sure,
            f"{where}: {name}={value}",
            advice,
            FEW_CHANNELS,
        )
        return
    for log in evidence.files.logs:
        searched = [
            graph for graph in log.graphs if graph.pattern in {"ring", "tree", "balanced_tree", "split_tree"}
        ]
        counts = [(max(len(g.channels), g.channels_said), g.line) for g in searched]
        counts += [
            (len(one.rings), one.rings[0].line)
            for one in log.communicators
            if one.rings and one.rings[0].complete
        ]
        nics = evidence.job.nics_per_server if evidence.job else 0
        fewest = min((c for c in counts if c[0] > 0), default=None)
        if fewest and fewest[0] < max(nics, 2) and evidence.slow:
            yield Cause(
                f"NCCL found {counted(fewest[0], 'channel')} only for {counted(nics, 'NIC')} a server",
                0.75 if fewest[0] == 1 else 0.6,
                f"{log.file}:{fewest[1]}: {counted(fewest[0], 'channel')}",
                f"{advice}; NCCL_PXN_DISABLE=1 helps where the search starts from few NICs",
                FEW_CHANNELS,
            )
            return


def settings_at_default(evidence: JobEvidence) -> Iterator[Cause]:
    """Yield the settings that lie between what is configured and what the wiring allows."""
    job = evidence.job
    if job is None or evidence.best is None or not job.attainable_settings or evidence.verdict == "high":
        return
    expected = evidence.best.expected.busbw_bytes_per_s
    gain = job.attainable_bytes_per_s / expected - 1 if expected else 0.0
    below = evidence.best.measured_bytes_per_s < 0.92 * job.attainable_bytes_per_s
    if gain > 0.05 and below:
        yield Cause(
            "the library's defaults leave bandwidth unused",
            0.15 if evidence.slow else 0.5,
            f"predicted {format_gigabytes_per_s(expected)} as configured,"
            f" {format_gigabytes_per_s(job.attainable_bytes_per_s)} with {', '.join(job.attainable_settings)}",
            f"run again with {' '.join(job.attainable_settings)}",
            SETTINGS_DEFAULT,
        )


def nvls_missing(evidence: JobEvidence) -> Iterator[Cause]:
    """Yield NVLink SHARP that the servers have and the job did not use."""
    job = evidence.job
    if (
        job is None
        or not job.multicast
        or evidence.share > _AS_PREDICTED
        or evidence.table.op != "all_reduce"
    ):
        return
    name, value, where = evidence.setting("NCCL_NVLS_ENABLE")
    match = evidence.matching(NVLS_MISSING, 0.1)
    logged = [
        (log.file, one)
        for log in evidence.files.logs
        for one in log.communicators
        if one.ranks and dict(one.channels).get("nvls", -1) == 0
    ]
    said: list[str] = []
    sure = 0.0
    if value.strip() == "0":
        sure, said = 0.85 if evidence.slow else 0.6, [f"{where}: {name}=0"]
    elif logged:
        sure, said = 0.75 if evidence.slow else 0.5, [f"{logged[0][0]}: 0 nvls channels"]
    elif not evidence.slow:
        return
    elif match and job.nodes == 1:
        sure = 0.45
    elif match:
        sure = 0.28
    if match:
        said.append(f"without it {format_gigabytes_per_s(match.busbw_bytes_per_s)} are predicted")
    if sure:
        yield Cause(
            "NVLink SHARP (NVLS) is not used",
            sure,
            "; ".join(said),
            "NCCL_DEBUG=INFO must say nvls channels above 0: look at NCCL_NVLS_ENABLE, fabric manager and the driver's IMEX",
            NVLS_MISSING,
        )


def library_old(evidence: JobEvidence) -> Iterator[Cause]:
    """Yield a library that is years behind, where the rate asks for a cause."""
    versions = [
        (log.version, log.file) for log in evidence.files.logs if log.version and log.library != "RCCL"
    ]
    versions += [(evidence.table.library_version, evidence.file)] if evidence.table.library_version else []
    for text, file in versions:
        numbers = [
            int(part) for part in text.split("+")[0].split(".")[:2] if part.isdigit() and len(part) < 6
        ]
        if len(numbers) == 2 and numbers[0] < 100 and tuple(numbers) < _OLD and evidence.share < 0.95:
            yield Cause(
                f"NCCL {text} is old: later versions fixed searches, algorithms and limits",
                0.35 if evidence.slow else 0.25,
                f"{file}: NCCL version {text}",
                "run the same test with a current version before anything is changed in the fabric",
                LIBRARY_OLD,
            )
            return
