"""A subnet → the forwarding tables that real OpenSM computes for it, on ibsim instead of hardware."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from gpufabric.errors import InputError, did_you_mean, printable
from gpufabric.formats import opensm_log_text, opensm_tables
from gpufabric.graphs.cluster_subnet import LaidSubnet
from gpufabric.kernels.connected_components import connected_components
from gpufabric.lab.ibsim_session import Ibsim, ibsim_running
from gpufabric.lab.run_program import Program, find_program, started
from gpufabric.records.forwarding_tables import ForwardingTables
from gpufabric.records.opensm_log import OpensmLog
from gpufabric.records.subnet import Subnet

ENGINES = ("ftree", "updn", "minhop")
DEFAULT_TIMEOUT_S = 300.0
TABLES, LOG = "opensm-lfts.dump", "opensm.log"
_NEW_LOG = "opensm-sweep.log"
# Level 0x40 (routing) makes OpenSM dump its tables; 0x03 is its default, errors and infos.
_LOG_FLAGS = "0x43"
_UP = b"-> SUBNET UP"
_UNWANTED = ("opensm-lid-matrix.dump", "opensm.fdbs", "opensm.mcfdbs", "opensm-subnet.lst")
_POLL_S = 0.01
_COUNTED = 200  # with more switches a sweep takes longer by far than halting it
_END_OF_DUMP = b"lids dumped"
# Requests on the way at a time: with the 4 of its default a sweep of 2,048 ports takes twice as long.
_REQUESTS = "64"


@dataclass(frozen=True, slots=True)
class OpensmRun:
    """What OpenSM made of a subnet, and how long it took from start or cut to tables, in seconds."""

    tables: ForwardingTables
    log: OpensmLog
    run_s: float


class OpensmSession:
    """OpenSM on a simulator. It stands still whenever it is not waited for, so that its files don't change."""

    def __init__(self, simulator: Ibsim, program: Program, limit_s: float) -> None:
        self._simulator = simulator
        self._program = program
        self._limit_s = limit_s
        self._begin = time.monotonic()
        self._read_to = 0
        self._log_from = 0
        self._switches = int(simulator.subnet.is_switch.sum())
        self._cut: set[int] = set()
        self._waited_s = 0.0
        self._halted = False

    def wait(self) -> None:
        """Wait for the end of a sweep that has written its tables, and let OpenSM stand still.

        Raises
        ------
        InputError
            If it ends, its simulator ends, or the limit of time is reached.
        """
        end = self._begin + self._limit_s
        self._go_on()
        while True:
            if self._swept():
                if self._dump_is_whole():
                    break
                self._go_on()
            for program in (self._program, self._simulator.program):
                if not program.running:
                    raise InputError(
                        f"{program.name}: ended too early ({program.last_words()}); run it by hand to see why"
                    )
            if time.monotonic() > end:
                raise InputError(
                    f"opensm: did not end within {self._limit_s:.0f} s and was stopped; give it longer with --timeout, "
                    "or take a smaller fabric"
                )
            time.sleep(_POLL_S)
        self._waited_s = time.monotonic() - self._begin

    def result(self) -> OpensmRun:
        """Return what the last sweep made.

        Raises
        ------
        InputError
            If it wrote no tables.
        """
        folder = self._simulator.folder
        with (folder / LOG).open("rb") as stream:
            stream.seek(self._log_from)
            # A trap is what we wanted, though the log has it among the errors.
            lines = [line for line in stream if b"-> log_trap_info: " not in line]
        (folder / _NEW_LOG).write_bytes(b"".join(lines))
        log = opensm_log_text.read(folder / _NEW_LOG)
        if not log.engine or not (folder / TABLES).is_file():
            said = log.errors[0].text if log.errors else "its log has no error"
            raise InputError(f"opensm: wrote no forwarding tables ({said}); take a fabric that it can sweep")
        return OpensmRun(opensm_tables.read(folder / TABLES), log, self._waited_s)

    def cut(self, links: Sequence[int]) -> None:
        """Pull cables, rows of the subnet's links, and let OpenSM route again what is left; it hears of them by traps.

        Raises
        ------
        InputError
            As of :meth:`wait`, or if the cable of OpenSM's own port is among them.
        """
        subnet = self._simulator.subnet
        if (subnet.link_node[list(links)] == 0).any():
            raise InputError(
                f"cut: {printable(subnet.names[0])} is where OpenSM sits, so its cable stays; cut another one"
            )
        self._cut |= set(links)
        self._switches = _switches_reached(subnet, self._cut)
        self._log_from = (self._simulator.folder / LOG).stat().st_size
        # OpenSM stands still meanwhile, so the first sweep after it sees all that is gone.
        self._simulator.unlink(links)
        self._begin = time.monotonic()
        self._signal(signal.SIGHUP)  # asks for a sweep, should no trap get through
        self.wait()

    def end(self) -> None:
        """End OpenSM at once: it stands still, and would hear nothing else."""
        self._signal(signal.SIGKILL)

    def _go_on(self) -> None:
        # Only when it stands still: a signal in the midst of a request disturbs it.
        if self._halted:
            self._halted = False
            self._signal(signal.SIGCONT)

    def _signal(self, number: int) -> None:
        if self._program.running:
            with suppress(ProcessLookupError):
                os.killpg(self._program.process.pid, number)

    def _swept(self) -> bool:
        """Say whether a sweep has ended since the last look, and if so halt OpenSM."""
        try:
            with (self._simulator.folder / LOG).open("rb") as stream:
                stream.seek(max(self._log_from, self._read_to))
                new = stream.read()
        except FileNotFoundError:
            return False
        at = new.rfind(_UP)
        if at < 0:
            return False
        self._read_to = max(self._log_from, self._read_to) + at + len(_UP)
        self._signal(signal.SIGSTOP)
        self._halted = True
        return True

    def _dump_is_whole(self) -> bool:
        """Say whether the tables of all switches are there: a next sweep may have begun to write them again."""
        path = self._simulator.folder / TABLES
        if not path.is_file():
            return False
        with path.open("rb") as stream:
            stream.seek(max(0, path.stat().st_size - 256))
            if not stream.read().rstrip().endswith(_END_OF_DUMP):
                return False
            stream.seek(0)
            # Ports of a switch bear the words as well, but no other line begins with them.
            return (
                self._switches > _COUNTED
                or sum(line.startswith(b"Unicast lids") for line in stream) >= self._switches
            )


def check_engine(engine: str) -> None:
    """Refuse what is none of ``ENGINES``.

    Raises
    ------
    InputError
        If the engine is not known.
    """
    if engine not in ENGINES:
        raise InputError(
            f'routing engine "{printable(engine)}" is unknown; known: {", ".join(ENGINES)}.{did_you_mean(engine, ENGINES)}'
        )


@contextmanager
def opensm_running(
    simulator: Ibsim, engine: str, roots: Path | None = None, timeout_s: float = DEFAULT_TIMEOUT_S
) -> Iterator[OpensmSession]:
    """Run OpenSM while the block lasts.

    Parameters
    ----------
    simulator
        The subnet manager sits on the first node of its subnet.
    engine : str
        One of ``ENGINES``. OpenSM takes minhop where the engine does not fit; its log says which one it used.
    roots : Path, optional
        Root-GUID file: which switches are the roots. Then ftree takes trees that are not pure, too.
    timeout_s : float
        How long one sweep may take, seconds.

    Raises
    ------
    InputError
        If it is not installed.
    """
    check_engine(engine)
    program, folder = find_program("opensm", "opensm"), simulator.folder
    for name in _UNWANTED:
        (folder / name).symlink_to("/dev/null")  # gigabytes on a large fabric, and nobody reads them
    command = [
        program, "-e", "-s", "0", "-R", engine, "-D", _LOG_FLAGS, "-f", LOG, "--dump_files_dir", str(folder),
        "-t", "2000", "--maxsmps", _REQUESTS, "-d", "2",
    ]  # fmt: skip
    command += ["-a", str(roots)] if roots else []
    settings = {**simulator.settings, "OSM_CACHE_DIR": str(folder), "OSM_TMP_DIR": str(folder)}
    with started(command, folder, settings) as manager:
        session = OpensmSession(simulator, manager, timeout_s)
        try:
            yield session
        finally:
            session.end()


def run_opensm(
    laid: LaidSubnet, engine: str, folder: Path, timeout_s: float = DEFAULT_TIMEOUT_S
) -> OpensmRun:
    """Route *laid* with one sweep of OpenSM and return its tables.

    Both programs run in process groups of their own, which are gone when this returns or raises.

    Parameters
    ----------
    laid
        The subnet; the subnet manager sits on its first node.
    engine
        One of ``ENGINES``.
    folder
        Existing folder for netlist, log and tables.
    timeout_s
        How long OpenSM may take, seconds.

    Raises
    ------
    InputError
        If a program is missing, fails, or takes too long.
    """
    check_engine(engine)
    for name, package in (("ibsim", "ibsim-utils"), ("opensm", "opensm")):
        find_program(name, package)  # before any of them starts
    with (
        ibsim_running(laid.subnet, folder) as simulator,
        opensm_running(simulator, engine, None, timeout_s) as manager,
    ):
        manager.wait()
        return manager.result()


def _switches_reached(subnet: Subnet, cut: set[int]) -> int:
    """Return how many switches the first node still reaches."""
    left = [row for row in range(len(subnet.link_node)) if row not in cut]
    part = connected_components(len(subnet), subnet.link_node[left, 0], subnet.link_node[left, 1])
    return int((subnet.is_switch & (part == part[0])).sum())
