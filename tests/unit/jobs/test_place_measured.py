import pytest

from gpufabric.catalog.load import load_catalog
from gpufabric.errors import InputError
from gpufabric.formats.cluster_yaml import parse_cluster_spec
from gpufabric.jobs.place_measured import measured_ranks
from gpufabric.topologies.build_cluster import build_cluster

SPEC = parse_cluster_spec(
    "servers: {model: hgx-h100, count: 4}\nfabrics: {topology: single-switch, switch: {ports: 64, rate: 400 Gb/s}}\n",
    "x.yaml",
)
CLUSTER = build_cluster(SPEC, load_catalog())


def gpus(nodes, ranks, order="", folder=None):
    return measured_ranks(SPEC, CLUSTER, nodes, ranks, order, folder)[1].tolist()


def test_whole_servers_are_taken_in_order():
    assert gpus(2, 16) == list(range(16))
    assert gpus(1, 5) == list(range(5))


def test_part_of_each_server_is_taken_where_fewer_ranks_than_gpus_ran():
    assert gpus(3, 6) == [0, 1, 8, 9, 16, 17]


def test_a_shuffle_has_a_seed():
    assert sorted(gpus(4, 32, "shuffled:1")) == list(range(32))
    assert gpus(4, 32, "shuffled:1") != gpus(4, 32, "shuffled:2")


def test_a_hostfile_stands_beside_the_table(tmp_path):
    (tmp_path / "hosts").write_text("n1 slots=4\nn2 slots=4\n")
    assert gpus(2, 8, "hostfile:hosts", tmp_path) == [0, 1, 2, 3, 8, 9, 10, 11]


@pytest.mark.parametrize(
    ("nodes", "ranks", "order", "message"),
    [
        (1, 16, "", "16 ranks are on 2 servers of cluster, and nodes is 1"),
        (8, 64, "", "ranks: 64 is out of range"),
        (3, 15, "shuffled", "15 ranks are on 2 servers of cluster, and nodes is 3"),
        (2, 8, "sideways", 'order "sideways" is unknown'),
        (2, 8, "shuffled:x", 'order "shuffled:x" is unknown'),
    ],
)
def test_ranks_that_do_not_fit_are_one_clear_line(nodes, ranks, order, message):
    with pytest.raises(InputError, match=message):
        gpus(nodes, ranks, order)
