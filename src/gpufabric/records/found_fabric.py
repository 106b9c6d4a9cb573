"""A fabric as files of the running system tell it: a :class:`Cluster` with real names, and what its columns can't hold."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gpufabric.records.cluster import Cluster
from gpufabric.records.findings import Finding


class PortState:
    """Values of ``FoundFabric.port_state``."""

    UNKNOWN, DARK, UP = -1, 0, 1


@dataclass(frozen=True, slots=True)
class FoundFabric:
    """One or several files about one fabric. D devices, P ports and L links of ``cluster``.

    Roles, parts, cages, rails and planes of the cluster are unknown (-1): recognising them is a step of its own.

    Attributes
    ----------
    cluster : Cluster
    formats, files : tuple of str
        What was read, in the order it was read.
    device_guid : uint64 array, D
        Node GUID of a switch; 0 where the file has none, as for servers, whose adapters have one each.
    device_model : tuple of str, D
        Model or description that the device gives of itself; may be empty.
    port_guid : uint64 array, P
        Node GUID of the adapter that has the port; 0 on switches and where the file has none.
    port_number : int32 array, P
        The number that the device itself gives the port; -1 where ports have names only.
    port_state : int8 array, P
        See :class:`PortState`; a port at the end of a link is up unless the file says otherwise.
    port_own : bool array, P
        Whether the device itself tells of the port; else its name is what the far end heard, which may be spelled otherwise.
    port_note : tuple of str, P
        Description that somebody configured on the port; may be empty.
    link_ends : int8 array, L
        How many of the two ends tell of the link: 1 or 2.
    link_part : tuple of str, L or none
        Part of each cable, empty where it is not told; no entries where none is.
    link_speed : tuple of (int, str) or None, L or none
        Width and generation of each link, such as (4, "NDR"), where the file tells both; no entries where it tells none.
    device_rack : tuple of str, D or none
        Rack of each device, empty where it is not told; no entries where none is.
    findings : tuple of Finding
    lines_read, lines_not_understood : int
    left_out : tuple of (str, int)
        Kinds of nodes that are no devices of a fabric, such as aggregation nodes inside switches, with their counts.
    """

    cluster: Cluster
    formats: tuple[str, ...]
    files: tuple[str, ...]
    device_guid: NDArray[np.uint64]
    device_model: tuple[str, ...]
    port_guid: NDArray[np.uint64]
    port_number: NDArray[np.int32]
    port_state: NDArray[np.int8]
    port_own: NDArray[np.bool_]
    port_note: tuple[str, ...]
    link_ends: NDArray[np.int8]
    link_part: tuple[str, ...] = ()
    link_speed: tuple[tuple[int, str] | None, ...] = ()
    device_rack: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()
    lines_read: int = 0
    lines_not_understood: int = 0
    left_out: tuple[tuple[str, int], ...] = ()
