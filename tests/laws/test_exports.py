"""Properties of exports over random fabrics: every server and link is written once, whatever the shape."""

import io
from collections import Counter
from typing import get_args

import numpy as np
import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st

from gpufabric.catalog.load import load_catalog
from gpufabric.errors import UnbuildableError
from gpufabric.exports import EXPORTS
from gpufabric.exports.interface_names import NamingStyle, interface_names
from gpufabric.exports.locality_tree import locality_tree
from gpufabric.formats.cluster_yaml import parse_cluster_spec
from gpufabric.formats.recognise_fabric import read_fabric
from gpufabric.formats.slurm_topology import read_slurm_topology
from gpufabric.jobs.racked_cluster import racked_cluster
from gpufabric.kernels.connected_components import connected_components
from gpufabric.records.cluster import DeviceKind
from gpufabric.records.export_target import ExportSource

SHAPES = st.tuples(
    st.sampled_from(["rail-optimized", "fat-tree", "rail-only", "dragonfly"]),
    st.integers(2, 24),
    st.sampled_from([4, 8]),
    st.sampled_from([16, 20, 32]),
)


def source_of(shape) -> ExportSource:
    topology, servers, nics, ports = shape
    text = (
        "name: law\n"
        f"servers: {{model: {{gpus: {nics}, nics: {nics}, nic_rate: 400 Gb/s, scale_up: 450 GB/s}}, count: {servers}}}\n"
        f"fabrics: [{{name: compute, topology: {topology}, switch: {{ports: {ports}, rate: 400 Gb/s}}}}]\n"
    )
    spec = parse_cluster_spec(text, "law.yaml")
    try:
        racked = racked_cluster(spec, load_catalog())
    except UnbuildableError:
        reject()
    return ExportSource(racked.cluster, racked.parts, spec, racked.floor_plan, (0,))


def text_of(name: str, source: ExportSource) -> str:
    (file,) = EXPORTS[name].write(source)
    return b"".join(file.pieces).decode()


@settings(max_examples=25)
@given(SHAPES)
def test_every_server_stands_once_in_a_slurm_tree_without_findings(shape):
    source = source_of(shape)
    found = read_slurm_topology(io.BytesIO(text_of("slurm-tree", source).encode()), "topology.conf")
    assert [f for f in found.findings if f.severity == "error"] == []
    nodes = [node for switch in found.switches for node in switch.nodes]
    assert len(set(nodes)) == len(nodes) == shape[1]
    children = Counter(child for switch in found.switches for child in switch.switches)
    assert set(children.values()) <= {1}
    roots = [switch.name for switch in found.switches if not children[switch.name]]
    assert len(roots) == len(np.unique(_islands(source)))


def _islands(source: ExportSource) -> np.ndarray:
    """Return for each server the part of the network that it is in."""
    cluster = source.cluster
    part = connected_components(len(cluster.devices), cluster.link_device_a, cluster.link_device_b)
    return part[cluster.devices.kind == DeviceKind.SERVER]


@settings(max_examples=25)
@given(SHAPES)
def test_servers_of_one_lowest_group_share_a_leaf_with_another_of_it(shape):
    source = source_of(shape)
    tree = locality_tree(source)
    cluster = source.cluster
    serves = cluster.devices.kind[cluster.link_device_a] == DeviceKind.SERVER
    leaves: dict[int, set[int]] = {}
    for server, leaf in zip(
        cluster.link_device_a[serves].tolist(), cluster.link_device_b[serves].tolist(), strict=True
    ):
        leaves.setdefault(server, set()).add(leaf)
    for group in np.unique(tree.levels[0]):
        members = tree.servers[tree.levels[0] == group].tolist()
        for one in members if len(members) > 1 else ():
            assert any(leaves[one] & leaves[other] for other in members if other != one)


@pytest.mark.slow
@settings(max_examples=25)
@given(SHAPES, st.sampled_from(["air", "containerlab", "dot", "ptm"]))
def test_our_reader_finds_every_link_in_what_was_written(shape, target):
    source = source_of(shape)
    found = read_fabric(io.BytesIO(text_of(target, source).encode()), target)
    assert found.lines_not_understood == 0
    assert [f for f in found.findings if f.severity == "error"] == []
    assert len(found.cluster.links) == len(source.cluster.links)
    assert len(found.cluster.devices) == len(
        np.unique(np.concatenate([source.cluster.link_device_a, source.cluster.link_device_b]))
    )


@settings(max_examples=25)
@given(SHAPES)
def test_no_device_has_a_name_of_a_port_twice(shape):
    source = source_of(shape)
    for style in get_args(NamingStyle):
        names = interface_names(source.cluster, style, source.parts)
        pairs = set(zip(source.cluster.ports.device.tolist(), names.tolist(), strict=True))
        assert len(pairs) == len(names)
