"""Blocks and topology.yaml: written, checked against the grammar, and read back by our own reader."""

import io
from dataclasses import replace

import pytest

from gpufabric.errors import InputError
from gpufabric.formats.slurm_topology import read_slurm_topology


def read_back(text):
    found = read_slurm_topology(io.BytesIO(text.encode()), "topology")
    assert found.findings == ()
    assert found.lines_not_understood == 0
    return found


def test_blocks_are_the_nvlink_domains_where_these_span_servers(racks, written):
    found = read_back(written("slurm-block", racks)["topology.conf"])
    assert [len(block.nodes) for block in found.blocks] == [18, 18, 18, 18]
    assert found.block_sizes == (18, 36, 72)
    nodes = [node for block in found.blocks for node in block.nodes]
    assert len(set(nodes)) == len(nodes) == 72


def test_blocks_are_units_where_every_server_is_a_domain(small, written):
    found = read_back(written("slurm-block", small)["topology.conf"])
    assert [(block.name, block.nodes) for block in found.blocks] == [
        (f"su0{unit}", (f"su0{unit}-srv01", f"su0{unit}-srv02")) for unit in (1, 2, 3)
    ]
    assert found.block_sizes == (2, 4)


def test_sizes_can_be_chosen(racks, written):
    chosen = replace(racks, options=(("sizes", "9,18,72"),))
    assert read_back(written("slurm-block", chosen)["topology.conf"]).block_sizes == (9, 18, 72)


@pytest.mark.parametrize("sizes", ["19", "18,54", "18,18", "36,18", "x", "", "18,", "0", "18,1000000000000"])
def test_sizes_that_slurm_would_refuse_are_refused(racks, written, sizes):
    chosen = replace(racks, options=(("sizes", sizes),))
    if not sizes:
        assert read_back(written("slurm-block", chosen)["topology.conf"]).block_sizes
        return
    with pytest.raises(InputError, match=r"allowed are a base of 1 to 18 nodes"):
        written("slurm-block", chosen)


def test_the_yaml_form_holds_both(racks, written, check_schema, yaml_values):
    text = written("slurm-yaml", racks)["topology.yaml"]
    (value,) = yaml_values(text)
    check_schema("slurm-topology-yaml", value)
    assert [one["cluster_default"] for one in value] == [True, False]
    found = read_back(text)
    conf, blocks = (
        read_back(written(name, racks)["topology.conf"]) for name in ("slurm-tree", "slurm-block")
    )
    assert [(s.name, s.switches, s.nodes) for s in found.switches] == [
        (s.name, s.switches, s.nodes) for s in conf.switches
    ]
    assert [(b.name, b.nodes) for b in found.blocks] == [(b.name, b.nodes) for b in blocks.blocks]
    assert found.block_sizes == blocks.block_sizes


def test_the_default_topology_can_be_chosen(small, written, yaml_values):
    text = written("slurm-yaml", replace(small, options=(("default", "block"),)))["topology.yaml"]
    (value,) = yaml_values(text)
    assert {one["topology"]: one["cluster_default"] for one in value} == {"tree": False, "block": True}
