"""Design → GOAL schedule (LogGOPSim) of one collective of few GPUs."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from gpufabric.collectives.expand import expand
from gpufabric.errors import InputError
from gpufabric.exports.simulated_collective import ALGORITHM, OP, RANKS, SIZE, planned_collective
from gpufabric.exports.simulated_gpus import simulated_gpus
from gpufabric.exports.text_pieces import text_pieces
from gpufabric.formats import goal_schedule
from gpufabric.records.collective import Collective
from gpufabric.records.export_target import ExportedFile, ExportSource, ExportTarget
from gpufabric.records.schedule import Schedule
from gpufabric.records.simulator_inputs import GoalOperation, GoalSchedule
from gpufabric.units import format_message_bytes

PROGRAM = "goal"
MAX_TRANSFERS = 200_000


def write(source: ExportSource) -> Iterator[ExportedFile]:
    """Yield the schedule.

    Raises
    ------
    InputError
        If the collective has too many transfers, adds in switches, or moves less than a byte at once.
    """
    collective, schedule = planned_collective(source, simulated_gpus(source, PROGRAM), PROGRAM)
    yield ExportedFile("collective.goal", text_pieces(goal_schedule.write(goal_of(collective, schedule))))


def goal_of(collective: Collective, schedule: Schedule) -> GoalSchedule:
    """Return the sends and receives of each rank; those of a step of a channel wait for all of the rank's step before."""
    try:
        moved = expand(schedule, MAX_TRANSFERS)
    except InputError as error:
        raise InputError(f"{error}, such as --set ranks=16") from None
    if len(moved) and min(int(moved.sender.min()), int(moved.receiver.min())) < 0:
        raise InputError(
            f"{PROGRAM}: {schedule.algorithm} adds in switches, which GOAL can't say; choose another algorithm"
        )
    size = np.rint(moved.share * collective.size_bytes).astype(np.int64)
    if len(size) and size.min() < 1:
        raise InputError(
            f"--set size: {format_message_bytes(collective.size_bytes)} is less than a byte a transfer; write a larger size"
        )
    rank_of = np.full(int(collective.gpus.max()) + 1, -1, np.int64)
    rank_of[collective.gpus] = np.arange(len(collective.gpus))
    operations: list[list[GoalOperation]] = [[] for _ in collective.gpus]
    last: dict[tuple[int, int], tuple[tuple[int, int], list[int], list[int]]] = {}
    columns = (moved.channel, moved.phase, moved.step, rank_of[moved.sender], rank_of[moved.receiver], size)
    for tag, (channel, phase, step, sender, receiver, count) in enumerate(
        zip(*(c.tolist() for c in columns), strict=True)
    ):
        for kind, rank, peer in (("send", sender, receiver), ("recv", receiver, sender)):
            when, before, mine = last.get((rank, channel), ((phase, step), [], []))
            if when != (phase, step):
                when, before, mine = (phase, step), mine, []
            mine.append(len(operations[rank]))
            last[rank, channel] = when, before, mine
            operations[rank].append(GoalOperation(kind, count, peer, tag, tuple(before)))
    return GoalSchedule(tuple(map(tuple, operations)))


TARGET = ExportTarget(
    name="goal",
    title="GOAL schedule of LogGOPSim, text",
    files="collective.goal",
    kept="every send and receive of one collective, its bytes, and the steps that it waits for",
    lost="the network (LogGOPSim has parameters of its own), what GPUs spend on adding, and which NIC a message takes",
    network="any",
    source="LogGOPSim, txt2bin.re and README.md of https://github.com/spcl/LogGOPSim, read 2026-12-01",
    write=write,
    from_files=False,
    options=(OP, SIZE, ALGORITHM, RANKS),
)
