"""Found ↔ designed: which found device and port stands for which designed one, and what is cabled otherwise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

FaultKind = Literal[
    "swapped-pair",
    "exchanged-devices",
    "shifted-server",
    "wrong-port",
    "missing-link",
    "dark-port",
    "missing-device",
    "foreign-device",
    "extra-link",
    "duplicate-name",
    "wrong-rate",
    "wrong-cable",
    "missing-uplinks",
]


class MatchedBy:
    """Values of ``FabricMatch.how``."""

    NOTHING, NAME, WIRING = range(3)


@dataclass(frozen=True, slots=True)
class FabricMatch:
    """One found fabric laid over one design. F found devices, Q found ports, D designed devices, P designed ports.

    Attributes
    ----------
    device : int32 array, F
        Designed device that each found one stands for; -1 for foreign devices.
    how : int8 array, F
        See :class:`MatchedBy`.
    certainty : float64 array, F
        0 to 1: by name 1; by wiring the share of the links around it that agree, divided by the number of equally good ways to
        lay the fabric over the design that were found.
    port : int32 array, Q
        Designed port of each found one; -1 where none is known.
    in_scope : bool array, links of the design
        Links that the files can tell of: those of the subnets or planes in which a device was matched.
    """

    device: NDArray[np.int32]
    how: NDArray[np.int8]
    certainty: NDArray[np.float64]
    port: NDArray[np.int32]
    in_scope: NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class CableMove:
    """Unplug one end of a cable from a found port and plug it in at a designed one; both are ``device:port``."""

    fixed_end: str
    from_port: str
    to_port: str


@dataclass(frozen=True, slots=True)
class CablingFault:
    """One mistake, as a technician made it, not one a link.

    ``links`` are the designed links that are not as designed because of it; ``moves`` the re-plugs that mend it, in order.
    ``devices`` are names, where the mistake is about whole devices.
    """

    kind: FaultKind
    where: str
    message: str
    expected: str = ""
    found: str = ""
    fix: str = ""
    links: tuple[int, ...] = ()
    moves: tuple[CableMove, ...] = ()
    confidence: float = 1.0
    devices: tuple[str, ...] = ()
