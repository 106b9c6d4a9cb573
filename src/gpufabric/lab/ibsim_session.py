"""A subnet → ibsim that runs it, with a console to pull cables and a door for InfiniBand programs."""

from __future__ import annotations

import os
import secrets
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from gpufabric.errors import InputError
from gpufabric.formats import ibsim_netlist
from gpufabric.lab.run_program import Program, find_program, started, wait_for_text
from gpufabric.records.subnet import MAX_UNICAST_LIDS, Subnet

NETLIST = "ibsim.net"
_CONSOLE = "ibsim.console"
_READY_S = 120.0  # it looks every name up in a list: 17,000 nodes take a quarter of a minute
_READY = b"Network simulator ready"
_ANSWER_S = 10.0
_POLL_S = 0.001
_PROMPT = b"sim>"
_WRAPPERS = ("lib/*/umad2sim", "lib64/umad2sim", "lib/umad2sim", "local/lib/umad2sim")


@dataclass(frozen=True, slots=True)
class Ibsim:
    """A simulator that runs; ``settings`` are the environment of a program that is to see its fabric."""

    subnet: Subnet
    program: Program
    folder: Path
    settings: dict[str, str]
    console: int

    def unlink(self, links: Sequence[int]) -> None:
        """Pull cables, rows of the subnet's links, one after another; its switches tell the subnet manager by traps.

        Raises
        ------
        InputError
            If the simulator does not take a command.
        """
        for row in links:
            node, port = int(self.subnet.link_node[row, 0]), int(self.subnet.link_port[row, 0])
            self._say(f'Unlink "{self.subnet.names[node]}"[{port}]')

    def _say(self, command: str) -> None:
        """Give one command and wait until the simulator asks for the next: it loses what comes faster."""
        size = self.program.output.stat().st_size
        os.write(self.console, command.encode("ascii") + b"\n")
        end = time.monotonic() + _ANSWER_S
        while True:
            said = self._printed_after(size)
            if b"# can't" in said or b"# unlink" in said:
                raise InputError(f"ibsim: does not take {command} ({self.program.last_words()})")
            if _PROMPT in said:
                return
            if not self.program.running or time.monotonic() > end:
                raise InputError(
                    f"ibsim: does not answer ({self.program.last_words()}); run it by hand to see why"
                )
            time.sleep(_POLL_S)

    def _printed_after(self, size: int) -> bytes:
        with self.program.output.open("rb") as stream:
            stream.seek(size)
            return stream.read()


@contextmanager
def ibsim_running(subnet: Subnet, folder: Path) -> Iterator[Ibsim]:
    """Run ibsim while the block lasts, ready for InfiniBand programs.

    Parameters
    ----------
    subnet
        Programs sit on the port of its first node.
    folder
        Existing folder for its files.

    Raises
    ------
    InputError
        If it is not installed or does not get ready.
    """
    program, wrapper = find_program("ibsim", "ibsim-utils"), umad_wrapper()
    (folder / NETLIST).write_text(ibsim_netlist.write(subnet), encoding="ascii")
    os.mkfifo(folder / _CONSOLE, 0o600)
    # Open for both, so that it never ends for the simulator and opening never waits.
    console = os.open(folder / _CONSOLE, os.O_RDWR | os.O_CLOEXEC)
    socket = {"IBSIM_SOCKNAME": f"gpufabric-{secrets.token_hex(6)}"}
    try:
        with started(
            [program, *ibsim_command(subnet)], folder, socket, standard_input=folder / _CONSOLE
        ) as simulator:
            wait_for_text(simulator, _READY, _READY_S)
            yield Ibsim(subnet, simulator, folder, {**socket, "LD_PRELOAD": str(wrapper)}, console)
    finally:
        os.close(console)


def ibsim_command(subnet: Subnet) -> list[str]:
    """Return ibsim's arguments: it starts at once, and its tables are as large as the subnet needs.

    Without them it stops at 2,048 nodes and 256 switches (ibsim 0.10).
    """
    switches = int(subnet.is_switch.sum())
    ports = int(subnet.ports.sum()) + switches  # each switch has a port 0 as well
    lids = min(MAX_UNICAST_LIDS, len(subnet) + 64)
    return [
        "-s", "-N", str(len(subnet) + 1), "-S", str(switches + 1), "-P", str(ports + 1), "-L", str(lids), NETLIST,
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
