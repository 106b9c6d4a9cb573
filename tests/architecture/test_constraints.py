"""constraints.txt pins exactly what gpufabric and its tests need, and what those need."""

import re
import tomllib
from importlib.metadata import PackageNotFoundError, requires
from importlib.util import find_spec

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


def pins_of(lines: list[str]) -> set[str]:
    lines = [line for line in lines if not line.startswith("#")]
    pins = [re.fullmatch(r"([A-Za-z0-9._-]+)==([A-Za-z0-9.!+]+)", line) for line in lines]
    assert [line for line, pin in zip(lines, pins, strict=True) if pin is None] == []
    return {canonicalize_name(pin.group(1)) for pin in pins if pin}


def test_every_needed_package_is_pinned_and_no_other(root):
    project = tomllib.loads((root / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    try:
        needed = closure([*project["dependencies"], *extras["dev"]])
    except PackageNotFoundError as error:
        pytest.fail(f"{error}: run make test, which installs the test tools")
    text, _, lab = (root / "constraints.txt").read_text().partition("# Of the extra lab")
    pinned = pins_of(text.splitlines())
    assert sorted(needed - pinned) == []
    assert sorted(pinned - needed) == []
    lab_pinned = pins_of(lab.splitlines()[1:])
    assert "torch" in lab_pinned
    if find_spec("torch") is None:
        return
    # Builds of PyTorch for GPUs need libraries of NVIDIA or AMD besides.
    more = {name for name in closure(extras["lab"]) if not name.startswith(("nvidia", "cuda", "triton"))}
    assert sorted(more - needed - lab_pinned) == []
    assert sorted(lab_pinned - more) == []
