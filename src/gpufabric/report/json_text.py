"""Plain values → the text of one JSON document that every reader accepts: no NaN, no control characters."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import PurePath
from typing import Any

FORMAT = "gpufabric/1"


def json_document(command: str, body: Mapping[str, Any]) -> dict[str, Any]:
    """Return the document of one command: format and command first, then *body* as plain JSON values."""
    return {"format": FORMAT, "command": command, **plain_json(body)}


def json_text(document: Mapping[str, Any]) -> str:
    """Return *document* as indented ASCII JSON with a final line end; the same values give the same bytes."""
    return json.dumps(plain_json(document), indent=2, allow_nan=False) + "\n"


def plain_json(value: Any) -> Any:
    """Return *value* with tuples, NumPy values and paths as JSON values, and NaN and infinities as None.

    Raises
    ------
    TypeError
        For a type that has no JSON form; records offer ``to_dict()`` for that.
    """
    if value is None or isinstance(value, str | bool):
        return value
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): plain_json(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain_json(item) for item in value]
    if isinstance(value, PurePath):
        return str(value)
    if hasattr(value, "tolist"):  # NumPy arrays and scalars, without importing NumPy
        return plain_json(value.tolist())
    raise TypeError(f"{type(value).__name__} has no JSON form")
