"""One judged table of a log among several, as it is compared with the others."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class ComparedRun:
    """A table, where it ran and how it did.

    Attributes
    ----------
    what : str
        How findings call it.
    file : str
    op : str
    ranks : int
    hosts : tuple of str
        Names, in the order of the ranks; empty when the log does not list them.
    places : tuple of str
        What else the job has that another may not: leaves, units or NICs, as ``leaf leaf-1`` or ``NIC mlx5_3``.
    size_bytes : int
        The largest size that all compare by.
    busbw_bytes_per_s : float
        At that size.
    share : float
        Measured / predicted, NaN when it was not predicted.
    facts : mapping of str to str
        What the file says of the run: version, settings, transports, channels.
    """

    what: str
    file: str
    op: str
    ranks: int
    hosts: tuple[str, ...]
    places: tuple[str, ...]
    size_bytes: int
    busbw_bytes_per_s: float
    share: float
    facts: Mapping[str, str] = field(default_factory=dict)
