"""Schedules on a wiring: the links that they use, and when what happens."""

import numpy as np
import pytest

from gpufabric.formats.cluster_yaml import parse_cluster_spec
from gpufabric.jobs.collective import CollectiveOptions
from gpufabric.jobs.collective_detail import detail_collective
from gpufabric.jobs.collective_timeline import collective_timeline
from gpufabric.jobs.described_collective import predict_described
from gpufabric.libraries.choose import Forced

GIB = 1 << 30


def detailed(op="all_reduce", algorithm="ring", count=2, fabric="", **options):
    text = (
        f"servers: {{model: dgx-h100, count: {count}}}\n"
        f"fabrics: [{{name: compute, topology: rail-optimized, switch: qm9790{fabric}}}]\n"
    )
    spec = parse_cluster_spec(text, "test.yaml")
    chosen = CollectiveOptions(forced=Forced(algorithm, "simple"), **options)
    result = predict_described(spec, op, [GIB], chosen)[0]
    return detail_collective(spec, result, chosen)


def spans(detail, group):
    return [span for span in collective_timeline(detail).spans if span.group == group]


def end(found):
    return max(span.start_s + span.duration_s for span in found)


def wired_s(detail):
    factor = detail.result.busbw_bytes_per_s / detail.result.algbw_bytes_per_s
    return detail.result.size_bytes * factor / detail.result.wired_busbw_bytes_per_s


@pytest.mark.slow
@pytest.mark.parametrize(
    ("op", "algorithm"),
    [
        ("all_reduce", "ring"),
        ("all_reduce", "tree"),
        ("all_reduce", "nvls_tree"),
        ("all_gather", "ring"),
        ("all_to_all", "pxn"),
    ],
)
def test_phases_end_when_the_wiring_says(op, algorithm):
    detail = detailed(op, algorithm)
    assert end(spans(detail, "phases")) == pytest.approx(wired_s(detail))
    predicted = spans(detail, "predicted")
    assert predicted[0].duration_s == detail.result.time_s
    assert end(predicted) <= detail.result.time_s * (1 + 1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", ["ring", "tree", "nvls_tree", "halving_doubling"])
def test_single_transfers_carry_what_the_schedule_moves_and_take_no_less_time(algorithm):
    detail = detailed(algorithm=algorithm)
    found = spans(detail, "transfers")
    moved = sum(
        float(share.sum())
        for channel in detail.schedule.channels
        for phase in channel.phases
        for share in [phase.steps.at(step).share for step in range(phase.repeat)]
    )
    assert sum(span.details["bytes"] for span in found) == pytest.approx(moved * GIB)
    assert all(span.duration_s >= 0 for span in found)
    # A ring of single transfers is the ring of one flow, plus the latencies of its steps.
    assert end(found) >= wired_s(detail) * (1 - 1e-9)
    if algorithm == "ring":
        assert end(found) == pytest.approx(wired_s(detail), rel=0.01)


@pytest.mark.slow
def test_a_rank_sends_on_what_it_has_got():
    found = spans(detailed(count=1, fabric=", tiers: 1"), "transfers")
    arrived = {}
    for span in sorted(found, key=lambda s: s.start_s):
        channel, chunk, step = span.details["channel"], span.details["chunk"], span.details["step"]
        if step:
            assert arrived[channel, chunk, span.track] <= span.start_s * (1 + 1e-12)
        arrived[channel, chunk, span.name.rpartition(" to ")[2]] = span.start_s + span.duration_s


def test_many_ranks_have_phases_but_no_single_transfers():
    detail = detailed(count=16)
    timeline = collective_timeline(detail)
    assert timeline.notes["transfers"] == "left out: more than 64 ranks"
    assert {span.group for span in timeline.spans} == {"predicted", "phases"}


def test_a_ring_in_order_fills_every_nic_and_leaves_the_spines_alone():
    detail = detailed(count=32, fabric=", unit_servers: 32, tiers: 2")
    in_use, cluster = detail.links_in_use(), detail.wiring.cluster
    to_server = cluster.link_device_a < np.count_nonzero(cluster.devices.kind == 0)
    assert in_use[to_server] == pytest.approx(1.0)
    assert in_use[~to_server] == pytest.approx(0.0)


def test_faults_and_order_are_those_of_the_result():
    detail = detailed(count=32, fabric=", unit_servers: 16, routing: ecmp", order="shuffled")
    in_use = detail.links_in_use()
    assert in_use.max() == pytest.approx(1.0)
    assert in_use.min() >= 0
    assert detail.result.rank_order == "shuffled(seed=0)"
