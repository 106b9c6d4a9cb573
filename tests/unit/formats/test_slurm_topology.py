"""topology.conf and topology.yaml."""

import io
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpufabric.formats.slurm_topology import read_slurm_topology

CAPTURED = Path(__file__).parents[2] / "captured" / "slurm-topology"


def read(text):
    return read_slurm_topology(io.BytesIO(text.encode()), "t.conf")


def messages(topology):
    return [finding.message for finding in topology.findings]


def test_a_tree_of_three_levels():
    tree = read_slurm_topology(CAPTURED / "three-levels.conf")
    assert [switch.name for switch in tree.switches] == [
        "umber-core", "umber-s1", "umber-s2", "umber-l1", "umber-l2", "umber-l3",
    ]  # fmt: skip
    assert tree.switches[1].switches == ("umber-l1", "umber-l2")
    assert len(tree.switches[3].nodes) == 8
    assert tree.switches[3].nodes[0] == "un001"
    assert tree.switches[4].nodes == ("un009", "un010", "un011", "un012", "un015", "un016")
    assert tree.switches[5].nodes[4] == "r2n1"
    assert tree.findings == ()
    assert tree.lines_not_understood == 0


def test_blocks_smaller_than_their_size():
    topology = read_slurm_topology(CAPTURED / "blocks.conf")
    assert topology.block_sizes == (18, 36)
    assert [len(block.nodes) for block in topology.blocks] == [18, 17]
    assert messages(topology) == ["block rack2 has 17 nodes, fewer than the block size 18"]


def test_the_yaml_form_may_have_several_topologies():
    topology = read_slurm_topology(CAPTURED / "two-topologies.yaml")
    assert [switch.topology for switch in topology.switches] == ["fabric"] * 3
    assert [block.topology for block in topology.blocks] == ["domains"] * 2
    assert topology.block_sizes == (4, 8)
    assert topology.findings == ()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("SwitchName=a Nodes=n[1-2]\nSwitchName=A Nodes=n3\n", "a is described twice"),
        ("SwitchName=a Switches=b\n", "a is above b, which is not described"),
        (
            "SwitchName=c Switches=a,b\nSwitchName=a Nodes=n1\nSwitchName=b Nodes=n1\n",
            "node n1 is below two switches",
        ),
        (
            "SwitchName=c Switches=a\nSwitchName=a Nodes=n1\nSwitchName=b Nodes=n2\n",
            "the tree has 2 roots (c, b): no job can span them",
        ),
        ("BlockName=a Nodes=n[1-12]\nBlockSizes=4,12\n", "block size 12 is not 4 times a power of two"),
        ("hello\n", "no switch or block was found"),
        (
            "SwitchName=a Nodes=n[1-99999999]\n",
            '"[1-99999999]" makes more than 1,000,000 hosts; use a shorter list',
        ),
    ],
)
def test_what_is_wrong_is_told(text, message):
    assert message in messages(read(text))


@pytest.mark.slow
def test_host_lists_that_name_too_many_are_not_written_out():
    text = "".join(f"SwitchName=s{n} Nodes=a{n}b[1-600000]\n" for n in range(3))
    topology = read(text)
    assert sum(len(switch.nodes) for switch in topology.switches) == 600_000
    assert topology.lines_not_understood == 2


@given(st.text(alphabet="SwitchName=Nodes[],-\\#0123ab \n{}:", max_size=200))
@settings(max_examples=200, deadline=None)
def test_no_text_makes_it_raise(text):
    topology = read(text)
    assert topology.lines_not_understood <= max(topology.lines_read, 1) + 200
