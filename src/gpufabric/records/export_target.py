"""What an export starts from, what it gives, and what it keeps of a design."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal

from gpufabric.records.cluster import Cluster
from gpufabric.records.cluster_spec import ClusterSpec
from gpufabric.records.floor_plan import FloorPlan
from gpufabric.records.found_fabric import FoundFabric
from gpufabric.records.part_set import PartSet
from gpufabric.records.pci_functions import PciFunction


@dataclass(frozen=True, slots=True)
class ExportedFile:
    """One file of an export.

    Attributes
    ----------
    path
        Relative, with forward slashes and plain segments: it is laid under the folder that the user names.
    pieces
        The content, UTF-8 where it is text, in pieces so that a large file is never held whole.
    """

    path: str
    pieces: Iterable[bytes]

    @classmethod
    def of_text(cls, path: str, text: str) -> ExportedFile:
        """Return a file that holds *text*."""
        return cls(path, (text.encode("utf-8"),))


@dataclass(frozen=True, slots=True)
class ExportSource:
    """What an export starts from.

    Attributes
    ----------
    cluster
        Designed, or read from files.
    parts
        Its parts; empty for a cluster that was read from files.
    spec
        The description that the cluster was built from; None when it was read from files.
    floor_plan
        Racks and heights; None when there are none.
    fabrics
        Indices of the fabrics to export.
    lspci
        PCI functions of one server, for the targets that need bus addresses.
    options
        ``key=value`` choices of the target, by key.
    found
        What was read from files; None for a designed cluster. It has GUIDs and states of ports, which a cluster has not.
    """

    cluster: Cluster
    parts: PartSet
    spec: ClusterSpec | None
    floor_plan: FloorPlan | None
    fabrics: tuple[int, ...]
    lspci: tuple[PciFunction, ...] = ()
    options: tuple[tuple[str, str], ...] = ()
    found: FoundFabric | None = None

    def option(self, key: str, default: str = "") -> str:
        """Return the value that *key* was given, or *default*."""
        return dict(self.options).get(key, default)


@dataclass(frozen=True, slots=True)
class ExportOption:
    """One choice of a target: its key, the values it may have (empty: any), what it is when not given, and what it does."""

    key: str
    values: tuple[str, ...]
    default: str
    meaning: str


@dataclass(frozen=True, slots=True)
class ExportTarget:
    """A program or format that a design can be written for.

    Attributes
    ----------
    name
        What ``--to`` takes.
    title
        The program, and the version of its format.
    files
        The names of the files, as shown to the user.
    kept, lost
        What of the design is in the files, and what is not: one sentence each.
    network
        Networks that the target can express.
    source
        The document that the format follows: title, address, day read.
    write
        The files of a design. Raises InputError for a name that is not legal there, or a design that can't be expressed.
    from_files
        Whether a cluster read from files can be written too (``gpufabric convert``).
    options
        The choices of this target.
    """

    name: str
    title: str
    files: str
    kept: str
    lost: str
    network: Literal["any", "infiniband", "ethernet"]
    source: str
    write: Callable[[ExportSource], Iterable[ExportedFile]]
    from_files: bool = True
    options: tuple[ExportOption, ...] = ()
