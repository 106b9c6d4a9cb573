"""Names of routing policies → functions."""

from pathlib import Path

import pytest

from gpufabric.errors import InputError
from gpufabric.jobs.choose_route import load_tables
from gpufabric.jobs.collective import CollectiveOptions, predict_collective

CAPTURED = Path(__file__).parents[2] / "captured" / "opensm"
SWITCH = "{ports: 8, rate: 100 Gb/s, network: infiniband}"
BOX = "{gpus: 2, nics: 2, nic_rate: 100 Gb/s}"


def test_a_collective_runs_over_the_tables_of_a_file(wire):
    cluster, parts = wire(BOX, 8, "leaf-spine", SWITCH)
    routing = f"opensm:{CAPTURED / 'small-ftree.dump'}"
    (found,) = predict_collective(cluster, parts, "all_reduce", [1 << 30], CollectiveOptions(routing=routing))
    (static,) = predict_collective(
        cluster, parts, "all_reduce", [1 << 30], CollectiveOptions(routing="static")
    )
    assert routing in found.method
    assert found.time_s == pytest.approx(
        static.time_s, rel=0.01
    )  # both send a ring in fabric order without a clash


@pytest.mark.parametrize("topology", ["collapsed-spine", "torus, torus: {dimensions: [4, 2], links: 2}"])
@pytest.mark.parametrize("routing", ["adaptive", "ecmp", "static", "shortest"])
def test_where_there_are_no_tiers_shortest_paths_are_taken_and_said(wire, topology: str, routing: str):
    name, _, more = topology.partition(", ")
    cluster, parts = wire(BOX, 8, name, "{ports: 24, rate: 100 Gb/s}", f", {more}" if more else "")
    (found,) = predict_collective(cluster, parts, "all_reduce", [1 << 30], CollectiveOptions(routing=routing))
    assert found.method == f"fluid, {routing} (shortest paths) routing"
    assert 0 < found.busbw_bytes_per_s <= found.ceiling_busbw_bytes_per_s


def test_an_unknown_policy_gets_a_suggestion(wire):
    cluster, parts = wire(BOX, 4, "leaf-spine", SWITCH)
    with pytest.raises(
        InputError, match=r'"shortst" is unknown; known: .*opensm:FILE\.\s?Did you mean "shortest"'
    ):
        predict_collective(cluster, parts, "all_reduce", [1 << 20], CollectiveOptions(routing="shortst"))


def test_a_file_that_is_not_there_is_said(wire):
    cluster, parts = wire(BOX, 4, "leaf-spine", SWITCH)
    with pytest.raises(InputError, match="no-file: can't be read"):
        load_tables(cluster, parts, 0, "opensm:no-file")
    assert load_tables(cluster, parts, 0, "ecmp") == (None, "ecmp")
