"""What all tests share."""

import os
import shutil
from collections.abc import Callable

import pytest


@pytest.fixture
def require_program() -> Callable[[str], str]:
    """Return a function that finds a real program: its path, a skip with the reason, or in CI a failure."""

    def find(name: str) -> str:
        path = shutil.which(name)
        if path is not None:
            return path
        reason = f"{name} is not installed; scripts/install-system-packages.sh installs what CI needs"
        if os.environ.get("GPUFABRIC_REQUIRE_REAL") == "1":
            pytest.fail(reason)
        return pytest.skip(reason)

    return find
