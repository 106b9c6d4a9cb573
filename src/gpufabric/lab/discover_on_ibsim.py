"""A subnet → what real ``ibnetdiscover`` prints of it, on ibsim instead of hardware."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from gpufabric.errors import InputError
from gpufabric.lab.ibsim_session import Ibsim, ibsim_running
from gpufabric.lab.run_program import Program, find_program, started, wait_for
from gpufabric.records.subnet import Subnet

DEFAULT_TIMEOUT_S = 120.0
DISCOVERED = "ibnetdiscover.txt"


@dataclass(frozen=True, slots=True)
class Discovery:
    """A discovery that runs beside whatever else is done."""

    simulator: Ibsim
    program: Program

    def text(self, timeout_s: float = DEFAULT_TIMEOUT_S) -> str:
        """Wait for its end, *timeout_s* seconds at most, and return the netlist.

        Raises
        ------
        InputError
            If it fails or takes too long.
        """
        status = wait_for(self.program, [self.simulator.program], timeout_s)
        if status != 0:
            raise InputError(
                f"ibnetdiscover: ended with status {status} ({self.program.last_words()}); take a fabric that it can discover"
            )
        return (self.simulator.folder / DISCOVERED).read_text(encoding="utf-8", errors="replace")


@contextmanager
def discovering(simulator: Ibsim, names: Path | None = None) -> Iterator[Discovery]:
    """Let ibnetdiscover run while the block lasts.

    Parameters
    ----------
    simulator
        Discovery starts from the first node of its subnet.
    names
        Node-name map: the names that nodes are shown by; None: their own.

    Raises
    ------
    InputError
        If it is not installed.
    """
    program = find_program("ibnetdiscover", "infiniband-diags")
    mapped = ["--node-name-map", str(names)] if names else []
    with started([program, *mapped, DISCOVERED], simulator.folder, simulator.settings) as discovery:
        yield Discovery(simulator, discovery)


def discover_on_ibsim(
    subnet: Subnet, folder: Path, timeout_s: float = DEFAULT_TIMEOUT_S, names: Path | None = None
) -> str:
    """Return the netlist that ibnetdiscover finds; ibsim gives every link the rate 4xSDR.

    Parameters
    ----------
    subnet
    folder
        Existing folder for the files of both programs.
    timeout_s
        How long discovery may take, seconds.
    names
        As :func:`discovering` takes them.

    Raises
    ------
    InputError
        If a program is missing, fails, or takes too long.
    """
    find_program("ibnetdiscover", "infiniband-diags")
    with ibsim_running(subnet, folder) as simulator, discovering(simulator, names) as discovery:
        return discovery.text(timeout_s)
