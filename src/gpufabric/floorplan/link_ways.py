"""Floor plan → how long the way of each link is: up to the tray, along the rows and across, and down again."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gpufabric.floorplan.room_figures import room_figures
from gpufabric.records.cluster import Cluster
from gpufabric.records.cluster_spec import Room
from gpufabric.records.floor_plan import RACK_UNIT_M, FloorPlan, LinkLengths


def measure(cluster: Cluster, plan: FloorPlan, room: Room) -> LinkLengths:
    """Return the length of the way of every link.

    Within a rack it is the vertical distance. Between racks it goes from the middle of the device's front to the top of its rack,
    up to the tray, along the tray over the row, across to the other row, and down again. Trays across run over both ends and the
    middle of the rows of a column; the nearest one counts. ``slack`` is added once to each link.

    Parameters
    ----------
    cluster
    plan
        Where its devices stand.
    room
        The room that *plan* was made for.

    Returns
    -------
    LinkLengths, L rows, metres; not rounded up to lengths on sale
    """
    figures = room_figures(room)
    racks = plan.racks
    a, b = cluster.link_device_a, cluster.link_device_b
    rack_a, rack_b = plan.rack[a], plan.rack[b]
    middle_units = plan.lowest_unit - 1 + plan.height_units / 2
    # A rack that is too full is stacked beyond its height: its devices are then as near to the tray as can be.
    below_top = np.maximum(0.0, (racks.units[plan.rack] - middle_units) * RACK_UNIT_M)
    inside = rack_a == rack_b
    x_a, x_b = racks.x_m[rack_a], racks.x_m[rack_b]
    row_m = figures.racks_per_row * figures.rack_width_m
    column = np.floor(racks.x_m / (row_m + figures.aisle_width_m))
    start = column * (row_m + figures.aisle_width_m)
    same_column = (column[rack_a] == column[rack_b]) & (racks.row[rack_a] != racks.row[rack_b])
    along = np.where(same_column, _by_cross_tray(x_a, x_b, start[rack_a], row_m), np.abs(x_a - x_b))
    across = np.abs(racks.y_m[rack_a] - racks.y_m[rack_b])
    tray = 2 * figures.tray_height_m + along + across
    lower = below_top[a] + figures.slack_m / 2
    upper = below_top[b] + figures.slack_m / 2
    vertical = np.abs(middle_units[a] - middle_units[b]) * RACK_UNIT_M + figures.slack_m
    return LinkLengths(
        total_m=np.where(inside, vertical, lower + tray + upper),
        lower_m=np.where(inside, np.nan, lower),
        upper_m=np.where(inside, np.nan, upper),
    )


def _by_cross_tray(
    x_a: NDArray[np.float64], x_b: NDArray[np.float64], start: NDArray[np.float64], row_m: float
) -> NDArray[np.float64]:
    """Return the way along two rows of a column, which begin at *start*, by the nearest of the trays across them."""
    ways = [np.abs(x_a - start - tray) + np.abs(x_b - start - tray) for tray in (0.0, row_m / 2, row_m)]
    return np.asarray(np.minimum.reduce(ways), np.float64)
