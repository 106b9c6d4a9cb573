"""A machine inside the machine: its own processes, network and mounts, all gone the moment that we are.

Linux namespaces (namespaces(7)) hang on a first process that waits for the end of a pipe from us. However we end, the kernel
closes the pipe, the first process ends, and with it every process inside (pid_namespaces(7)), then the network namespaces, their
interfaces and queues, and the file systems, which are in memory. Nothing of it has a name outside, so nothing can be left behind.
"""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from gpufabric.errors import InputError, printable
from gpufabric.lab.die_together import signals_end_us_cleanly
from gpufabric.lab.run_program import find_program

SETTINGS = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C"}
# Folders that are in memory inside, with their modes: sockets and process numbers, configurations, logs, notes on crashes.
_MEMORY = {"/run": "755", "/etc/frr": "755", "/var/log": "755", "/var/lib/frr": "755", "/var/tmp": "1777"}  # noqa: S108
_READY = b"ready"
# Everything below /run that programs expect, then wait for our end. A folder that is not there is nobody's.
_FIRST = """set -e
{mounts}
mkdir -p /run/netns
ip link set lo up
echo {ready}
read -r _ || true
"""
_READY_S = 20.0
_GRACE_S = 5.0


@dataclass(frozen=True, slots=True)
class IsolatedMachine:
    """The machine inside; ``first`` is its first process as we number it."""

    first: int
    nsenter: str
    ip: str

    def command(self, argv: Sequence[str], network: str = "") -> list[str]:
        """Return the command that runs *argv* inside, in one of its network namespaces."""
        inside = [self.ip, "netns", "exec", network] if network else []
        return [self.nsenter, "-t", str(self.first), "--mount", "--pid", "--net", "--", *inside, *argv]

    def path(self, inside: str) -> Path:
        """Return where a file of the machine inside is seen from here."""
        return Path(f"/proc/{self.first}/root{inside}")

    def run(
        self,
        argv: Sequence[str],
        network: str = "",
        text: str = "",
        limit_s: float = 30.0,
        settings: Mapping[str, str] | None = None,
    ) -> str:
        """Run a program inside to its end and return what it printed.

        Parameters
        ----------
        argv
            Program and arguments.
        network
            Network namespace; empty: that of the machine itself.
        text
            Standard input.
        limit_s
            Seconds that it may take.
        settings
            Environment variables besides PATH and the language.

        Raises
        ------
        InputError
            If it fails or takes too long; it is then killed with all that it started.
        """
        process = subprocess.Popen(
            self.command(argv, network),
            env={**SETTINGS, **(settings or {})},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        try:
            printed, complaint = process.communicate(text.encode(), timeout=limit_s)
        except subprocess.TimeoutExpired:
            raise InputError(
                f"{Path(argv[0]).name}: did not end within {limit_s:.0f} s and was stopped; take a smaller fabric"
            ) from None
        finally:
            if process.poll() is None:
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                process.communicate()
        if process.returncode:
            said = " ".join((complaint or printed).decode("utf-8", "replace").split())[-300:]
            raise InputError(
                f"{Path(argv[0]).name}: ended with status {process.returncode} ({printable(said, 300)}); "
                "run it by hand to see why"
            )
        return printed.decode("utf-8", "replace")

    def shell(self, script: str, limit_s: float = 60.0) -> str:
        """Run a shell script inside, which ends at the first command that fails, and return what it printed."""
        return self.run(["/bin/sh", "-e"], text=script, limit_s=limit_s)


@contextmanager
def isolated_machine() -> Iterator[IsolatedMachine]:
    """Give a machine inside the machine while the block lasts.

    Raises
    ------
    InputError
        If we are not root, a program is missing, or the system allows no namespaces.
    """
    if os.geteuid() != 0:
        raise InputError(
            "network namespaces: need root (this is another user); run the command as root, in a container or virtual machine "
            "that may make namespaces"
        )
    unshare, nsenter = find_program("unshare", "util-linux"), find_program("nsenter", "util-linux")
    ip = find_program("ip", "iproute2")
    mounts = "\n".join(
        f"[ ! -d {folder} ] || mount -t tmpfs -o size=256m,mode={mode} none {folder}"
        for folder, mode in _MEMORY.items()
    )
    script = _FIRST.format(mounts=mounts, ready=_READY.decode())
    command = [
        unshare, "--mount", "--net", "--pid", "--fork", "--kill-child", "--mount-proc", "--propagation", "private", "--",
        "/bin/sh", "-c", script,
    ]  # fmt: skip
    with signals_end_us_cleanly() as gate:
        gate.hold()
        process = subprocess.Popen(
            command,
            env=SETTINGS,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            gate.release()
            yield IsolatedMachine(_first_process(process), nsenter, ip)
        finally:
            _end(process)


def _first_process(process: subprocess.Popen[bytes]) -> int:
    """Wait until the machine is ready and return its first process."""
    end = time.monotonic() + _READY_S
    said = b""
    stream = process.stdout
    assert stream is not None
    while not said.rstrip().endswith(_READY):
        piece = stream.readline() if time.monotonic() < end else b""
        if not piece:
            text = printable(" ".join(said.decode("utf-8", "replace").split()), 200)
            raise InputError(
                f"unshare: gave no namespaces ({text or 'no word'}); run the command as root, where namespaces are allowed"
            )
        said += piece
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text(encoding="ascii").split()
    return int(children[0])


def _end(process: subprocess.Popen[bytes]) -> None:
    for stream in (process.stdin, process.stdout):
        if stream is not None:
            with suppress(BrokenPipeError):
                stream.close()
    try:
        process.wait(_GRACE_S)
    except subprocess.TimeoutExpired:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
