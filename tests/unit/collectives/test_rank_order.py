"""Which GPU each rank runs on: by order, by placement and by what a file says."""

import numpy as np
import pytest

from gpufabric.collectives.rank_order import match_note, order_name, rank_gpus
from gpufabric.errors import InputError
from gpufabric.records.names import device_names
from gpufabric.records.rank_places import RankPlaces


@pytest.fixture(scope="module")
def cluster(wire):
    """Return 12 servers of 8 in 3 units of 4."""
    return wire("dgx-h100", 12, "rail-optimized", "{ports: 16, rate: 400 Gb/s}", ", unit_servers: 4")[0]


def places(*entries, source="hostfile h"):
    host, ranks, gpu = zip(*entries, strict=True)
    return RankPlaces(source, host, ranks, gpu)


def servers_of(cluster, gpus):
    return device_names(cluster, np.unique(cluster.gpus.host[gpus])).tolist()


def test_packed_takes_the_first_and_fragmented_as_many_of_every_unit(cluster):
    packed = rank_gpus(cluster, 48)
    assert packed.tolist() == list(range(48))
    spread = rank_gpus(cluster, 48, seed=5, placement="fragmented")
    assert len(np.unique(spread)) == 48
    assert (np.diff(spread) > 0).all()
    units = cluster.devices.unit[cluster.gpus.host[spread]]
    assert np.bincount(units).tolist() == [16, 16, 16]


def test_fragmented_is_the_same_for_the_same_seed_and_whole_when_all_take_part(cluster):
    one, other = (rank_gpus(cluster, 32, seed=seed, placement="fragmented") for seed in (1, 2))
    assert (one == rank_gpus(cluster, 32, seed=1, placement="fragmented")).all()
    assert servers_of(cluster, one) != servers_of(cluster, other)
    assert (rank_gpus(cluster, placement="fragmented") == rank_gpus(cluster)).all()


def test_shuffled_keeps_the_ranks_of_a_node_together(cluster):
    gpus = rank_gpus(cluster, 40, "shuffled", 3, placement="fragmented")
    hosts = cluster.gpus.host[gpus].reshape(5, 8)
    assert (hosts == hosts[:, :1]).all()
    assert sorted(gpus) == rank_gpus(cluster, 40, seed=3, placement="fragmented").tolist()


def test_hosts_of_the_cabling_plan_are_found_by_name_whatever_case_and_domain(cluster):
    listed = places(("SU02-srv01.example.com", 4, -1), ("su01-srv03", 0, -1), ("su02-srv01", 4, -1))
    gpus = rank_gpus(cluster, places=listed)
    assert servers_of(cluster, gpus) == ["su01-srv03", "su02-srv01"]
    assert gpus.tolist() == [32, 33, 34, 35, *range(16, 24), 36, 37, 38, 39]
    assert match_note(cluster, listed) == ""
    assert len(rank_gpus(cluster, 6, places=listed)) == 6


def test_foreign_hosts_stand_for_servers_in_order_of_appearance(cluster):
    listed = places(("n9", 8, -1), ("n2", 8, -1))
    assert rank_gpus(cluster, places=listed).tolist() == list(range(16))
    assert match_note(cluster, listed) == (
        "hostfile h: no host has the name of a server, so hosts stand for servers in order of appearance (n9 is su01-srv01)"
    )
    apart = rank_gpus(cluster, seed=4, placement="fragmented", places=listed)
    assert len(np.unique(cluster.devices.unit[cluster.gpus.host[apart]])) == 2


def test_a_log_says_the_gpu_of_each_rank(cluster):
    listed = places(*(("a", 1, gpu) for gpu in (7, 0, 3)))
    assert rank_gpus(cluster, places=listed).tolist() == [7, 0, 3]


@pytest.mark.parametrize(
    ("entries", "reason"),
    [
        ([("su01-srv01", 9, -1)], r"more ranks than it has GPUs \(9 of 8\)"),
        ([("su01-srv01", 5, -1), ("su01-srv01", 5, -1)], r"\(10 of 8\)"),
        ([("a", 1, 3), ("a", 1, 3)], "two ranks share a GPU"),
        ([("a", 1, 8)], "more ranks than it has GPUs"),
        ([(f"n{i}", 8, -1) for i in range(13)], "it names 13 hosts; the fabric links 12 servers"),
        (
            [("su01-srv01", 8, -1), ("su01-srv1", 8, -1)],
            r'host "su01-srv1" is no server .* Did you mean "su01-srv0',
        ),
        ([("su01-srv01", 8, -1), ("\x1b[2J", 8, -1)], "is no server"),
    ],
)
def test_what_does_not_fit_is_one_line(cluster, entries, reason):
    with pytest.raises(InputError, match=reason) as error:
        rank_gpus(cluster, places=places(*entries))
    assert str(error.value).isprintable()


def test_more_ranks_than_the_list_has_is_refused(cluster):
    with pytest.raises(
        InputError, match="ranks: 9 is out of range; allowed is 1 to 8, each that hostfile h names"
    ):
        rank_gpus(cluster, 9, places=places(("su01-srv01", 8, -1)))
    with pytest.raises(InputError, match="allowed is 1 to 96"):
        rank_gpus(cluster, 97)
    with pytest.raises(InputError, match='placement "spred" is unknown'):
        rank_gpus(cluster, placement="spred")
    with pytest.raises(InputError, match='order "by name" is unknown'):
        rank_gpus(cluster, order="by name")


def test_results_name_the_order():
    assert order_name() == "fabric"
    assert order_name("shuffled", 4) == "shuffled(seed=4)"
    assert order_name("fabric", 4, "fragmented") == "fabric, fragmented(seed=4)"
    assert order_name("hostfile", places=places(("a", 1, -1))) == "hostfile h"
