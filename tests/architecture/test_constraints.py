"""constraints.txt pins exactly what gpufabric and its tests need, and what those need."""

import re
import tomllib
from importlib.metadata import PackageNotFoundError, requires

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name


def closure(wanted: list[str]) -> set[str]:
    """Return the canonical names of *wanted* and of all that they require on this machine."""
    names: set[str] = set()
    queue = [Requirement(text) for text in wanted]
    done = set()
    while queue:
        requirement = queue.pop()
        key = (canonicalize_name(requirement.name), tuple(sorted(requirement.extras)))
        if key in done:
            continue
        done.add(key)
        names.add(key[0])
        for text in requires(requirement.name) or []:
            inner = Requirement(text)
            environments = [{"extra": extra} for extra in ("", *requirement.extras)]
            if inner.marker is None or any(inner.marker.evaluate(e) for e in environments):
                queue.append(inner)
    return names


def test_every_needed_package_is_pinned_and_no_other(root):
    project = tomllib.loads((root / "pyproject.toml").read_text())["project"]
    try:
        needed = closure([*project["dependencies"], *project["optional-dependencies"]["dev"]])
    except PackageNotFoundError as error:
        pytest.fail(f"{error}: run make test, which installs the test tools")
    lines = [line for line in (root / "constraints.txt").read_text().splitlines() if not line.startswith("#")]
    pins = [re.fullmatch(r"([A-Za-z0-9._-]+)==([A-Za-z0-9.!+]+)", line) for line in lines]
    assert [line for line, pin in zip(lines, pins, strict=True) if pin is None] == []
    pinned = {canonicalize_name(pin.group(1)) for pin in pins if pin}
    assert sorted(needed - pinned) == []
    assert sorted(pinned - needed) == []
