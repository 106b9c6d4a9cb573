"""Files are called after what they do, and a name leads to one file."""

from collections import Counter
from pathlib import PurePosixPath

from hypothesis import given
from hypothesis import strategies as st

FORBIDDEN = {"utils", "util", "common", "helpers", "helper", "misc", "base", "core", "manager", "types"}


def forbidden(name: str) -> bool:
    """Tell whether a file or folder of this path has a name that says nothing."""
    return any(PurePosixPath(part).stem.strip("_") in FORBIDDEN for part in PurePosixPath(name).parts)


def test_no_file_or_folder_has_a_name_that_says_nothing(modules):
    assert [m.name for m in modules if forbidden(m.name)] == []


@given(st.sampled_from(sorted(FORBIDDEN)))
def test_forbidden_names_are_found_as_file_and_as_folder(name):
    assert forbidden(f"report/{name}.py")
    assert forbidden(f"report/_{name}.py")
    assert forbidden(f"{name}/svg.py")
    assert not forbidden(f"report/{name}_table.py")


def test_a_file_name_is_unique_within_its_layer_folder(modules):
    names = Counter(
        (PurePosixPath(m.name).parts[0], PurePosixPath(m.name).name)
        for m in modules
        if not m.name.endswith("__init__.py")
    )
    assert [name for name, count in names.items() if count > 1] == []


def test_a_data_files_name_is_unique_within_its_layer_folder(root):
    package = root / "src" / "gpufabric"
    files = [p for pattern in ("*.toml", "*.yaml") for p in package.rglob(pattern)]
    names = Counter((p.relative_to(package).parts[0], p.name) for p in files)
    assert [name for name, count in names.items() if count > 1] == []
