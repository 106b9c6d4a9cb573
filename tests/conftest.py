"""What all tests share."""

import os
import shutil
from collections.abc import Callable
from importlib.util import find_spec

import pytest
from hypothesis import settings

from gpufabric.catalog.load import Catalog, load_catalog
from gpufabric.formats.cluster_yaml import parse_cluster_spec
from gpufabric.records.cluster import Cluster
from gpufabric.records.part_set import PartSet
from gpufabric.topologies import build_cluster, resolve_parts

# How many random cases a property is tried on in `make check`; `make test` tries as many as each test says, or 100.
FAST_EXAMPLES = 15

settings.register_profile("fast", max_examples=FAST_EXAMPLES, deadline=None, derandomize=True)
settings.register_profile("full", deadline=None)
settings.load_profile("full")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Lower the counts that tests name themselves, too: the profile that is loaded would yield to them."""
    if config.getoption("--hypothesis-profile") != "fast":
        return
    for item in items:
        test = getattr(item, "obj", None)
        own = getattr(test, "_hypothesis_internal_use_settings", None)
        if own is not None:
            few = min(own.max_examples, FAST_EXAMPLES)
            test._hypothesis_internal_use_settings = settings(
                own, max_examples=few, derandomize=True, database=None
            )


@pytest.fixture(scope="session")
def catalog() -> Catalog:
    """Return the shipped catalogue."""
    return load_catalog()


@pytest.fixture(scope="session")
def wire(catalog: Catalog) -> Callable[..., tuple[Cluster, PartSet]]:
    """Return a function that builds a cluster of one fabric: servers, count, topology, switch, more keys of the fabric."""

    def build(
        servers: str, count: int, topology: str, switch: str, more: str = ""
    ) -> tuple[Cluster, PartSet]:
        text = (
            f"servers: {{model: {servers}, count: {count}}}\n"
            f"fabrics: [{{name: compute, topology: {topology}, switch: {switch}{more}}}]\n"
        )
        spec = parse_cluster_spec(text, "test.yaml")
        return build_cluster(spec, catalog), resolve_parts(spec, catalog)

    return build


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


@pytest.fixture
def require_torch() -> None:
    """Skip with the reason where PyTorch is missing, or fail in CI."""
    if find_spec("torch") is None:
        reason = "torch is not installed; make test EXTRAS=dev,lab installs it"
        if os.environ.get("GPUFABRIC_REQUIRE_REAL") == "1":
            pytest.fail(reason)
        pytest.skip(reason)
