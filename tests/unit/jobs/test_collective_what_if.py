"""What changes of fabric and job do: the usual answers of the field."""

import pytest

from gpufabric.errors import InputError
from gpufabric.formats.cluster_yaml import parse_cluster_spec
from gpufabric.jobs.collective import CollectiveOptions
from gpufabric.jobs.collective_what_if import AS_ASKED, collective_what_if
from gpufabric.jobs.described_collective import predict_described
from gpufabric.libraries.choose import Forced
from gpufabric.report.what_if_table import what_if_notes, what_if_table

RING = Forced("ring", "simple")
RAILS = "{name: compute, topology: rail-optimized, switch: qm9790, unit_servers: 16%s}"


def described(fabric=RAILS % "", count=64):
    return parse_cluster_spec(
        f"servers: {{model: dgx-h100, count: {count}}}\nfabrics: [{fabric}]\n", "test.yaml"
    )


def asked(spec, op="all_reduce", **options):
    found = collective_what_if(spec, op, 8 << 30, CollectiveOptions(**options))
    return {(one.change, one.op): one for one in found}, found


@pytest.fixture(scope="module")
def rails():
    return asked(described(), forced=RING)


@pytest.mark.slow
def test_a_ring_in_order_minds_neither_oversubscription_nor_hashing_but_a_shuffled_one_does(rails):
    left = {key: one.left for key, one in rails[0].items()}
    assert left["2:1 oversubscription", "all_reduce"] == pytest.approx(1, abs=0.02)
    assert left["plain ECMP", "all_reduce"] == pytest.approx(1, abs=0.02)
    assert left["shuffled ranks, plain ECMP", "all_reduce"] < 0.6
    assert left["shuffled ranks, 2:1 oversubscription", "all_reduce"] < 0.9


@pytest.mark.slow
def test_an_all_to_all_minds_oversubscription_and_the_loss_of_a_rail(rails):
    left = {key: one.left for key, one in rails[0].items()}
    assert 0.45 < left["2:1 oversubscription", "all_to_all"] < 0.75
    assert 0.45 < left["one rail down", "all_to_all"] < 0.6
    assert left["one rail down", "all_reduce"] > left["one rail down", "all_to_all"]


@pytest.mark.slow
def test_the_library_keeps_its_algorithm_where_it_does_not_see_the_change(rails):
    for one in rails[1]:
        assert one.result is not None
        if one.change != "one rail down" and one.op == "all_reduce":
            assert (one.result.algorithm, one.result.protocol) == ("ring", "simple")


@pytest.mark.slow
def test_changes_go_the_other_way_where_the_cluster_has_them_already():
    by_place, _ = asked(described(RAILS % ", routing: ecmp, oversubscription: '2:1'"), forced=RING)
    changes = {change for change, _ in by_place}
    assert {"1:1 oversubscription", "adaptive routing"} <= changes
    assert "plain ECMP" not in changes
    assert by_place["1:1 oversubscription", "all_to_all"].left > 1


@pytest.mark.slow
def test_what_can_not_be_is_said_and_the_op_asked_for_comes_first():
    _, found = asked(
        described("{name: compute, topology: single-switch, switch: qm9790}", 4), "reduce_scatter"
    )
    assert [one.op for one in found[:3]] == ["reduce_scatter", "all_reduce", "all_to_all"]
    assert found[0].change == AS_ASKED
    thin = [one for one in found if one.change == "2:1 oversubscription"]
    assert [one.reason for one in thin] == ["leaves have no uplinks to spines"] * 3
    columns, rows = what_if_table(found)
    assert all(len(row) == len(columns) for row in rows)
    assert thin[0].to_dict()["reason"] == "leaves have no uplinks to spines"
    assert thin[0].to_dict()["busbw_bytes_per_s"] is None
    assert "reduce_scatter: ring/" in what_if_notes(found)


def test_what_can_not_be_predicted_at_all_is_an_error():
    with pytest.raises(InputError, match="all_reducee"):
        asked(described(count=4), "all_reducee")
    with pytest.raises(InputError, match="ranks"):
        asked(described(count=4), ranks=1)


@pytest.mark.slow
def test_a_row_is_what_the_command_says_with_that_change():
    spec = parse_cluster_spec(
        "servers: {model: dgx-a100, count: 9}\n"
        "fabrics: [{name: c, topology: leaf-spine, switch: qm8790, oversubscription: '3:1', routing: ecmp}]\n",
        "test.yaml",
    )
    by_place, _ = asked(spec)
    for change, options in (
        ("adaptive routing", CollectiveOptions(routing="adaptive")),
        ("shuffled ranks", CollectiveOptions(order="shuffled")),
    ):
        (alone,) = predict_described(spec, "all_reduce", [8 << 30], options)
        assert by_place[change, "all_reduce"].result.time_s == pytest.approx(alone.time_s)
        assert by_place[change, "all_reduce"].result.algorithm == alone.algorithm


@pytest.mark.slow
def test_rings_that_change_rail_are_named():
    spec = parse_cluster_spec(
        "servers: {model: azure-nd-mi300x-v5, count: 4}\n"
        "fabrics: [{name: c, topology: rail-optimized, switch: qm9790}]\n",
        "test.yaml",
    )
    by_place, found = asked(spec, forced=RING)
    assert by_place["2:1 oversubscription", "all_reduce"].left < 0.6
    assert "rings leave a node by another NIC than they entered it by" in what_if_notes(found)
    _, found = asked(described(count=4), forced=RING)
    assert "another NIC" not in what_if_notes(found)
