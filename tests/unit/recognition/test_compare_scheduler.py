"""What a scheduler was told of the network against the design."""

from __future__ import annotations

import io
from functools import cache

from gpufabric.formats.cluster_yaml import parse_cluster_spec
from gpufabric.formats.slurm_topology import is_slurm_topology, read_slurm_topology
from gpufabric.jobs.built_designs import described_design
from gpufabric.recognition.compare_scheduler import compare_scheduler


@cache
def design(model="dgx-h100", switch="qm9790", servers=16):
    text = (
        f"name: c\nservers: {{model: {model}, count: {servers}}}\n"
        f"fabrics: [{{name: compute, topology: rail-optimized, switch: {switch}, unit_servers: 8}}]\n"
    )
    return described_design(parse_cluster_spec(text, "c.yaml")).cluster


def compared(text, cluster=None, aliases=None):
    told = read_slurm_topology(io.BytesIO(text.encode()), "topology.conf")
    return compare_scheduler(cluster or design(), told, aliases)


def test_a_file_that_agrees_has_no_finding():
    tree = "SwitchName=u1 Nodes=su01-srv0[1-8]\nSwitchName=u2 Nodes=su02-srv0[1-8]\nSwitchName=top Switches=u[1-2]\n"
    assert compared(tree) == ()
    assert compared(tree.replace("SwitchName=u1 Nodes=su01-srv0[1-8]", "SwitchName=u1a Nodes=su01-srv0[1-4]\n"
                    "SwitchName=u1b Nodes=SU01-srv0[5-8].lab.example")) == ()  # fmt: skip
    assert (
        compared("BlockName=b1 Nodes=su01-srv0[1-8]\nBlockName=b2 Nodes=su02-srv0[1-8]\nBlockSizes=8\n") == ()
    )


def test_a_node_under_the_wrong_switch_is_named():
    (finding,) = compared(
        "SwitchName=u1 Nodes=su01-srv0[1-8],su02-srv03\nSwitchName=u2 Nodes=su02-srv0[1-2,4-8]\n"
    )
    assert (finding.rule, finding.severity, finding.where) == (
        "scheduler-misplaced",
        "error",
        "topology.conf:1",
    )
    assert "su02-srv03 is under u1" in finding.message
    assert finding.fix == "move it to u2"
    assert "leaf-su02-r1" in finding.expected
    assert "leaf-su01-r1" in finding.found


def test_blocks_that_span_units_servers_left_out_and_strangers_are_told():
    findings = compared("BlockName=all Nodes=su01-srv0[1-8],su02-srv0[1-7],login1\nBlockSizes=8\n")
    assert [finding.severity for finding in findings] == ["warning"] * 3
    said = " ".join(finding.message for finding in findings)
    assert "1 of 16 nodes are no servers of the design: login1" in said
    assert "all holds nodes of 2 groups that share leaves (8, 7)" in said
    assert "1 server of the design are in no switch or block: su02-srv08" in said


def test_names_of_the_found_fabric_stand_for_designed_ones():
    tree = "SwitchName=u1 Nodes=n[1-8]\n"
    assert any("no servers of the design" in finding.message for finding in compared(tree))
    found = compared(tree, aliases={f"n{at + 1}": at for at in range(8)})
    assert [finding.message[:9] for finding in found] == ["8 servers"]


def test_many_differences_are_cut():
    nodes = ",".join(f"su0{1 + at % 2}-srv0{1 + at // 2 % 8}" for at in range(16))
    lines = [f"SwitchName=s{at} Nodes=su01-srv0[1-8],su02-srv01" for at in range(40)]
    findings = compared("\n".join([*lines, f"SwitchName=m Nodes={nodes}"]))
    assert len(findings) == 21
    assert findings[-1].severity == "info"


def test_a_topology_file_is_known_by_its_first_line():
    assert is_slurm_topology(io.BytesIO(b"# made by hand\n\nSwitchName=a Nodes=n1\n"))
    assert is_slurm_topology(io.BytesIO(b"---\n- topology: fabric\n  tree:\n"))
    assert not is_slurm_topology(io.BytesIO(b"nThread 1\nSwitchName=a Nodes=b\n"))
    assert not is_slurm_topology(io.BytesIO(b"#\n"))
    assert not is_slurm_topology(io.BytesIO(b"- item: 1\n"))
