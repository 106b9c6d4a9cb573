"""The documents keep up with the code: every command, topology, part kind and rule is in them."""

import importlib
import importlib.util
import re
from pathlib import Path
from typing import get_args

import pytest

from gpufabric.cli.app import COMMANDS
from gpufabric.records.parts import PartKind


def registry(module: str, name: str) -> list[str]:
    """Return the keys of a registry; skip while it does not exist."""
    found = getattr(importlib.import_module(module), name, None)
    if found is None:
        pytest.skip(f"{module} has no {name} yet")
    return list(found)


def headings(path: Path) -> set[str]:
    return {
        h.strip("` ") for h in re.findall(r"^#{2,4}\s+(.*)$", path.read_text(encoding="utf-8"), re.MULTILINE)
    }


def script(root, name):
    """Return a script that writes a page, as a module."""
    spec = importlib.util.spec_from_file_location(name, root / "scripts" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def command_reference(root):
    """The script that writes docs/reference/commands.md, as a module."""
    return script(root, "write_command_reference")


def test_the_export_reference_is_what_the_targets_say(root):
    written = (root / "docs" / "reference" / "exports.md").read_text(encoding="utf-8")
    assert written == script(root, "write_export_reference").export_reference(), (
        "run scripts/write_export_reference.py"
    )


def test_every_target_of_exports_has_a_section(root):
    targets = registry("gpufabric.exports", "EXPORTS")
    known = headings(root / "docs" / "reference" / "exports.md")
    assert [name for name in targets if name not in known] == []


def test_the_command_reference_is_what_the_commands_say(root, command_reference):
    written = (root / "docs" / "reference" / "commands.md").read_text(encoding="utf-8")
    assert written == command_reference.command_reference(), "run scripts/write_command_reference.py"


def test_every_command_has_a_section(root):
    known = headings(root / "docs" / "reference" / "commands.md")
    assert [name for name in COMMANDS if f"gpufabric {name}" not in known] == []


def test_every_topology_has_a_section(root):
    topologies = registry("gpufabric.topologies", "TOPOLOGIES")
    known = headings(root / "docs" / "reference" / "topologies.md")
    assert [name for name in topologies if name not in known] == []


def test_every_rule_has_a_page(root):
    rules = registry("gpufabric.rules", "RULES") + registry("gpufabric.rules", "FLOOR_RULES")
    pages = {p.stem for p in (root / "docs" / "rules").glob("*.md")}
    assert [name for name in rules if name not in pages] == []


def test_every_kind_of_part_is_described(root):
    page = root / "docs" / "reference" / "parts.md"
    if not page.exists():
        pytest.skip("the catalogue has no page yet")
    text = page.read_text(encoding="utf-8")
    assert [kind for kind in get_args(PartKind) if not re.search(rf"\b{kind}s?\b", text)] == []


def test_every_page_is_linked_from_the_index_of_its_folder(root):
    lost = []
    for page in sorted((root / "docs").rglob("*.md")):
        index = page.parent / "index.md"
        if page != index and f"({page.name}" not in index.read_text(encoding="utf-8"):
            lost.append(page.relative_to(root).as_posix())
    assert lost == []


def test_the_code_map_names_every_folder(root):
    text = (root / "ARCHITECTURE.md").read_text(encoding="utf-8")
    package = root / "src" / "gpufabric"
    folders = [p.name for p in package.iterdir() if p.is_dir() and p.name != "__pycache__"]
    assert [name for name in sorted(folders) if f"`{name}/`" not in text] == []
