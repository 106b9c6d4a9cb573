"""Calibration ↔ TOML."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from gpufabric.catalog.explain_invalid import explain_invalid
from gpufabric.errors import InputError, printable
from gpufabric.formats.open_input import open_input
from gpufabric.records.calibration import Calibration

MAX_FILE_BYTES = 2**20
_HEAD = """\
# Written by gpufabric calibrate. Constants of the model of time of collectives: seconds, factors and shares.
"""


def read_calibration(path: Path | str) -> Calibration:
    """Return the calibration in a TOML file of at most 1 MiB.

    Raises
    ------
    InputError
        In one line a fault, if the file can't be read or is no calibration.
    """
    where = printable(str(path), 200)
    try:
        with open_input(path) as file:
            data = file.read(MAX_FILE_BYTES + 1)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "not a usable path"
        raise InputError(
            f"{where}: can't be read ({reason}); name a file that gpufabric calibrate wrote"
        ) from None
    if len(data) > MAX_FILE_BYTES:
        raise InputError(f"{where}: is larger than 1 MiB; a calibration has at most that; name another file")
    try:
        document = tomllib.loads(data.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        reason = printable(str(error), 120)
        raise InputError(
            f"{where}: is not TOML ({reason}); name a file that gpufabric calibrate wrote"
        ) from None
    try:
        return Calibration.model_validate(document)
    except ValidationError as error:
        lines = explain_invalid(error, Calibration)
        raise InputError("\n".join(f"{where}: {line}" for line in lines)) from None


def calibration_text(calibration: Calibration) -> str:
    """Return a calibration as TOML that :func:`read_calibration` reads."""
    document = calibration.model_dump(mode="json", exclude_none=True)
    return _HEAD + "\n".join(_lines(document, "")) + "\n"


def _lines(table: Mapping[str, Any], path: str) -> Iterator[str]:
    for key, value in table.items():
        if not isinstance(value, dict) and not _is_tables(value):
            yield f"{json.dumps(key, ensure_ascii=False)} = {_value(value)}"
    for key, value in table.items():
        inner = (
            f"{path}.{json.dumps(key, ensure_ascii=False)}" if path else json.dumps(key, ensure_ascii=False)
        )
        if isinstance(value, dict):
            yield f"\n[{inner}]"
            yield from _lines(value, inner)
        elif _is_tables(value):
            for one in value:
                yield f"\n[[{inner}]]"
                yield from _lines(one, inner)


def _is_tables(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and isinstance(value[0], dict)


def _value(value: Any) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_value, value))}]"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    return (
        repr(value)
        if isinstance(value, float)
        else str(value).lower()
        if isinstance(value, bool)
        else str(value)
    )
