"""Which devices tell of themselves → the designed links that files can tell of."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gpufabric.records.cluster import Cluster
from gpufabric.records.found_fabric import FoundFabric

NEIGHBOURS_ONLY = "lldp"
"""What the names of formats begin with in which a device tells of its neighbours and of nothing else."""


def links_in_view(design: Cluster, found: FoundFabric, device: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return the designed links with an end at a device that tells of itself, where the files are such a view; else all.

    A table of neighbours is what one device hears. A discovery or a list of cables is of the whole fabric, unless it breaks off.

    Parameters
    ----------
    design, found
    device : int64 array, found devices
        Designed device of each; -1 for foreign ones.

    Returns
    -------
    bool array, links of the design
    """
    whole = not all(name.startswith(NEIGHBOURS_ONLY) for name in found.formats)
    speaking = devices_that_tell(found)
    if (whole and not breaks_off(found)) or not speaking.any():
        return np.ones(len(design.links), np.bool_)
    if whole:
        speaking[_last_record(found)] = False  # the file ends somewhere in it
    tells = np.zeros(len(design.devices), np.bool_)
    tells[device[speaking & (device >= 0)]] = True
    return np.asarray(tells[design.link_device_a] | tells[design.link_device_b])


def breaks_off(found: FoundFabric) -> bool:
    """Say whether a discovery of a whole fabric has devices that others name, but no record of their own."""
    if any(name.startswith(NEIGHBOURS_ONLY) for name in found.formats) or not found.port_own.any():
        return False
    linked = np.zeros(len(found.cluster.devices), np.bool_)
    linked[found.cluster.ports.device] = True
    return bool((linked & ~devices_that_tell(found)).any())


def devices_that_tell(found: FoundFabric) -> NDArray[np.bool_]:
    """Return which found devices tell of a port of their own."""
    own = np.zeros(len(found.cluster.devices), np.bool_)
    own[found.cluster.ports.device[found.port_own]] = True
    return own


def _last_record(found: FoundFabric) -> int:
    """Return the device that tells of itself furthest down in its file."""
    telling = np.flatnonzero(devices_that_tell(found))
    where = found.cluster.devices.where or ("",) * len(found.cluster.devices)
    lines = [int(line) if (line := where[row].rpartition(":")[2]).isdecimal() else 0 for row in telling]
    return int(telling[int(np.argmax(lines))])
