"""Slurm's ``topology.conf`` → what a real slurmctld makes of it, asked with ``scontrol show topology``."""

from __future__ import annotations

import os
import re
import socket
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from gpufabric.errors import InputError
from gpufabric.formats.slurm_nodelist import expand
from gpufabric.formats.slurm_nodelist_write import write_nodelist
from gpufabric.lab.run_program import Program, find_program, started, wait_for

DEFAULT_TIMEOUT_S = 60.0
_ASK_S = 10.0
_PAUSE_S = 0.2
_LINE = re.compile(
    r"SwitchName=(\S+) Level=(\d{1,3}) LinkSpeed=(\d{1,9})(?: Nodes=(\S+))?(?: Switches=(\S+))?"
)
# Nobody is let in from outside: no authentication is needed, and none is installed (munge needs a key of the host).
_SETTINGS = """\
ClusterName=gpufabric
SlurmctldHost=localhost(127.0.0.1)
SlurmctldPort={port}
SlurmUser={user}
AuthType=auth/none
CredType=cred/none
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SwitchType=switch/none
TopologyPlugin=topology/tree
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
JobCompType=jobcomp/none
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
"""


@dataclass(frozen=True, slots=True)
class ShownSwitch:
    """A switch as slurmctld shows it: its height above the nodes, all nodes below it, and the switches right below it."""

    name: str
    level: int
    nodes: tuple[str, ...]
    switches: tuple[str, ...]


def show_topology(
    conf: str, nodes: Sequence[str], folder: Path, timeout_s: float = DEFAULT_TIMEOUT_S
) -> tuple[ShownSwitch, ...]:
    """Start slurmctld with a tree, ask it for its topology, and end it.

    Parameters
    ----------
    conf
        Text of ``topology.conf``.
    nodes
        Names of all servers; they are given as down, at addresses of this machine.
    folder
        Existing folder for the files of slurmctld.
    timeout_s
        How long it may take to answer, seconds.

    Raises
    ------
    InputError
        If a program is missing, slurmctld ends, or it does not answer in time.
    """
    controller = find_program("slurmctld", "slurmctld")
    scontrol = find_program("scontrol", "slurm-client")
    (folder / "topology.conf").write_text(conf, encoding="ascii")
    (folder / "slurm.conf").write_text(_configuration(nodes, folder), encoding="ascii")
    for name in ("state", "spool"):
        (folder / name).mkdir(exist_ok=True)
    settings = {"SLURM_CONF": str(folder / "slurm.conf")}
    end = time.monotonic() + timeout_s
    with started([controller, "-D", "-f", str(folder / "slurm.conf")], folder, settings) as daemon:
        while True:
            answer = _ask(scontrol, folder, settings, daemon)
            if answer is not None:
                return _read(answer)
            if time.monotonic() > end:
                raise InputError(
                    f"slurmctld: gave no topology within {timeout_s:.0f} s ({daemon.last_words()}); run it by hand to see why"
                )
            time.sleep(_PAUSE_S)


def _configuration(nodes: Sequence[str], folder: Path) -> str:
    settings = _SETTINGS.format(port=_free_port(), user=os.getuid(), folder=folder)
    # Ports only need to differ: no slurmd is ever started.
    ports = f"[{1024}-{1024 + len(nodes) - 1}]" if len(nodes) > 1 else "1024"
    return (
        f"{settings}NodeName={write_nodelist(nodes)} NodeHostname=localhost NodeAddr=127.0.0.1 Port={ports} State=DOWN\n"
        "PartitionName=all Nodes=ALL Default=YES State=UP\n"
    )


def _free_port() -> int:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return int(listening.getsockname()[1])


def _ask(scontrol: str, folder: Path, settings: dict[str, str], daemon: Program) -> str | None:
    """Return what scontrol prints; None while slurmctld does not answer yet."""
    with started([scontrol, "show", "topology"], folder, settings) as asking:
        status = wait_for(asking, [daemon], _ASK_S)
        text = asking.output.read_text(encoding="utf-8", errors="replace")
    return text if status == 0 and "SwitchName=" in text else None


def _read(text: str) -> tuple[ShownSwitch, ...]:
    shown = []
    for line in text.splitlines():
        found = _LINE.fullmatch(line.strip())
        if found is None:
            continue
        nodes, switches = (tuple(expand(found[at], "scontrol")) if found[at] else () for at in (4, 5))
        shown.append(ShownSwitch(found[1], int(found[2]), nodes, switches))
    return tuple(shown)
