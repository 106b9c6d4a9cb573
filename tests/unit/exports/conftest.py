"""Sources of exports for tests."""

import pytest

from gpufabric.exports import EXPORTS
from gpufabric.formats.cluster_yaml import parse_cluster_spec
from gpufabric.jobs.racked_cluster import racked_cluster
from gpufabric.records.export_target import ExportSource

TREE = """
name: small
servers: {model: dgx-h100, count: 6}
fabrics:
  - {name: compute, topology: rail-optimized, switch: qm9790, unit_servers: 2}
"""
ROCE = """
name: roce
servers: {model: hgx-h100, count: 8}
fabrics:
  - {name: compute, topology: leaf-spine, switch: sn5600, link_rate: 400 Gb/s}
"""


@pytest.fixture(scope="session")
def source_of(catalog):
    """Return a function that builds the source of an export from the text of a description."""

    def build(text: str, **more) -> ExportSource:
        spec = parse_cluster_spec(text, "test.yaml")
        racked = racked_cluster(spec, catalog)
        fabrics = tuple(range(len(racked.cluster.fabrics)))
        return ExportSource(
            racked.cluster, racked.parts, spec, racked.floor_plan, more.pop("fabrics", fabrics), **more
        )

    return build


@pytest.fixture(scope="session")
def small(source_of):
    """Six servers in three units of eight rails, InfiniBand."""
    return source_of(TREE)


@pytest.fixture(scope="session")
def roce(source_of):
    """Eight servers on Ethernet leaves and spines."""
    return source_of(ROCE)


@pytest.fixture(scope="session")
def written():
    """Return a function that writes a target and returns the text of each file by its path."""

    def write(name: str, source: ExportSource) -> dict[str, str]:
        return {file.path: b"".join(file.pieces).decode("utf-8") for file in EXPORTS[name].write(source)}

    return write
