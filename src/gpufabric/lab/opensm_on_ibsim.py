"""A subnet → the forwarding tables that real OpenSM computes for it, on ibsim instead of hardware."""

from __future__ import annotations

import secrets
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from gpufabric.errors import InputError, did_you_mean, printable
from gpufabric.formats import ibsim_netlist, opensm_log_text, opensm_tables
from gpufabric.graphs.cluster_subnet import LaidSubnet
from gpufabric.lab.run_program import Program, find_program, started, wait_for, wait_for_text
from gpufabric.records.forwarding_tables import ForwardingTables
from gpufabric.records.opensm_log import OpensmLog
from gpufabric.records.subnet import MAX_UNICAST_LIDS, Subnet

ENGINES = ("ftree", "updn", "minhop")
DEFAULT_TIMEOUT_S = 300.0
NETLIST, TABLES, LOG = "ibsim.net", "opensm-lfts.dump", "opensm.log"
_READY_S = 60.0
_READY = b"Network simulator ready"
_WRAPPERS = ("lib/*/umad2sim", "lib64/umad2sim", "lib/umad2sim", "local/lib/umad2sim")
# Level 0x40 (routing) makes OpenSM dump its tables; 0x03 is its default, errors and infos.
_LOG_FLAGS = "0x43"
_UNWANTED = ("opensm-lid-matrix.dump", "opensm.fdbs", "opensm.mcfdbs", "opensm-subnet.lst")


@dataclass(frozen=True, slots=True)
class OpensmRun:
    """What OpenSM made of a subnet, and how long it took from start to tables, in seconds."""

    tables: ForwardingTables
    log: OpensmLog
    run_s: float


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


def run_opensm(
    laid: LaidSubnet,
    engine: str,
    folder: Path,
    give_roots: bool = False,
    timeout_s: float = DEFAULT_TIMEOUT_S,
) -> OpensmRun:
    """Route *laid* with one sweep of OpenSM and return its tables.

    Both programs run in process groups of their own, which are gone when this returns or raises.

    Parameters
    ----------
    laid
        The subnet; the subnet manager sits on its first node.
    engine : str
        One of ``ENGINES``. OpenSM takes minhop where the engine does not fit; its log says which one it used.
    folder
        Existing folder for netlist, log and tables.
    give_roots : bool
        Tell OpenSM which switches are the roots. Then ftree takes trees that are not pure, too.
    timeout_s : float
        How long OpenSM may take, seconds.

    Raises
    ------
    InputError
        If a program is missing, fails, or takes too long.
    """
    check_engine(engine)
    programs = find_program("ibsim", "ibsim-utils"), find_program("opensm", "opensm")
    (folder / NETLIST).write_text(ibsim_netlist.write(laid.subnet), encoding="ascii")
    for name in _UNWANTED:
        (folder / name).symlink_to("/dev/null")  # gigabytes on a large fabric, and nobody reads them
    command = [
        programs[1], "-o", "-e", "-R", engine, "-D", _LOG_FLAGS, "-f", LOG, "--dump_files_dir", str(folder), "-t", "2000",
    ]  # fmt: skip
    if give_roots:
        roots = "".join(f"{int(laid.subnet.guid[node]):#018x}\n" for node in laid.roots)
        (folder / "roots.guids").write_text(roots, encoding="ascii")
        command += ["-a", "roots.guids"]
    socket = f"gpufabric-{secrets.token_hex(6)}"
    settings = {
        "IBSIM_SOCKNAME": socket,
        "OSM_CACHE_DIR": str(folder),
        "OSM_TMP_DIR": str(folder),
        "LD_PRELOAD": str(umad_wrapper()),
    }
    begin = time.monotonic()
    with (
        started([programs[0], *ibsim_command(laid.subnet)], folder, {"IBSIM_SOCKNAME": socket}) as simulator,
        started_after(simulator, command, folder, settings) as manager,
    ):
        status = wait_for(manager, [simulator], timeout_s)
        if status != 0:
            raise InputError(
                f"opensm: ended with status {status} ({manager.last_words()}); take a fabric that it can sweep"
            )
    return _read_back(folder, time.monotonic() - begin)


@contextmanager
def started_after(
    simulator: Program, command: list[str], folder: Path, settings: dict[str, str]
) -> Iterator[Program]:
    """Run *command* as :func:`started` does, once the simulator is ready."""
    wait_for_text(simulator, _READY, _READY_S)
    with started(command, folder, settings) as program:
        yield program


@contextmanager
def scratch_folder() -> Iterator[Path]:
    """Give an empty folder that is gone at the end."""
    with tempfile.TemporaryDirectory(prefix="gpufabric-lab-", ignore_cleanup_errors=True) as name:
        yield Path(name)


def ibsim_command(subnet: Subnet) -> list[str]:
    """Return ibsim's arguments: it starts at once, has no console, and its tables are as large as the subnet needs.

    Without them it stops at 2,048 nodes and 256 switches (ibsim 0.10).
    """
    switches = int(subnet.is_switch.sum())
    ports = int(subnet.ports.sum()) + switches  # each switch has a port 0 as well
    lids = min(MAX_UNICAST_LIDS, len(subnet) + 64)
    return [
        "-s", "-n", "-N", str(len(subnet) + 1), "-S", str(switches + 1), "-P", str(ports + 1), "-L", str(lids), NETLIST,
    ]  # fmt: skip


def umad_wrapper() -> Path:
    """Return the library that joins InfiniBand programs to ibsim.

    Raises
    ------
    InputError
        If it is not installed.
    """
    for pattern in _WRAPPERS:
        for folder in sorted(Path("/usr").glob(pattern)):
            if (folder / "libumad2sim.so").is_file():
                return folder / "libumad2sim.so"
    raise InputError(
        "libumad2sim.so: is not installed; it joins OpenSM to ibsim; install it (Debian: apt install ibsim-utils)"
    )


def _read_back(folder: Path, run_s: float) -> OpensmRun:
    log = opensm_log_text.read(folder / LOG)
    if not log.engine or not (folder / TABLES).is_file():
        said = log.errors[0].text if log.errors else "its log has no error"
        raise InputError(f"opensm: wrote no forwarding tables ({said}); take a fabric that it can sweep")
    return OpensmRun(opensm_tables.read(folder / TABLES), log, run_s)
