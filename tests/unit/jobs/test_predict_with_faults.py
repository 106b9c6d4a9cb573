"""A prediction with faults stands beside the one without them."""

import pytest

from gpufabric.formats.fault_text import parse_fault
from gpufabric.jobs.collective import CollectiveOptions, predict_collective
from gpufabric.jobs.predict_with_faults import predict_with_faults
from gpufabric.libraries.choose import Forced

SIZES = [1 << 30, 1 << 33]


@pytest.fixture(scope="module")
def rails(wire):
    """Return 8 servers of 8 in 2 units of 4, 8 rails."""
    return wire("dgx-h100", 8, "rail-optimized", "{ports: 16, rate: 400 Gb/s}", ", unit_servers: 4")


@pytest.mark.parametrize(("op", "left"), [("all_reduce", 7 / 8), ("all_to_all", 1 / 2)])
def test_each_size_has_its_healthy_figure_and_the_faults_among_its_assumptions(rails, op, left):
    options = CollectiveOptions()
    found = predict_with_faults(rails, [parse_fault("rail-down:1")], op, SIZES, options)
    healthy = predict_collective(*rails, op, SIZES, options)
    assert [r.healthy_busbw_bytes_per_s for r in found] == [r.busbw_bytes_per_s for r in healthy]
    assert found[1].busbw_bytes_per_s / healthy[1].busbw_bytes_per_s == pytest.approx(left, rel=0.02)
    assert found[0].assumptions[0] == "fault rail-down at 1: 16 links down"
    assert found[0].to_dict()["healthy_busbw_bytes_per_s"] == healthy[0].busbw_bytes_per_s


def test_shuffled_ranks_have_a_healthy_figure_of_their_own(wire):
    """A tree in fabric order has the slow cable at its edge; shuffled, in its middle."""
    wired = wire("dgx-h100", 64, "rail-optimized", "qm9790")
    fault = parse_fault("link-slow:su01-srv01:osfp4/2=200 Gb/s")
    options = CollectiveOptions(compare_shuffled=True, forced=Forced("nvls_tree"))
    found = predict_with_faults(wired, [fault], "all_reduce", SIZES[1:], options)
    assert [r.rank_order for r in found] == ["fabric", "shuffled(seed=0)"]
    assert found[1].busbw_bytes_per_s < 0.6 * found[1].healthy_busbw_bytes_per_s
    assert found[0].busbw_bytes_per_s == pytest.approx(found[0].healthy_busbw_bytes_per_s)


def test_a_nic_lost_on_one_server_costs_the_job_a_channel_of_eight(rails):
    """NCCL takes the least number of channels that any rank found: src/init.cc, "align all ranks"."""
    options = CollectiveOptions(forced=Forced("ring"))
    one, everywhere = (
        predict_with_faults(rails, [parse_fault(text)], "all_reduce", SIZES, options)[1]
        for text in ("nic-down:su01-srv01:osfp4/2", "rail-down:1")
    )
    assert one.channels == everywhere.channels
    assert one.wired_busbw_bytes_per_s == pytest.approx(everywhere.wired_busbw_bytes_per_s)
    assert one.busbw_bytes_per_s / one.healthy_busbw_bytes_per_s == pytest.approx(7 / 8, rel=0.02)
