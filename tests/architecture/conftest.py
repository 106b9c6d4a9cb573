"""The repository as data: its root, its files and its modules."""

import ast
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Module:
    """A Python file of the package and its syntax tree; ``name`` is its path below ``src/gpufabric``."""

    name: str
    path: Path
    text: str
    tree: ast.Module


@pytest.fixture(scope="session")
def root() -> Path:
    return ROOT


@pytest.fixture(scope="session")
def tracked_files() -> list[Path]:
    """Every file that git would commit."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        check=False,
    )
    if listed.returncode != 0:
        pytest.skip("not a git checkout, so there is no list of tracked files")
    paths = (ROOT / name for name in listed.stdout.decode().split("\0") if name)
    return sorted(p for p in paths if p.is_file())


@pytest.fixture(scope="session")
def modules() -> list[Module]:
    """Every Python file of the package."""
    package = ROOT / "src" / "gpufabric"
    found = []
    for path in sorted(package.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        found.append(Module(path.relative_to(package).as_posix(), path, text, ast.parse(text)))
    return found
