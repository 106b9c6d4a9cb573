"""Kind of description → its JSON Schema (2020-12)."""

from __future__ import annotations

import json
from typing import Any, Literal

from pydantic import BaseModel

from gpufabric.records.cluster_spec import ClusterSpec
from gpufabric.records.job_spec import JobSpec

Kind = Literal["cluster", "job"]
DIALECT = "https://json-schema.org/draft/2020-12/schema"
_MODELS: dict[Kind, type[BaseModel]] = {"cluster": ClusterSpec, "job": JobSpec}
_LISTS = {"servers": "ServerGroup", "fabrics": "FabricSpec"}


def schema(kind: Kind) -> dict[str, Any]:
    """Return the JSON Schema of what a user may write in a description.

    Parameters
    ----------
    kind
        ``cluster`` or ``job``.

    Returns
    -------
    dict
        JSON Schema 2020-12. Short forms are part of it: one mapping for a list of one, and everything that a
        preset fills in left out. Ranges are those of the reader; what only the reader can check (units
        against counts, names of fabrics) is not in it.
    """
    made: dict[str, Any] = _tidied(_MODELS[kind].model_json_schema(mode="validation"))
    if kind == "cluster":
        _allow_short_forms(made)
    return {
        "$schema": DIALECT,
        "$id": f"urn:gpufabric:schema:{kind}:1",
        **made,
        "title": f"gpufabric {kind} description",
    }


def schema_text(kind: Kind) -> str:
    """Return the schema as the text that is published: indented JSON with a final newline."""
    return json.dumps(schema(kind), indent=2, ensure_ascii=False) + "\n"


def _tidied(value: Any) -> Any:
    """Leave out titles, which repeat the key, and defaults of nothing; forbid keys that fit no pattern."""
    if isinstance(value, list):
        return [_tidied(item) for item in value]
    if not isinstance(value, dict):
        return value
    is_schema = "type" in value or "anyOf" in value or "$ref" in value
    drop = {"title"} if is_schema and isinstance(value.get("title"), str) else set()
    if (is_schema and value.get("default", "") in (None, [])) or isinstance(value.get("default"), dict):
        drop.add("default")
    closed = {"additionalProperties": False} if is_schema and "patternProperties" in value else {}
    return {key: _tidied(item) for key, item in value.items() if key not in drop} | closed


def _allow_short_forms(made: dict[str, Any]) -> None:
    """Let a mapping stand for a list of one, and require nothing that a preset may give."""
    whole: dict[str, Any] = {"required": made.pop("required"), "properties": {}}
    for key, definition in _LISTS.items():
        as_list = made["properties"][key]
        description = as_list.pop("description")
        made["properties"][key] = {"anyOf": [as_list["items"], as_list], "description": description}
        needed = {"required": made["$defs"][definition].pop("required")}
        whole["properties"][key] = {"if": {"type": "array"}, "then": {"items": needed}, "else": needed}
    with_preset = {"required": ["preset"], "properties": {"preset": {"type": "string"}}}
    made["anyOf"] = [with_preset, whole]
