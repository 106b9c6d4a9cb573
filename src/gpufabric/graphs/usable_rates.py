"""A fabric's links and which of them are lost → what each server can still send to the rest of the fabric."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gpufabric.graphs.fabric_links import FabricLinks
from gpufabric.kernels.connected_components import connected_components


def switch_parts(links: FabricLinks) -> NDArray[np.int64]:
    """Return for each device a number that is the same for switches that hang together without the servers."""
    up = ~links.at_server
    return connected_components(len(links.tier), links.lower[up], links.upper[up])


def usable_rates(
    links: FabricLinks, lost: NDArray[np.bool_], parts: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return the rate of the links of each server that still lead to the rest of the fabric, one direction.

    Where switches that hung together fall apart (the only spine is lost), links to the piece with the most server bandwidth are
    usable and those to the others are not. A link straight to another server is usable unless it is lost.

    Parameters
    ----------
    links : FabricLinks
        The whole fabric.
    lost : bool array, L
    parts : int64 array, D
        What :func:`switch_parts` says of the whole fabric.

    Returns
    -------
    float64 array, D, bytes/s; 0 for switches
    """
    at_server, devices = links.at_server, len(links.tier)
    usable = at_server & ~lost
    stranded = _stranded(links, lost, parts)
    usable &= ~stranded[links.upper]
    rate = np.bincount(links.lower[usable], links.bytes_per_s[usable], devices)
    direct = usable & (links.tier[links.upper] == 0)
    return (rate + np.bincount(links.upper[direct], links.bytes_per_s[direct], devices)).astype(np.float64)


def _stranded(links: FabricLinks, lost: NDArray[np.bool_], parts: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Whether each switch is in a piece that the loss has split off."""
    devices = len(links.tier)
    touched = np.zeros(devices, bool)
    touched[parts[links.upper[lost]]] = True
    alive = ~lost & touched[parts[links.upper]] & (links.tier[links.upper] > 0)
    up = links.take(alive & ~links.at_server)
    down = links.take(alive & links.at_server)
    serving = np.unique(down.upper)
    if not len(serving) or _hang_together(up, serving, parts):
        return np.zeros(devices, bool)
    piece = connected_components(devices, up.lower, up.upper)
    served = np.bincount(piece[down.upper], down.bytes_per_s, devices)
    # The last to be written wins: pieces are put in order of what they serve, equal ones so that the first of them wins.
    order = np.lexsort((-np.arange(devices), served))
    largest = np.full(devices, -1, np.int64)
    largest[parts[order]] = piece[order]
    stranded = np.zeros(devices, bool)
    stranded[serving] = piece[serving] != largest[parts[serving]]
    return stranded


def _hang_together(up: FabricLinks, serving: NDArray[np.int32], parts: NDArray[np.int64]) -> bool:
    """Whether one switch of each part still reaches all others that serve servers."""
    reached = np.zeros(len(up.tier), bool)
    start = np.full(len(up.tier), -1, np.int64)
    start[parts[serving]] = serving
    reached[start[start >= 0]] = True
    while True:
        before = int(reached.sum())
        reached[up.upper[reached[up.lower]]] = True
        reached[up.lower[reached[up.upper]]] = True
        if reached[serving].all():
            return True
        if int(reached.sum()) == before:
            return False
