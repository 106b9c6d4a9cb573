"""Sources of exports for tests, and the schemas of what they give."""

import io
import json
from pathlib import Path

import jsonschema
import pytest
from ruamel.yaml import YAML

from gpufabric.exports import EXPORTS
from gpufabric.exports.chosen_links import chosen_links
from gpufabric.formats.cluster_yaml import parse_cluster_spec
from gpufabric.formats.recognise_fabric import read_fabric
from gpufabric.jobs.racked_cluster import racked_cluster
from gpufabric.recognition.recognise_roles import with_roles
from gpufabric.records.export_target import ExportSource
from gpufabric.records.names import device_names
from gpufabric.records.part_set import PartSet

SCHEMAS = Path(__file__).parents[2] / "captured" / "schemas"
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
RACKS = """
name: racks
servers: {model: gb200-nvl72-tray, count: 72}
fabrics:
  - {name: compute, topology: rail-optimized, switch: qm9790}
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


@pytest.fixture(scope="session")
def racks(source_of):
    """Four racks of one NVLink domain each."""
    return source_of(RACKS)


@pytest.fixture(scope="session")
def as_found(small, written, found_source):
    """The small fabric as ibnetdiscover tells of it: no parts, no racks, real names."""
    return found_source(written("ibnetdiscover", small)["ibnetdiscover.txt"])


@pytest.fixture(scope="session")
def found_source():
    """Return a function that gives the source of a fabric that the text of a file tells of."""

    def read(text: str) -> ExportSource:
        found = read_fabric(io.BytesIO(text.encode()), "found.txt")
        return ExportSource(with_roles(found), PartSet({}, {}, {}), None, None, (0,), found=found)

    return read


@pytest.fixture(scope="session")
def check_schema():
    """Return a function that checks a value against one of the captured schemas."""

    def check(name: str, value) -> None:
        schema = json.loads((SCHEMAS / f"{name}.json").read_text())
        jsonschema.Draft202012Validator(schema).validate(value)

    return check


@pytest.fixture(scope="session")
def yaml_values():
    """Return a function that reads the documents of a YAML text."""

    def read(text: str) -> list:
        return list(YAML(typ="safe").load_all(text))

    return read


@pytest.fixture(scope="session")
def joined_pairs():
    """Return a function that gives the pairs of devices that a fabric read back joins, as often as it does."""

    def pairs(text: str) -> list[tuple[str, str]]:
        found = read_fabric(io.BytesIO(text.encode()), "back.txt")
        assert found.lines_not_understood == 0
        names = found.cluster.devices.names
        ends = zip(found.cluster.link_device_a.tolist(), found.cluster.link_device_b.tolist(), strict=True)
        return sorted(tuple(sorted((names[a], names[b]))) for a, b in ends)

    return pairs


@pytest.fixture(scope="session")
def designed_pairs():
    """Return a function that gives the pairs of devices that the chosen fabrics of a source join."""

    def pairs(source: ExportSource) -> list[tuple[str, str]]:
        cluster = source.cluster
        rows = chosen_links(source)
        ends = (device_names(cluster, end[rows]) for end in (cluster.link_device_a, cluster.link_device_b))
        return sorted(tuple(sorted(pair)) for pair in zip(*ends, strict=True))

    return pairs
