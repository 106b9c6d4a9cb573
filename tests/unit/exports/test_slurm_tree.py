"""What Slurm is told of a fabric is what its wiring is: written, and read back by our own reader."""

import io

import pytest

from gpufabric.errors import InputError
from gpufabric.formats.slurm_topology import read_slurm_topology


def read_back(text):
    return read_slurm_topology(io.BytesIO(text.encode()), "topology.conf")


def test_units_of_rails_are_switches_below_one_root(small, written):
    found = read_back(written("slurm-tree", small)["topology.conf"])
    assert found.findings == ()
    assert found.lines_not_understood == 0
    assert {s.name: s.nodes for s in found.switches if s.nodes} == {
        f"su0{unit}": (f"su0{unit}-srv01", f"su0{unit}-srv02") for unit in (1, 2, 3)
    }
    root = [s for s in found.switches if s.switches]
    assert [(s.name, s.switches) for s in root] == [("spine-01", ("su01", "su02", "su03"))]


def test_a_leaf_that_alone_serves_its_servers_is_called_by_its_name(source_of, written):
    source = source_of(
        "servers: {model: dgx-h100, count: 16}\n"
        "fabrics: [{name: compute, topology: fat-tree, switch: qm9790}]\n"
    )
    found = read_back(written("slurm-tree", source)["topology.conf"])
    leaves = {s.name: s.nodes for s in found.switches if s.nodes}
    assert set(leaves) == {f"leaf-0{n}" for n in range(1, 5)}
    assert sorted(n for nodes in leaves.values() for n in nodes) == [f"srv{n:02d}" for n in range(1, 17)]


def test_three_tiers_have_pods(source_of, written):
    source = source_of(
        "servers: {model: dgx-h100, count: 512}\n"
        "fabrics: [{name: compute, topology: fat-tree, switch: qm9790}]\n"
    )
    found = read_back(written("slurm-tree", source)["topology.conf"])
    assert found.findings == ()
    pods = [s for s in found.switches if s.name.startswith("pod")]
    assert [s.name for s in found.switches if s.name == "cores"] == ["cores"]
    assert len(pods) > 1
    assert sum(len(s.nodes) for s in found.switches) == 512


def test_servers_without_switches_are_refused(source_of, written):
    source = source_of(
        "servers: {model: {gpus: 2, nics: 2, nic_rate: 400 Gb/s}, count: 3}\n"
        "fabrics: [{name: mesh, topology: full-mesh}]\n"
    )
    with pytest.raises(InputError, match="joins no servers with switches"):
        written("slurm-tree", source)


def test_the_groups_of_a_dragonfly_are_places(source_of, written):
    source = source_of(
        "servers: {model: {gpus: 1, nics: 1, nic_rate: 400 Gb/s, scale_up: 450 GB/s}, count: 24}\n"
        "fabrics:\n  - name: compute\n    topology: dragonfly\n    switch: {ports: 16, rate: 400 Gb/s}\n"
        "    dragonfly: {groups: 3, group_switches: 4, switch_servers: 2, global_links: 2}\n"
    )
    found = read_back(written("slurm-tree", source)["topology.conf"])
    assert found.findings == ()
    upper = {s.name: s.switches for s in found.switches if s.switches}
    assert list(upper) == ["pod01", "pod02", "pod03", "leaves"]
    assert upper["pod02"] == tuple(f"leaf-pod02-0{n}" for n in range(1, 5))
    assert upper["leaves"] == ("pod01", "pod02", "pod03")


def test_a_server_on_two_leaves_stands_below_the_one_with_most_of_its_links(found_source, written):
    links = ["n1 leaf1", "n1 leaf1", "n1 leaf2", "n2 leaf2", "n2 leaf2", "n2 leaf3", "n3 leaf3"]
    links += [f"leaf{number} spine1" for number in (1, 2, 3)]
    rows = [f"{a},p{row},{b},q{row}" for row, (a, b) in enumerate(link.split() for link in links)]
    source = found_source("\n".join(["from_device,from_port,to_device,to_port", *rows, ""]))
    found = read_back(written("slurm-tree", source)["topology.conf"])
    assert found.findings == ()
    assert {s.name: s.nodes for s in found.switches if s.nodes} == {
        f"leaf{number}": (f"n{number}",) for number in (1, 2, 3)
    }
    assert [s.name for s in found.switches if s.switches] == ["spine1"]
