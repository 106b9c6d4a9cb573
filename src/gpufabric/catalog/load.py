"""The catalogue: an id → its part, read when first asked for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import TypeVar

from gpufabric.catalog.part_file import LONGEST_PATH, MODELS, read_part_file
from gpufabric.catalog.user_folder import find_part_files
from gpufabric.errors import PartError, did_you_mean, printable
from gpufabric.records.parts import AnyPart, GpuPart, NicPart, ServerPart, SwitchPart

FOLDERS = {
    "gpu": "gpus",
    "server": "servers",
    "nic": "nics",
    "switch": "switches",
    "cable": "cables",
    "transceiver": "transceivers",
    "rack": "racks",
    "pdu": "pdus",
    "appliance": "appliances",
}
# More names than a line of an error can hold are pointed to.
_MOST_LISTED = 24
_SHIPPED = Path(__file__).parent / "parts"
_P = TypeVar("_P", GpuPart, NicPart, ServerPart, SwitchPart)


@dataclass(frozen=True)
class Catalog:
    """The shipped parts, with a user's own on top.

    Attributes
    ----------
    kinds : mapping of part id to kind, every part
    user : mapping of part id to part, the user's own parts
    overridden : tuple of str
        Ids of shipped parts that a user's part replaces, sorted.
    """

    kinds: Mapping[str, str]
    user: Mapping[str, AnyPart] = field(default_factory=dict)
    overridden: tuple[str, ...] = ()

    def get(self, part_id: str, kind: str | None = None) -> AnyPart:
        """Return the part of an id or alias; upper and lower case are the same.

        Parameters
        ----------
        part_id
            Id, alias or part number.
        kind
            What the part must be: gpu, server, nic, switch, cable, transceiver, rack, pdu or appliance.

        Raises
        ------
        PartError
            If there is no such part, or it is of another kind.
        """
        known_id = self._resolve(part_id, kind)
        part = self.user.get(known_id) or _shipped_part(self.kinds[known_id], known_id)
        if kind is not None and part.kind != kind:
            raise PartError(
                f'part "{printable(part_id)}" is a {part.kind}; a {kind} is needed; '
                f"known: {', '.join(self.ids(kind))}"
            )
        return part

    def gpu(self, part_id: str) -> GpuPart:
        """Return a GPU; see :meth:`get`."""
        return _checked(self.get(part_id, "gpu"), GpuPart)

    def server(self, part_id: str) -> ServerPart:
        """Return a server; see :meth:`get`."""
        return _checked(self.get(part_id, "server"), ServerPart)

    def nic(self, part_id: str) -> NicPart:
        """Return a NIC; see :meth:`get`."""
        return _checked(self.get(part_id, "nic"), NicPart)

    def switch(self, part_id: str) -> SwitchPart:
        """Return a switch; see :meth:`get`."""
        return _checked(self.get(part_id, "switch"), SwitchPart)

    def ids(self, kind: str | None = None) -> tuple[str, ...]:
        """Return the ids of all parts, or of one kind, sorted."""
        _require_kind(kind)
        return tuple(sorted(i for i, k in self.kinds.items() if kind is None or k == kind))

    def of_kind(self, kind: str | None = None) -> tuple[AnyPart, ...]:
        """Return all parts, or those of one kind, sorted by id."""
        return tuple(self.get(part_id) for part_id in self.ids(kind))

    def _resolve(self, part_id: str, kind: str | None) -> str:
        _require_kind(kind)
        wanted = part_id.strip().lower()
        if wanted in self.kinds:
            return wanted
        aliases = self._aliases()
        if wanted in aliases:
            return aliases[wanted]
        what = kind or "part"
        known = self.ids(kind)
        names = [*known, *(alias for alias, target in aliases.items() if kind in (None, self.kinds[target]))]
        hint = did_you_mean(wanted, names)
        few = kind is not None and len(known) <= _MOST_LISTED
        where = f"gpufabric parts --kind {kind}" if kind else "gpufabric parts"
        listed = f"known: {', '.join(known)}." if few else f"{where} lists the {len(known)} known ones."
        raise PartError(f'{what} "{printable(part_id)}" is unknown; {listed}{hint}')

    def _aliases(self) -> dict[str, str]:
        """Return alias → id. Reads every part, so it is asked for only when an id is not found."""
        found: dict[str, str] = {}
        for part in self.of_kind():
            for alias in (*part.aliases, part.part_number):
                if alias:
                    found.setdefault(alias.lower(), part.id)
        return found


def load_catalog(user_folder: Path | None = None) -> Catalog:
    """Return the catalogue of shipped parts, with those of a user's folder on top.

    Shipped files are indexed by name and read when asked for. A user's files are all read here, so that a
    wrong one is told of even if nothing uses it.

    Parameters
    ----------
    user_folder
        Folder with TOML files anywhere below it; a part with the id of a shipped one replaces it.

    Raises
    ------
    PartError
        If the folder or a file in it can't be used; see
        :func:`~gpufabric.catalog.user_folder.find_part_files`.
    """
    shipped = _shipped_kinds()
    user: dict[str, AnyPart] = {}
    sources: dict[str, Path] = {}
    for path in find_part_files(user_folder) if user_folder is not None else ():
        part = read_part_file(path)
        if part.id in user:
            where, other = (printable(str(p), LONGEST_PATH) for p in (path, sources[part.id]))
            raise PartError(
                f"{where}: id: {part.id} is also in {other}; each part has one file; remove one of them"
            )
        user[part.id] = part
        sources[part.id] = path
    kinds = {**shipped, **{part_id: part.kind for part_id, part in user.items()}}
    overridden = tuple(sorted(set(user) & set(shipped)))
    return Catalog(MappingProxyType(kinds), MappingProxyType(user), overridden)


@cache
def _shipped_kinds() -> Mapping[str, str]:
    return MappingProxyType(
        {path.stem: kind for kind, folder in FOLDERS.items() for path in (_SHIPPED / folder).glob("*.toml")}
    )


@cache
def _shipped_part(kind: str, part_id: str) -> AnyPart:
    return read_part_file(_SHIPPED / FOLDERS[kind] / f"{part_id}.toml", f"{FOLDERS[kind]}/{part_id}.toml")


def _require_kind(kind: str | None) -> None:
    if kind is not None and kind not in MODELS:
        hint = did_you_mean(kind, MODELS)
        raise PartError(f'part kind "{printable(kind)}" is unknown; allowed: {", ".join(MODELS)}.{hint}')


def _checked(part: AnyPart, model: type[_P]) -> _P:
    assert isinstance(part, model)
    return part
