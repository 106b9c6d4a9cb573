"""The published JSON Schemas: current, valid, and in agreement with the readers."""

import json
from contextlib import suppress
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from gpufabric.catalog.presets import preset_ids, preset_text
from gpufabric.errors import SpecError
from gpufabric.formats.yaml_nodes import parse_nodes
from gpufabric.jobs.schema import schema, schema_text

ROOT = Path(__file__).parents[3]
CAPTURED = ROOT / "tests" / "captured" / "descriptions"
KINDS = ("cluster", "job")
ONLY_THE_READER_SEES = {
    "duplicate_fabric",  # names and counts are compared across the description
    "same_group",
    "unknown_fabric",
    "no_count",
    "no_unit_servers",
    "units_against_count",
    "units_overflow",
    "shrinks",
    "unknown_preset",
    "order_twice",
    "float_count",  # JSON knows no difference between 127 and 127.0
}


def validator(kind: str) -> Draft202012Validator:
    return Draft202012Validator(schema(kind))


def instance(text: str):
    return parse_nodes(text, "x").plain()


def readable_refusals():
    """Return the bad descriptions that are at least YAML, with their data."""
    found = []
    for file in sorted(CAPTURED.glob("*/bad/*.yaml")):
        with suppress(SpecError):
            found.append((file, instance(file.read_text(encoding="utf-8"))))
    return found


@pytest.mark.parametrize("kind", KINDS)
def test_the_checked_in_schema_is_current(kind):
    assert (ROOT / "schemas" / f"{kind}.schema.json").read_text(encoding="utf-8") == schema_text(kind)


@pytest.mark.parametrize("kind", KINDS)
def test_the_schema_is_valid_and_says_what_it_is(kind):
    made = schema(kind)
    Draft202012Validator.check_schema(made)
    assert made["title"] == f"gpufabric {kind} description"
    assert made["$id"].startswith("urn:")
    assert json.loads(schema_text(kind)) == made


@pytest.mark.parametrize("kind", KINDS)
def test_every_key_is_described(kind):
    made = schema(kind)
    parts = {"": made, **made["$defs"]}
    silent = [
        f"{name}.{key}"
        for name, part in parts.items()
        for key, p in part.get("properties", {}).items()
        if "description" not in p
    ]
    assert silent == []


@pytest.mark.slow
@pytest.mark.parametrize("preset", preset_ids())
def test_presets_fit(preset):
    validator("cluster").validate(instance(preset_text(preset)))
    validator("cluster").validate({"preset": preset})


@pytest.mark.parametrize("file", sorted(CAPTURED.glob("*/good/*.yaml")), ids=lambda f: f.stem)
def test_good_descriptions_fit(file):
    validator(file.parts[-3]).validate(instance(file.read_text(encoding="utf-8")))


@pytest.mark.parametrize(("file", "data"), readable_refusals(), ids=lambda x: getattr(x, "stem", ""))
def test_what_the_reader_refuses_does_not_fit(file, data):
    assert validator(file.parts[-3]).is_valid(data) == (file.stem in ONLY_THE_READER_SEES)


def test_without_a_preset_servers_and_fabrics_are_required():
    check = validator("cluster")
    assert not check.is_valid({"name": "x"})
    assert not check.is_valid({"preset": None})
    assert not check.is_valid({"servers": {"count": 3}, "fabrics": {"topology": "fat-tree"}})
    assert not check.is_valid({"servers": [{"model": "a"}], "fabrics": [{"name": "b"}]})
    assert check.is_valid({"servers": [{"model": "a", "count": 3}], "fabrics": {"topology": "fat-tree"}})
