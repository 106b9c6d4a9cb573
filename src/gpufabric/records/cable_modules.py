"""What the modules in the ports of a host say of themselves."""

from __future__ import annotations

from dataclasses import dataclass

from gpufabric.records.file_record import FileRecord


@dataclass(frozen=True, slots=True)
class CableModule:
    """A transceiver or the end of a cable.

    ``length_m`` is that of the cable, or what the module drives; NaN where it is not told. ``powers_w`` are the optical powers
    received, lane by lane, in watts. ``alarms`` are the names of alarms and warnings that are on, with their line.
    """

    interface: str
    line: int
    kind: str = ""
    vendor: str = ""
    part_number: str = ""
    length_m: float = float("nan")
    temperature_c: float = float("nan")
    powers_w: tuple[float, ...] = ()
    alarms: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True)
class CableModules(FileRecord):
    """The modules of a file, in its order."""

    modules: tuple[CableModule, ...] = ()
