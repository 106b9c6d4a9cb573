"""The command line stands over the description, and what is not acted on is said."""

import pytest

from gpufabric.errors import InputError
from gpufabric.formats.cluster_yaml import parse_cluster_spec
from gpufabric.jobs.choose_ranks import choose_ranks, other_gpus_note
from gpufabric.jobs.unused_keys import CHECK
from gpufabric.records.rank_places import RankPlaces

TEXT = """\
servers: {model: dgx-h100, count: 4}
fabrics: [{name: compute, topology: single-switch, switch: qm9790}]
"""


@pytest.mark.parametrize(
    ("in_log", "gpu", "words"),
    [
        (
            "NVIDIA A100-SXM4-40GB",
            "h100-sxm",
            "the log is of NVIDIA A100-SXM4-40GB, the description has h100-sxm",
        ),
        ("NVIDIA H100 80GB HBM3", "h100-sxm", ""),
        ("", "h100-sxm", ""),
    ],
)
def test_an_order_from_a_log_of_other_gpus_is_said(in_log, gpu, words):
    notes = other_gpus_note(RankPlaces("log x", ("a",), (1,), (0,), in_log), gpu)
    assert words in "".join(notes)
    assert bool(notes) == bool(words)
    assert other_gpus_note(None, gpu) == ()


def described(more):
    return parse_cluster_spec(TEXT + more, "test.yaml")


def test_the_description_fills_what_is_not_given():
    spec = described("rank_order: {order: shuffled, seed: 7, ranks: 16}\n")
    choice = choose_ranks(spec, None, None, None)
    assert (choice.order, choice.seed, choice.ranks, choice.notes) == ("shuffled", 7, 16, ())
    choice = choose_ranks(spec, "fabric", 3, 8)
    assert (choice.order, choice.seed, choice.ranks) == ("fabric", 3, 8)


def test_an_order_may_come_from_a_file(tmp_path):
    hosts = tmp_path / "hosts"
    hosts.write_text("a slots=8\nb slots=8\n")
    for spec, order in (
        (described(f"rank_order: {{order: hostfile, file: {hosts}}}\n"), None),
        (described(""), f"hostfile:{hosts}"),
    ):
        choice = choose_ranks(spec, order)
        assert choice.places.host == ("a", "b")
        assert choice.order == "hostfile"
    assert choose_ranks(described(""), "slurm:n[1-3]").places.host == ("n1", "n2", "n3")


@pytest.mark.parametrize(
    ("more", "order", "placement", "reason"),
    [
        ("rank_order: {order: hostfile}\n", None, None, r"^rank_order.file: it is missing"),
        ("", "hostfile", None, "order hostfile: nothing follows it"),
        ("", "fabrik", None, r'order "fabrik" is unknown; known: .* Did you mean "fabric"\?'),
        ("", "log:/nowhere", None, "/nowhere: can't be read"),
        ("", None, "spread", r'placement "spread" is unknown; known: packed, fragmented'),
    ],
)
def test_what_is_wrong_with_an_order_is_one_line(more, order, placement, reason):
    with pytest.raises(InputError, match=reason) as error:
        choose_ranks(described(more), order, None, None, placement)
    assert "\n" not in str(error.value)


def test_what_is_not_acted_on_is_said():
    spec = described("rank_order: {placement: fragmented}\nfaults: [{kind: switch-down, where: leaf-001}]\n")
    assert choose_ranks(spec).notes == ()
    assert choose_ranks(spec).placement == "fragmented"
    assert choose_ranks(spec, placement="packed").placement == "packed"
    assert [text.split()[0] for text in choose_ranks(spec, use=CHECK).notes] == ["faults:"]
