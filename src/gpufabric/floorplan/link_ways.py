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
    up to the tray, along the tray over the row, across to the other row on one of three trays (over both ends and the middle of
    the rows, whichever is nearest), and down again. ``slack`` is added once to each.

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
    along = np.where(
        racks.row[rack_a] == racks.row[rack_b], np.abs(x_a - x_b), _crossing(x_a, x_b, racks.x_m)
    )
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


def _crossing(
    x_a: NDArray[np.float64], x_b: NDArray[np.float64], racks: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the way along two rows by the nearest of the trays across them."""
    low, high = float(racks.min(initial=0.0)), float(racks.max(initial=0.0))
    ways = [np.abs(x_a - tray) + np.abs(x_b - tray) for tray in (low, (low + high) / 2, high)]
    return np.asarray(np.minimum.reduce(ways), np.float64)
