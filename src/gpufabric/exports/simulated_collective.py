"""Choices of a target → one collective on the design, and the schedule of its algorithm."""

from __future__ import annotations

import numpy as np

from gpufabric.collectives import ALGORITHMS
from gpufabric.collectives.job_wiring import lay_job
from gpufabric.errors import InputError, did_you_mean, printable
from gpufabric.exports.simulated_gpus import SimulatedGpus
from gpufabric.graphs.gpu_level import build_gpu_graph
from gpufabric.graphs.link_latency import link_latencies
from gpufabric.records.collective import Collective
from gpufabric.records.export_target import ExportOption, ExportSource
from gpufabric.records.schedule import Schedule
from gpufabric.units import counted, parse_message_bytes

OP = ExportOption("op", tuple(ALGORITHMS), "all_reduce", "the collective")
SIZE = ExportOption("size", (), "1G", "its message, as the size column of nccl-tests counts it, such as 64M")
ALGORITHM = ExportOption(
    "algorithm", (), "", "its algorithm; default: ring, or pairwise for all_to_all, or direct"
)
RANKS = ExportOption("ranks", (), "", "GPUs that take part, the first ones in fabric order; default: all")
_FIRST_CHOICES = ("ring", "pairwise", "direct")


def planned_collective(
    source: ExportSource, seen: SimulatedGpus, program: str
) -> tuple[Collective, Schedule]:
    """Return the collective that the options describe, and its schedule.

    Raises
    ------
    InputError
        If an option is not possible, or the algorithm can't run here.
    """
    op = source.option("op", OP.default)
    known = ALGORITHMS[op]
    algorithm = source.option("algorithm") or next(
        (name for name in _FIRST_CHOICES if name in known), next(iter(known))
    )
    if algorithm not in known or op == "all_to_all_v":
        raise InputError(
            f'--set algorithm: "{printable(algorithm)}" is none of {op} here; known: {", ".join(known)}.'
            f"{did_you_mean(algorithm, known)}"
        )
    gpus = np.arange(asked_ranks(source, program), dtype=np.int32)
    cluster = source.cluster
    inside = build_gpu_graph(cluster, source.parts.servers, link_latencies(cluster, source.parts))[1]
    job = lay_job(cluster, inside, gpus, seen.server.scale_up, seen.fabric)
    collective = Collective(op, asked_bytes(source), gpus)
    return collective, known[algorithm](collective, job)


def asked_ranks(source: ExportSource, program: str) -> int:
    """Return how many GPUs take part."""
    text, most = source.option("ranks"), len(source.cluster.gpus)
    if not text:
        return most
    if not text.isdecimal() or len(text) > 9 or not 2 <= int(text) <= most:
        raise InputError(
            f'--set ranks: "{printable(text)}" is not possible; {program} can take 2 to {counted(most, "GPU")}'
        )
    return int(text)


def asked_bytes(source: ExportSource) -> int:
    """Return the size of the message."""
    return parse_message_bytes(source.option("size", SIZE.default))
