"""Every cluster description that the documents or examples show can be built as it stands."""

import re
from pathlib import Path

import pytest

from gpufabric.catalog.load import load_catalog
from gpufabric.formats.cluster_yaml import parse_cluster_spec
from gpufabric.topologies import build_cluster

ROOT = Path(__file__).parents[2]
BLOCK = re.compile(r"^```yaml\n(.*?)^```", re.MULTILINE | re.DOTALL)


def descriptions() -> dict[str, str]:
    """Return whole descriptions by place: fenced blocks that name servers and fabrics or a preset, and example files."""
    found = {}
    for page in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]:
        for number, block in enumerate(BLOCK.findall(page.read_text(encoding="utf-8")), 1):
            if re.search(r"^preset:", block, re.MULTILINE) or (
                re.search(r"^servers:", block, re.MULTILINE) and re.search(r"^fabrics:", block, re.MULTILINE)
            ):
                found[f"{page.relative_to(ROOT)} block {number}"] = block
    for file in sorted((ROOT / "examples").glob("*.yaml")):
        found[str(file.relative_to(ROOT))] = file.read_text(encoding="utf-8")
    return found


DESCRIPTIONS = descriptions()


def test_the_readme_shows_a_whole_description():
    assert "README.md block 1" in DESCRIPTIONS


@pytest.mark.parametrize("place", DESCRIPTIONS)
def test_a_shown_description_can_be_built(place):
    cluster = build_cluster(parse_cluster_spec(DESCRIPTIONS[place], place), load_catalog())
    assert len(cluster.gpus) > 0
    assert len(cluster.links) > 0
