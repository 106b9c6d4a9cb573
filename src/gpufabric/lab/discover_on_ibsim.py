"""A subnet → what real ``ibnetdiscover`` prints of it, on ibsim instead of hardware."""

from __future__ import annotations

import secrets
from pathlib import Path

from gpufabric.errors import InputError
from gpufabric.formats import ibsim_netlist
from gpufabric.lab.opensm_on_ibsim import NETLIST, ibsim_command, started_after, umad_wrapper
from gpufabric.lab.run_program import find_program, started, wait_for
from gpufabric.records.subnet import Subnet

DEFAULT_TIMEOUT_S = 120.0


def discover_on_ibsim(subnet: Subnet, folder: Path, timeout_s: float = DEFAULT_TIMEOUT_S) -> str:
    """Return the netlist that ibnetdiscover finds; ibsim gives every link the rate 4xSDR.

    Parameters
    ----------
    subnet
        Discovery starts from its first node.
    folder
        Existing folder for the files of both programs.
    timeout_s
        How long discovery may take, seconds.

    Raises
    ------
    InputError
        If a program is missing, fails, or takes too long.
    """
    programs = find_program("ibsim", "ibsim-utils"), find_program("ibnetdiscover", "infiniband-diags")
    shell = find_program("sh", "dash")
    (folder / NETLIST).write_text(ibsim_netlist.write(subnet), encoding="ascii")
    socket = f"gpufabric-{secrets.token_hex(6)}"
    settings = {"IBSIM_SOCKNAME": socket, "LD_PRELOAD": str(umad_wrapper())}
    out = folder / "ibnetdiscover.txt"
    command = [shell, "-c", 'exec "$1" > "$2"', "sh", programs[1], str(out)]
    with (
        started([programs[0], *ibsim_command(subnet)], folder, {"IBSIM_SOCKNAME": socket}) as simulator,
        started_after(simulator, command, folder, settings) as discovery,
    ):
        status = wait_for(discovery, [simulator], timeout_s)
        if status != 0:
            raise InputError(
                f"ibnetdiscover: ended with status {status} ({discovery.last_words()}); take a fabric that it can discover"
            )
    return out.read_text(encoding="utf-8", errors="replace")
