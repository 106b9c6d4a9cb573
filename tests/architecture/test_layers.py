"""Imports go downwards only, and the check of it is alive."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest


def lint_imports(folder: Path) -> subprocess.CompletedProcess[str]:
    code = "from importlinter.cli import lint_imports_command; lint_imports_command()"
    return subprocess.run(
        [sys.executable, "-c", code, "--no-cache", "--no-logo"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(folder / "src")},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


@pytest.fixture
def copy(root, tmp_path) -> Path:
    ignore = shutil.ignore_patterns("__pycache__", "*.toml", "*.yaml")
    shutil.copytree(root / "src", tmp_path / "src", ignore=ignore)
    shutil.copy(root / "pyproject.toml", tmp_path)
    return tmp_path


def test_the_layers_hold(root):
    done = lint_imports(root)
    assert done.returncode == 0, done.stdout


@pytest.mark.slow
@pytest.mark.parametrize(
    ("file", "line"),
    [
        ("records/graph.py", "import gpufabric.catalog"),  # upwards
        ("routing/__init__.py", "import gpufabric.simulators"),  # sideways
        ("units.py", "import gpufabric.kernels"),  # upwards, at the bottom
    ],
)
def test_an_import_upwards_or_sideways_is_found(copy, file, line):
    target = copy / "src" / "gpufabric" / file
    target.write_text(target.read_text() + f"\n{line}\n")
    assert lint_imports(copy).returncode == 1


@pytest.mark.slow
def test_a_new_folder_must_be_given_a_layer(copy):
    (copy / "src" / "gpufabric" / "gadgets").mkdir()
    (copy / "src" / "gpufabric" / "gadgets" / "__init__.py").touch()
    assert lint_imports(copy).returncode == 1


def test_every_folder_with_python_is_a_package_that_the_linter_sees(root):
    package = root / "src" / "gpufabric"
    folders = {path.parent for path in package.rglob("*.py")}
    folders |= {p for p in package.iterdir() if p.is_dir() and p.name != "__pycache__"}
    assert [f for f in sorted(folders) if not (f / "__init__.py").exists()] == []
