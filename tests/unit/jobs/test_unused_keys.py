"""A key that changes nothing is named, whatever the command."""

import pytest

from gpufabric.formats.cluster_yaml import parse_cluster_spec
from gpufabric.jobs.design import design
from gpufabric.jobs.unused_keys import CHECK, DESIGN, PREDICT, unused_keys

TEXT = "servers: {model: dgx-h100, count: 96}\nfabrics: {topology: leaf-spine, switch: qm9790%s}\n%s"


def keys(texts):
    return [text.split(":")[0] for text in texts]


@pytest.mark.parametrize(
    ("fabric", "more", "use", "expected"),
    [
        ("", "", PREDICT, []),
        ("", "faults: [{kind: link-down, where: a}]\n", DESIGN, ["faults"]),
        ("", "library: {settings: {NCCL_ALGO: Tree}}\n", PREDICT, []),
        ("", "rank_order: {placement: fragmented}\n", PREDICT, []),
        ("", "faults: [{kind: link-down, where: a}]\n", PREDICT, []),
        ("", "faults: [{kind: link-down, where: a}]\n", CHECK, ["faults"]),
        (", routing: ecmp, ecmp: {seed: 3, queue_pairs: 4, polarised: true}", "", PREDICT, []),
        (", ecmp: {seed: 3}", "", PREDICT, ["fabrics.compute.ecmp.seed"]),
        (", ecmp: {queue_pairs: 4}", "", PREDICT, ["fabrics.compute.ecmp.queue_pairs"]),
        (", ecmp: {polarised: true}", "", PREDICT, ["fabrics.compute.ecmp.polarised"]),
        (", in_network_reduction: true", "", DESIGN, ["fabrics.compute.in_network_reduction"]),
    ],
)  # fmt: skip
def test_what_no_command_acts_on_is_named(fabric, more, use, expected):
    assert keys(unused_keys(parse_cluster_spec(TEXT % (fabric, more), "x.yaml"), use)) == expected


def test_keys_of_tiers_that_the_fabric_does_not_have_are_named():
    spec = parse_cluster_spec(
        TEXT % (", core: {count: 5}, pod_leaves: 3, spine: {ports_up: 3, reserved_ports: 1}", ""), "x.yaml"
    )
    texts = [a for a in design(spec).assumptions if "not used" in a]
    assert keys(texts) == [
        "fabrics.compute.core",
        "fabrics.compute.pod_leaves",
        "fabrics.compute.spine.ports_up",
    ]
    assert all("two tiers" in text for text in texts)


def test_a_full_mesh_uses_no_switch():
    spec = parse_cluster_spec(
        "servers: {model: dgx-h100, count: 4}\nfabrics: {topology: full-mesh, switch: qm9790}\n", "x.yaml"
    )
    assert "fabrics.compute.switch: not used, because the fabric has no switches" in design(spec).assumptions
