"""The guide's examples work, and the reference names every field."""

import re
from pathlib import Path

import pytest

from gpufabric.catalog.load import load_catalog
from gpufabric.catalog.part_file import MODELS
from gpufabric.errors import PartError
from gpufabric.jobs.parts import show_part

DOCS = Path(__file__).parents[3] / "docs"
GUIDE = (DOCS / "how-to/add-a-part.md").read_text(encoding="utf-8")
EXAMPLES = dict(
    re.findall(r"^```toml my-parts/([a-z-]+)\.toml\n(.*?)^```", GUIDE, flags=re.DOTALL | re.MULTILINE)
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in EXAMPLES.items():
        (tmp_path / f"{name}.toml").write_text(text, encoding="utf-8")
    return tmp_path


def test_the_examples_of_the_guide_are_parts(folder: Path) -> None:
    catalog = load_catalog(folder)
    assert sorted(catalog.user) == ["my-leaf", "my-server"]
    assert catalog.switch("my-leaf").cages[0].count == 32
    assert show_part(catalog, "my-server").picture[-1].endswith("OSFP1, lane 2, rail 1, plane 0, 400 Gb/s")


def test_the_error_that_the_guide_shows_is_what_is_said(folder: Path) -> None:
    leaf = folder / "my-leaf.toml"
    leaf.write_text(leaf.read_text().replace("typical_power_w =", "typical_power ="))
    with pytest.raises(PartError) as caught:
        load_catalog(folder)
    shown = re.search(r"my-parts/(my-leaf\.toml: .*?), … (Did you mean.*)", GUIDE)
    assert shown is not None
    assert shown.group(1) in str(caught.value)
    assert str(caught.value).endswith(shown.group(2))


@pytest.mark.parametrize("kind", MODELS)
def test_the_reference_names_every_field(kind: str) -> None:
    text = (DOCS / "reference/parts.md").read_text(encoding="utf-8")
    assert f"## Kind `{kind}`" in text
    section = text.split(f"## Kind `{kind}`")[1].split("\n## ")[0]
    general = text.split("## Fields of every part")[1].split("\n## ")[0]
    named = set(
        re.findall(
            r"\w+", "\n".join(row.split("|")[1] for row in (section + general).splitlines() if "|" in row)
        )
    )
    assert set(MODELS[kind].model_fields) <= named


def test_the_reference_names_every_server() -> None:
    text = (DOCS / "reference/parts.md").read_text(encoding="utf-8")
    assert [name for name in load_catalog().ids("server") if name not in text] == []
