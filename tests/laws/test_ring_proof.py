"""Ring all-reduce is right: executed symbolically, every rank ends with every contribution exactly once."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gpufabric.collectives import ring
from gpufabric.collectives.prove_all_reduce import execute_ring
from gpufabric.graphs.gpu_level import build_gpu_graph
from gpufabric.graphs.link_latency import link_latencies
from gpufabric.records.collective import Collective

CLUSTERS = [
    ("dgx-h100", 5, "single-switch", "qm9790"),
    ("hgx-mi300x", 5, "single-switch", "sn5600"),
    ("{gpus: 4, nics: 2, nic_rate: 100 Gb/s}", 10, "leaf-spine", "{ports: 8, rate: 100 Gb/s}"),
]


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_every_contribution_arrives_exactly_once(wire: Callable, data: st.DataObject) -> None:
    case = data.draw(st.sampled_from(CLUSTERS))
    cluster, parts = wire(*case)
    gpus = data.draw(
        st.lists(st.integers(0, len(cluster.gpus) - 1), min_size=2, max_size=23, unique=True), label="ranks"
    )
    _, inside = build_gpu_graph(cluster, parts.servers, link_latencies(cluster, parts))
    asked = Collective("all_reduce", 1 << 20, np.array(gpus, np.int32))
    schedule = ring.plan(asked, cluster, inside, meshed="mi300x" in case[0])
    for channel in schedule.channels:
        assert sorted(channel.order) == sorted(gpus)
        # A node's GPUs follow each other, so that the ring crosses the fabric once a node.
        domains = cluster.gpus.domain[channel.order]
        assert (domains != np.roll(domains, 1)).sum() in (0, len(set(domains)))
    held = execute_ring(schedule)
    assert (held == 1).all()
    # Each rank sends 2 (n - 1) / n of the buffer in all.
    sent = sum(p.repeat * p.step_bytes for p in schedule.phases) * len(schedule.channels)
    assert sent == pytest.approx(2 * (len(gpus) - 1) / len(gpus) * asked.size_bytes)


def test_a_schedule_that_stops_early_is_caught() -> None:
    from gpufabric.records.collective import Phase, RingChannel, Schedule

    none = np.empty(0, np.int32)
    channel = RingChannel(np.arange(5, dtype=np.int32), np.zeros(1, np.int64), none, none, -1)
    phases = (Phase("reduce-scatter", 4, 1.0, reduces=True), Phase("all-gather", 3, 1.0, reduces=False))
    assert (execute_ring(Schedule("ring", (channel,), phases)) != 1).any()
