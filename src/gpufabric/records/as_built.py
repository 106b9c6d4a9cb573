"""What is said of a fabric as built: how it lies over its design, what to re-plug in which order, what the faults cost."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

from gpufabric.records.findings import Finding

RepairAction = Literal["exchange", "unplug", "hold", "move", "plug", "reseat", "replace", "power", "rename"]
DesignOf = Literal["description", "cabling file", "inferred"]


@dataclass(frozen=True, slots=True)
class Repair:
    """One thing that a technician does.

    ``cable`` is the end that stays where it is, or the device; ``from_port`` and ``to_port`` are ``device:port``, empty where the
    action has none. Racks are empty where they are not known; where no port is left, ``from_rack`` is that of ``cable``. A cable
    that is on *hold* is moved to its port by a later step.
    """

    step: int
    action: RepairAction
    message: str
    rule: str
    cable: str = ""
    from_port: str = ""
    to_port: str = ""
    from_rack: str = ""
    to_rack: str = ""


@dataclass(frozen=True, slots=True)
class WiringMatch:
    """How a found fabric lies over its design.

    ``certainty`` is the least over the matched devices, 0 to 1; ``links`` are those that the files can tell of.
    """

    design: DesignOf
    formats: tuple[str, ...]
    devices_found: int
    devices_by_name: int
    devices_by_wiring: int
    devices_foreign: int
    devices_missing: int
    certainty: float
    links: int
    links_as_designed: int


@dataclass(frozen=True, slots=True)
class FaultCost:
    """What one fabric loses until the faults are mended; bytes/s, one direction. None: not known, and ``note`` may say why.

    ``bisection_found_is_bound``: the figure is a cut between two halves, and the least one may be smaller still.
    """

    fabric: str
    bisection_designed_bytes_per_s: float | None
    bisection_found_bytes_per_s: float | None
    bisection_found_is_bound: bool
    op: str
    size_bytes: int
    gpus: int
    servers_cut_off: int
    busbw_designed_bytes_per_s: float | None
    busbw_found_bytes_per_s: float | None
    note: str = ""


@dataclass(frozen=True, slots=True)
class WiringCheck:
    """As built against as designed."""

    match: WiringMatch
    findings: tuple[Finding, ...]
    repairs: tuple[Repair, ...]
    costs: tuple[FaultCost, ...]
    assumptions: tuple[str, ...]
    lines_read: int
    lines_not_understood: int

    def to_dict(self) -> dict[str, Any]:
        """Return match and costs as plain JSON values; findings and repairs stand beside them in the document."""
        return {"match": asdict(self.match), "costs": [asdict(cost) for cost in self.costs]}
