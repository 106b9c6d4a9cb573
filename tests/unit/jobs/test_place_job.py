"""Ranks of a plan on GPUs: coordinates, groups, what they span, and what a job forbids."""

import numpy as np
import pytest

from gpufabric.errors import InputError
from gpufabric.jobs.choose_ranks import RankChoice
from gpufabric.jobs.place_job import check_within, place_job
from gpufabric.training.plan_row import one_plan

FABRIC = RankChoice("fabric", 0, None, ())
DEGREES = {"tp": 4, "cp": 1, "dp": 4, "pp": 2, "micro_batches": 4}


@pytest.fixture
def four_servers(wire):
    return wire("dgx-h100", 4, "single-switch", "qm9790")[0]


def test_the_first_axis_changes_fastest(four_servers):
    placement = place_job(four_servers, one_plan(**DEGREES), FABRIC)
    assert placement.stride == {"tp": 1, "cp": 4, "dp": 4, "pp": 16}
    assert placement.coordinate("tp").tolist() == [0, 1, 2, 3] * 8
    assert placement.coordinate("pp").tolist() == [0] * 16 + [1] * 16


def test_groups_share_out_all_ranks(four_servers):
    placement = place_job(four_servers, one_plan(**DEGREES), FABRIC)
    for size, stride in (((1, 4), (1, 1)), ((1, 4), (1, 4)), ((1, 2), (1, 16)), ((2, 4), (16, 1))):
        groups = placement.groups(np.array(size), np.array(stride))
        assert sorted(groups.ravel().tolist()) == list(range(32))
        assert groups.shape[1] == size[0] * size[1]
    assert placement.groups(np.array((2, 4)), np.array((16, 1)))[0].tolist() == [0, 1, 2, 3, 16, 17, 18, 19]


def test_what_groups_span_is_counted(four_servers):
    placement = place_job(four_servers, one_plan(**DEGREES), FABRIC)
    tensor = placement.spans(placement.groups(np.array((1, 4)), np.array((1, 1))))
    assert (tensor["server"], tensor["rail"], tensor["scale-up"]) == (1, 4, 1)
    data = placement.spans(placement.groups(np.array((1, 4)), np.array((1, 4))))
    assert (data["server"], data["rail"]) == (2, 2)


def test_a_group_that_leaves_its_place_is_refused_with_what_fits(four_servers):
    placement = place_job(four_servers, one_plan(**(DEGREES | {"tp": 16, "dp": 1})), FABRIC)
    groups = placement.groups(np.array((1, 16)), np.array((1, 1)))
    check_within("tp", placement, groups, "cluster")
    with pytest.raises(InputError, match=r"within\.tp: .*spans 2 servers.* lower tp to 8"):
        check_within("tp", placement, groups, "server")


def test_more_ranks_than_gpus_are_refused(four_servers):
    with pytest.raises(InputError, match="64 is out of range"):
        place_job(four_servers, one_plan(**(DEGREES | {"dp": 8})), FABRIC)
