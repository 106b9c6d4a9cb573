"""Whatever is estimated: no faster than the line, no faster for more bytes, and inside its own range."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from gpufabric.catalog.calibrations import load_collective_calibration
from gpufabric.libraries.estimate import estimate
from gpufabric.records.job_situation import JobSituation
from gpufabric.records.priced_algorithm import PricedAlgorithm

CALIBRATION = load_collective_calibration()
RATES = st.floats(1e8, 1e14)


@st.composite
def jobs(draw):
    nodes = draw(st.integers(1, 1000))
    local = draw(st.integers(2 if nodes == 1 else 1, 72))
    inside = draw(RATES)
    fabric = draw(RATES) if nodes > 1 else float("inf")
    priced = PricedAlgorithm(
        op=draw(st.sampled_from(["all_reduce", "all_gather", "broadcast", "all_to_all", "send_recv"])),
        algorithm=draw(st.sampled_from(["ring", "tree", "nvls", "nvls_tree", "pat", "pxn", "hierarchical"])),
        ranks=nodes * local,
        nodes=nodes,
        channels=8,
        line_bytes_per_s=min(inside, fabric),
        inside_bytes_per_s=inside,
        fabric_bytes_per_s=fabric,
        inside_steps=draw(st.integers(0, 400_000)),
        fabric_steps=draw(st.integers(0, 50_000)) if nodes > 1 else 0,
        path_latency_s=draw(st.floats(0, 1e-3)),
        bottleneck="",
        shares=draw(st.sampled_from([{}, {"scale-up": 0.3, "pcie": 1.0}, {"scale-up": 1.0, "pcie": 0.2}])),
    )
    if priced.shares:
        priced = replace(priced, line_bytes_per_s=min(inside, fabric))
    several = nodes > 1
    situation = JobSituation(
        ranks=nodes * local,
        nodes=nodes,
        node_ranks=local,
        even=True,
        gpu=draw(st.sampled_from(["v100-sxm2-32gb", "h100-sxm", "gb200", "mi300x", "rtx-4090", "rubin", ""])),
        scale_up=draw(st.sampled_from(["switched", "mesh", "pcie", "none"])),
        multicast=True,
        domain_servers=1,
        network=draw(st.sampled_from(["ethernet", "infiniband"])) if several else "",
        nic=draw(st.sampled_from(["aws-efa-v3", "connectx-7-400g", ""])) if several else "",
        node_nics=8 if several else 0,
        nic_bytes_per_s=50e9 if several else 0.0,
        in_network=False,
    )
    return priced, situation


@given(jobs(), st.sampled_from(sorted(CALIBRATION.protocols)), st.integers(0, 2**62), st.integers(0, 2**62))
def test_estimates_keep_their_bounds(job, protocol, one, other):
    priced, situation = job
    short, long = sorted((one, other))
    times = [estimate(priced, protocol, situation, CALIBRATION, size) for size in (short, long)]
    for name in ("time_s", "low_s", "high_s", "slow_s"):
        assert getattr(times[0], name) <= getattr(times[1], name) * (1 + 1e-9), name
    for size, found in zip((short, long), times, strict=True):
        assert found.time_s >= size / priced.line_bytes_per_s * (1 - 1e-9)
        assert size / priced.line_bytes_per_s <= found.low_s * (1 + 1e-9)
        assert found.low_s <= found.time_s <= found.high_s <= found.slow_s
        assert found.latency_s <= found.time_s * (1 + 1e-9)


@given(jobs(), st.sampled_from(sorted(CALIBRATION.protocols)), st.integers(1, 2**40))
def test_ranges_do_not_jump(job, protocol, size):
    """Sizes a thousandth apart have limits of at most a few thousandths apart, at the edges of bands too."""
    priced, situation = job
    for start in (size, 1 << 12, 1 << 16, 1 << 20, 1 << 24, 1 << 28):
        near = [
            estimate(priced, protocol, situation, CALIBRATION, at) for at in (start, start + start // 1000)
        ]
        for name in ("low_s", "high_s", "slow_s"):
            assert getattr(near[1], name) <= getattr(near[0], name) * 1.006


@given(jobs(), st.sampled_from(sorted(CALIBRATION.protocols)), st.integers(0, 2**40), st.floats(1, 8))
def test_more_nics_are_never_slower(job, protocol, size, more):
    priced, situation = job
    fabric = priced.fabric_bytes_per_s * more
    faster = replace(
        priced, fabric_bytes_per_s=fabric, line_bytes_per_s=min(priced.inside_bytes_per_s, fabric)
    )
    wider = replace(situation, node_nics=situation.node_nics * 8)
    few = estimate(priced, protocol, situation, CALIBRATION, size)
    many = estimate(faster, protocol, wider, CALIBRATION, size)
    for name in ("time_s", "low_s", "high_s"):
        assert getattr(many, name) <= getattr(few, name) * (1 + 1e-9), name
