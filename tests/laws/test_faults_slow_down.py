"""Faults never make a collective faster than without them, where traffic spreads evenly.

A second fault may: all channels wait for the slowest, and a slow rail that goes down altogether is no longer waited for.
"""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gpufabric.collectives.job_wiring import lay_job
from gpufabric.collectives.rank_order import rank_gpus
from gpufabric.errors import UnbuildableError
from gpufabric.jobs.faulty_cluster import apply_faults
from gpufabric.jobs.lay_wiring import lay_wiring
from gpufabric.jobs.price_algorithm import price_algorithm
from gpufabric.records.cluster import Role
from gpufabric.records.cluster_spec import Fault
from gpufabric.records.collective import Collective
from gpufabric.records.names import device_names, port_names

SWITCH = "{ports: 16, rate: 400 Gb/s}"
SHAPES = {
    "rails": ("dgx-h100", 8, "rail-optimized", SWITCH, ", unit_servers: 4"),
    "leaf-spine": ("dgx-h100", 6, "leaf-spine", "{ports: 32, rate: 400 Gb/s}", ', oversubscription: "2:1"'),
    "three tiers": ("dgx-h100", 12, "fat-tree", "{ports: 8, rate: 400 Gb/s}", ", tiers: 3"),
    "planes": ("dgx-b300-spectrum", 6, "multi-plane", SWITCH, ""),
}


ALGORITHMS = [("all_reduce", "ring"), ("all_reduce", "tree"), ("all_gather", "ring"), ("all_to_all", "pxn")]


def rate(cluster, parts, op, algorithm):
    """Return the line rate of an algorithm, 0 where it has no way."""
    wiring = lay_wiring(cluster, parts)
    gpus = rank_gpus(cluster)
    server = parts.servers[cluster.parts[cluster.devices.part[cluster.gpus.host[0]]]]
    job = lay_job(cluster, wiring.inside, gpus, server.scale_up)
    try:
        priced = price_algorithm(wiring, job, Collective(op, 1 << 33, gpus), algorithm, "adaptive")
    except UnbuildableError:
        return 0.0
    return priced.line_bytes_per_s


def some_fault(draw, cluster, parts):
    links, names = cluster.links, device_names(cluster)
    link = draw(st.integers(0, len(links) - 1))
    port = int((links.port_a if draw(st.booleans()) else links.port_b)[link])
    place = f"{names[cluster.ports.device[port]]}:{port_names(cluster, np.array([port]), parts)[0]}"
    switches = names[np.isin(cluster.devices.role, (Role.LEAF, Role.SPINE, Role.CORE))].tolist()
    kind = draw(st.sampled_from(["link-down", "link-slow", "switch-down"]))
    if kind == "switch-down":
        return Fault(kind=kind, where=draw(st.sampled_from(switches)))
    slow = {"rate": f"{draw(st.integers(1, 399))} Gb/s"} if kind == "link-slow" else {}
    return Fault.model_validate({"kind": kind, "where": place, **slow})


@pytest.mark.parametrize("shape", SHAPES)
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_faults_only_slow_down(wire, shape, data):
    cluster, parts = wire(*SHAPES[shape])
    faults = [some_fault(data.draw, cluster, parts) for _ in range(data.draw(st.integers(1, 3)))]
    broken, notes = apply_faults(cluster, faults, parts)
    assert len(notes) == len(faults)
    assert len(broken.links) <= len(cluster.links)
    how = data.draw(st.sampled_from(ALGORITHMS))
    assert rate(broken, parts, *how) <= rate(cluster, parts, *how) * (1 + 1e-9)
