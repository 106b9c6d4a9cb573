"""The reference pages name every key of the schemas, with its description, and their examples are read."""

import re
from pathlib import Path

import pytest

from gpufabric.catalog.presets import preset_ids
from gpufabric.formats.cluster_yaml import parse_cluster_spec
from gpufabric.formats.job_yaml import parse_job_spec
from gpufabric.jobs.schema import schema

PAGES = Path(__file__).parents[3] / "docs" / "reference"
ROOTS = {"cluster": "ClusterSpec", "job": "JobSpec"}
PARSERS = {"cluster": parse_cluster_spec, "job": parse_job_spec}


def page(kind: str) -> str:
    return (PAGES / f"{kind}-description.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("kind", ["cluster", "job"])
def test_every_key_is_on_the_page(kind):
    made = schema(kind)
    sections = dict(re.findall(r"^### (\w+)\n(.*?)(?=^### |\Z)", page(kind), re.MULTILINE | re.DOTALL))
    missing = [
        f"{name}.{key}"
        for name, part in {ROOTS[kind]: made, **made["$defs"]}.items()
        for key, described in part["properties"].items()
        if not re.search(
            rf"^\| `{key}` \|.*\| {re.escape(described['description'])} \|$", sections[name], re.MULTILINE
        )
    ]
    assert missing == []


@pytest.mark.parametrize("kind", ["cluster", "job"])
def test_examples_of_the_page_are_read(kind):
    examples = re.findall(r"```yaml\n(.*?)```", page(kind), re.DOTALL)
    assert examples
    assert all(PARSERS[kind](text, "page").name for text in examples)


def test_every_preset_is_on_the_page():
    assert [preset for preset in preset_ids() if f"| `{preset}` |" not in page("cluster")] == []
