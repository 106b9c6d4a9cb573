"""What collectives cost on the tables of before and after."""

from pathlib import Path

import numpy as np
import pytest

from gpufabric.jobs.faulty_cluster import without_links
from gpufabric.jobs.lab_ib_reroute import price_before_after, subnet_rows

DUMP = Path(__file__).parents[2] / "captured" / "opensm" / "small-ftree.dump"


def test_rows_of_a_subnet():
    assert subnet_rows(np.array([3, 5, 9]), np.array([5, 9])) == [1, 2]


def test_both_are_priced_and_what_has_no_way_says_why(wire):
    cluster, parts = wire(
        "{gpus: 2, nics: 2, nic_rate: 100 Gb/s}",
        8,
        "leaf-spine",
        "{ports: 8, rate: 100 Gb/s, network: infiniband}",
    )
    kept = np.ones(len(cluster.links), np.bool_)
    kept[-1] = False
    name = cluster.fabrics[0].name
    same = price_before_after((cluster, DUMP), (cluster, DUMP), parts, name)
    assert [one.op for one in same] == ["all_reduce", "all_to_all"]
    assert all(one.before_busbw_bytes_per_s == one.after_busbw_bytes_per_s for one in same)
    # Tables of the whole fabric lead into the cable that is gone.
    cut = price_before_after((cluster, DUMP), (without_links(cluster, kept), DUMP), parts, name)
    assert cut[1].before_busbw_bytes_per_s == pytest.approx(same[1].before_busbw_bytes_per_s)
    assert cut[1].after_busbw_bytes_per_s is None
    assert "no way through the forwarding tables" in cut[1].note
