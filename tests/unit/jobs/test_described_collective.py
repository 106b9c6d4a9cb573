"""The command line stands over the description, and what is not acted on is said."""

import pytest

from gpufabric.errors import InputError
from gpufabric.formats.cluster_yaml import parse_cluster_spec
from gpufabric.jobs.described_collective import choose_ranks

TEXT = """\
servers: {model: dgx-h100, count: 4}
fabrics: [{name: compute, topology: single-switch, switch: qm9790}]
"""


def described(more):
    return parse_cluster_spec(TEXT + more, "test.yaml")


def test_the_description_fills_what_is_not_given():
    spec = described("rank_order: {order: shuffled, seed: 7, ranks: 16}\n")
    choice = choose_ranks(spec, None, None, None)
    assert (choice.order, choice.seed, choice.ranks, choice.notes) == ("shuffled", 7, 16, ())
    choice = choose_ranks(spec, "fabric", 3, 8)
    assert (choice.order, choice.seed, choice.ranks) == ("fabric", 3, 8)


def test_an_order_from_a_file_is_refused_in_one_line():
    spec = described("rank_order: {order: hostfile, file: hosts.txt}\n")
    with pytest.raises(InputError, match=r"^rank_order.order: hostfile is not read yet; [^\n]+--order$"):
        choose_ranks(spec, None, None, None)
    assert choose_ranks(spec, "fabric", None, None).order == "fabric"


def test_what_is_not_acted_on_is_said():
    spec = described("rank_order: {placement: fragmented}\nfaults: [{kind: switch-down, where: leaf-001}]\n")
    notes = choose_ranks(spec, None, None, None).notes
    assert [text.split()[0] for text in notes] == ["faults:", "rank_order.placement:"]
