"""Configurations of switches → real zebra, bgpd and, for BFD, bfdd of FRRouting, one set a namespace."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping
from pathlib import Path

from gpufabric.errors import InputError, printable
from gpufabric.lab.isolated_machine import IsolatedMachine
from gpufabric.lab.run_program import find_program

_FOLDERS = ("/usr/lib/frr", "/usr/libexec/frr", "/usr/sbin")
_OWNER = "frr:frrvty"
_START_S = 120.0


def find_daemons(bfd: bool) -> tuple[str, ...]:
    """Return the paths of the daemons, in the order in which they are started.

    Raises
    ------
    InputError
        If one of them is not installed.
    """
    find_program("vtysh", "frr")
    found = []
    for name in ("zebra", "bgpd", *(("bfdd",) if bfd else ())):
        path = next((f"{folder}/{name}" for folder in _FOLDERS if os.access(f"{folder}/{name}", os.X_OK)), "")
        if not path:
            raise InputError(
                f"{name}: is not installed; this command drives the real program; install it (Debian: apt install frr)"
            )
        found.append(path)
    return tuple(found)


def start_daemons(machine: IsolatedMachine, configurations: Mapping[str, str], bfd: bool) -> None:
    """Start the daemons of every switch and give them their configuration.

    Parameters
    ----------
    machine
        With a namespace of each switch's name.
    configurations
        Name of a switch → its ``frr.conf``.
    bfd
        Whether the configurations ask for BFD.

    Raises
    ------
    InputError
        If a program is missing or does not take a configuration.
    """
    daemons = find_daemons(bfd)
    folder = machine.path("/etc/frr")
    for name, text in configurations.items():
        own = folder / name
        own.mkdir()
        (own / "vtysh.conf").write_text("", encoding="ascii")
        (own / "frr.conf").write_text(text, encoding="ascii")
    lines = []
    for name in configurations:
        quoted = shlex.quote(name)
        runs = " && ".join(
            f"ip netns exec {quoted} {daemon} -d -N {quoted} >>/run/frr/{quoted}.log 2>&1"
            for daemon in daemons
        )
        load = f"ip netns exec {quoted} vtysh -N {quoted} -b >/run/frr/{quoted}.vtysh 2>&1"
        lines += [
            f"mkdir -p /run/frr/{quoted}",
            f"chown {_OWNER} /run/frr /run/frr/{quoted}",
            f"({runs} && {load} || echo failed >>/run/frr/{quoted}.vtysh) </dev/null &",
        ]
    machine.shell("\n".join([*lines, "wait"]) + "\n", _START_S)
    for name in configurations:
        _refuse_complaint(name, machine.path(f"/run/frr/{name}.vtysh"), machine.path(f"/run/frr/{name}.log"))


def _refuse_complaint(switch: str, said: Path, log: Path) -> None:
    text = said.read_text(encoding="utf-8", errors="replace") if said.exists() else "failed"
    if "% " in text or "failed" in text:
        why = " ".join(f"{text} {log.read_text(encoding='utf-8', errors='replace')[-300:]}".split())
        raise InputError(
            f"{printable(switch)}: FRR did not take its configuration ({printable(why, 300)}); "
            "write it with gpufabric export --to frr and load it by hand to see why"
        )
