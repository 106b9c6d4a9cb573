"""The ``room`` of a description → every figure that a floor plan needs, with what was assumed."""

from __future__ import annotations

from dataclasses import dataclass

from gpufabric.errors import SpecError
from gpufabric.records.cluster_spec import Room
from gpufabric.units import format_length, format_power

# "DGX SuperPOD data center best practices with DGX B200", https://docs.nvidia.com/dgx-pdf/
# nvidia-dgx-superpod-data-center-best-practices-with-dgx-b200.pdf (secondary reading, 2026-09): EIA-310 racks of at least
# 48 units and 600 mm × 1100 mm; two DGX B200 a rack are 28.6 kW, four are 57.2 kW.
RACK_UNITS = 48
RACK_WIDTH_M = 0.6
RACK_DEPTH_M = 1.2
# Between the 40.8 kW of four DGX H100 and the 28.6 kW of two DGX B200: what many air-cooled rooms are built for.
RACK_POWER_W = 40_000.0
# Two floor tiles of 600 mm, and what is customary for overhead trays; no source fixes them.
AISLE_WIDTH_M = 1.2
TRAY_HEIGHT_M = 0.5
SLACK_M = 1.0
RACKS_PER_ROW = 10
_LEAST_M, _MOST_M = 1e-3, 100.0


@dataclass(frozen=True, slots=True)
class RoomFigures:
    """A room with nothing left open.

    ``rack_power_given`` tells whether the description limits the power of a rack, or the default does.
    """

    rack_power_w: float
    rack_power_given: bool
    rack_units: int
    racks_per_row: int
    rows: int | None
    rack_width_m: float
    rack_depth_m: float
    aisle_width_m: float
    tray_height_m: float
    slack_m: float
    leaf_placement: str
    assumptions: tuple[str, ...]


def room_figures(room: Room) -> RoomFigures:
    """Return the figures of *room*, with a default for each that it leaves out and a sentence that says so.

    Raises
    ------
    SpecError
        If a length is not between a millimetre and a hundred metres.
    """
    assumed: list[str] = []

    def length(key: str, given: float | None, default: float) -> float:
        if given is None:
            assumed.append(f"{key} {format_length(default)}")
        elif not _LEAST_M <= given <= _MOST_M:
            raise SpecError(
                f"room.{key}: {format_length(given)} is out of range; "
                f"allowed is {format_length(_LEAST_M)} to {format_length(_MOST_M)}; check its unit"
            )
        return default if given is None else given

    if room.rack_power is None:
        assumed.append(f"rack_power {format_power(RACK_POWER_W)}")
    if room.leaf_placement is None:
        assumed.append("leaf_placement row-end")
    if room.rack_units is None:
        assumed.append(f"rack_units {RACK_UNITS}")
    if room.racks_per_row is None:
        assumed.append(f"racks_per_row {RACKS_PER_ROW}")
    lengths = {
        "rack_width_m": length("rack_width", room.rack_width, RACK_WIDTH_M),
        "rack_depth_m": length("rack_depth", room.rack_depth, RACK_DEPTH_M),
        "aisle_width_m": length("aisle_width", room.aisle_width, AISLE_WIDTH_M),
        "tray_height_m": length("tray_height", room.tray_height, TRAY_HEIGHT_M),
        "slack_m": length("slack", room.slack, SLACK_M),
    }
    return RoomFigures(
        rack_power_w=RACK_POWER_W if room.rack_power is None else room.rack_power,
        rack_power_given=room.rack_power is not None,
        rack_units=room.rack_units or RACK_UNITS,
        racks_per_row=room.racks_per_row or RACKS_PER_ROW,
        rows=room.rows,
        leaf_placement=room.leaf_placement or "row-end",
        assumptions=(f"room: assumed {', '.join(assumed)}",) if assumed else (),
        **lengths,
    )
