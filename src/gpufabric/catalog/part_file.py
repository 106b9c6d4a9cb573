"""One TOML file → one validated part."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from gpufabric.catalog.explain_invalid import explain_invalid, field_path
from gpufabric.errors import PartError, did_you_mean, printable
from gpufabric.records.parts import (
    AnyPart,
    AppliancePart,
    CablePart,
    GpuPart,
    NicPart,
    PduPart,
    RackPart,
    ServerPart,
    SwitchPart,
    TransceiverPart,
)

MODELS: dict[str, type[AnyPart]] = {
    "gpu": GpuPart,
    "server": ServerPart,
    "nic": NicPart,
    "switch": SwitchPart,
    "cable": CablePart,
    "transceiver": TransceiverPart,
    "rack": RackPart,
    "pdu": PduPart,
    "appliance": AppliancePart,
}
MAX_FILE_BYTES = 65_536
LONGEST_PATH = 200


def read_part_file(path: Path, shown: str = "") -> AnyPart:
    """Return the part that a TOML file describes.

    Parameters
    ----------
    path
        The file; its name without ``.toml`` is the part's id.
    shown
        What messages call the file; the path when empty.

    Raises
    ------
    PartError
        In one line a fault *file: field: what is wrong (found); allowed; do*, if the file can't be read, is longer
        than ``MAX_FILE_BYTES``, is not TOML, or does not describe a part.
    """
    where = printable(shown or str(path), LONGEST_PATH)
    document = _parse(_read(path, where), where)
    model = _model_of(document, where)
    _require_plain_text(document, where)
    try:
        part = model.model_validate(document)
    except ValidationError as error:
        lines = explain_invalid(error, model)
        raise PartError("\n".join(f"{where}: {line}" for line in lines)) from None
    if part.id != path.stem:
        raise PartError(
            f'{where}: id: "{part.id}" differs from the file\'s name "{printable(path.stem)}"; '
            f"both must be equal; rename the file to {part.id}.toml"
        )
    return part


def _read(path: Path, where: str) -> bytes:
    try:
        with path.open("rb") as file:
            data = file.read(MAX_FILE_BYTES + 1)
    except OSError as error:
        raise PartError(f"{where}: can't be read ({error.strerror})") from None
    if len(data) > MAX_FILE_BYTES:
        raise PartError(
            f"{where}: is too long; a part's file has at most {MAX_FILE_BYTES} bytes; "
            "keep one part in one file"
        )
    return data


def _parse(data: bytes, where: str) -> dict[str, Any]:
    try:
        return tomllib.loads(data.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise PartError(f"{where}: byte {error.start} is not UTF-8; save the file as UTF-8") from None
    except RecursionError:
        raise PartError(f"{where}: lists are nested too deeply; a part needs four levels at most") from None
    except ValueError as error:  # TOMLDecodeError, and numbers of too many digits
        reason = printable(str(error), 120)
        raise PartError(
            f"{where}: is not TOML ({reason}); see docs/how-to/add-a-part.md for an example"
        ) from None


def _model_of(document: dict[str, Any], where: str) -> type[AnyPart]:
    kind = document.get("kind")
    allowed = ", ".join(MODELS)
    if kind is None:
        raise PartError(f'{where}: kind: is missing; allowed: {allowed}; add a line such as kind = "switch"')
    if not isinstance(kind, str) or kind not in MODELS:
        shown = printable(str(kind))
        hint = did_you_mean(shown, MODELS)
        raise PartError(f'{where}: kind: "{shown}" is unknown; allowed: {allowed}.{hint}')
    return MODELS[kind]


def _require_plain_text(document: dict[str, Any], where: str) -> None:
    """Refuse control characters: what a part says is printed on terminals and drawn into pages."""
    pending: list[tuple[tuple[int | str, ...], Any]] = [((), document)]
    while pending:
        place, value = pending.pop()
        if isinstance(value, dict):
            pending.extend(((*place, key), inner) for key, inner in value.items())
        elif isinstance(value, list):
            pending.extend(((*place, index), inner) for index, inner in enumerate(value))
        elif isinstance(value, str) and not value.isprintable():
            raise PartError(
                f'{where}: {field_path(place)}: has control characters ("{printable(value, 40)}"); '
                "text must be printable and on one line; remove them"
            )
