"""Rates and event times against SimGrid, an independent max-min solver and simulator.

Debian's python3-simgrid 3.32 in its CM02 model with everything switched off that is not max-min fairness (see simgrid_flows.py).
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gpufabric.graphs.fabric_level import build_fabric_graph
from gpufabric.kernels.max_min import max_min_rates
from gpufabric.records.cluster import Cluster
from gpufabric.records.flows import Flows, PortEdges
from gpufabric.records.graph import Graph
from gpufabric.records.part_set import PartSet
from gpufabric.records.timed_flows import TimedFlows
from gpufabric.routing import ROUTING
from gpufabric.routing.tier_links import index_tiers
from gpufabric.routing.unicast_flows import unicast_flows
from gpufabric.simulators import fluid

pytestmark = [pytest.mark.real]
PYTHON = "/usr/bin/python3"
PROGRAM = Path(__file__).with_name("simgrid_flows.py")
SMALL = "{ports: 8, rate: 100 Gb/s}"
BOX = "{gpus: 2, nics: 2, nic_rate: 100 Gb/s}"
FABRICS = {
    "one switch": (BOX, 4, "single-switch", SMALL),
    "two tiers, 3:1": (BOX, 12, "leaf-spine", SMALL, ", oversubscription: '3:1'"),
    "three tiers": (BOX, 60, "fat-tree", SMALL),
    "big two tiers": ("dgx-h100", 64, "leaf-spine", "qm9790"),
}
Simgrid = Callable[[np.ndarray, Flows, np.ndarray, np.ndarray], np.ndarray]


@pytest.fixture(scope="module")
def simgrid() -> Simgrid:
    """Return a function from capacities, flows, bytes and starts to the end of each flow, as SimGrid has it."""
    found = (
        Path(PYTHON).exists()
        and not subprocess.run(
            [PYTHON, "-c", "import simgrid"], capture_output=True, timeout=60, check=False
        ).returncode
    )
    if not found:
        reason = f"{PYTHON} has no module simgrid; scripts/install-system-packages.sh installs what CI needs"
        if os.environ.get("GPUFABRIC_REQUIRE_REAL") == "1":
            pytest.fail(reason)
        pytest.skip(reason)

    def run(capacity: np.ndarray, flows: Flows, size: np.ndarray, start: np.ndarray) -> np.ndarray:
        asked: dict[str, Any] = {
            "bytes_per_s": capacity.tolist(),
            "paths": [
                flows.link[a:b].tolist() for a, b in zip(flows.first[:-1], flows.first[1:], strict=True)
            ],
            "bytes": size.tolist(),
            "start_s": start.tolist(),
        }
        done = subprocess.run(
            [PYTHON, PROGRAM], input=json.dumps(asked), capture_output=True, text=True, check=True, timeout=60
        )
        return np.array(json.loads(done.stdout)["finish_s"])

    return run


def random_sets(seed: int) -> tuple[np.ndarray, Flows]:
    """Return capacities, and flows over any links in any order, many more than one a link."""
    rng = np.random.default_rng(seed)
    links, count = int(rng.integers(3, 40)), int(rng.integers(2, 200))
    paths = [rng.permutation(links)[: rng.integers(1, min(links, 7))] for _ in range(count)]
    link = np.concatenate(paths).astype(np.int32)
    first = np.cumsum([0] + [len(path) for path in paths])
    return rng.uniform(1e9, 1e11, links), Flows(first, link, np.ones(len(link)), np.zeros(count))


def hashed_messages(cluster: Cluster, seed: int) -> tuple[np.ndarray, Flows]:
    """Return the used links of a real wiring, and random messages over hashed paths through it."""
    rng = np.random.default_rng(seed)
    graph = build_fabric_graph(cluster, np.zeros((len(cluster.links), 2)))
    ports = cluster.links.port_a[cluster.devices.role[cluster.link_device_a] == 0]
    exits, entries = rng.choice(ports, 600), rng.choice(ports, 600)
    apart = cluster.ports.device[exits] != cluster.ports.device[entries]
    edges = PortEdges(exits[apart], entries[apart], rng.integers(0, 2**60, int(apart.sum())))
    loads = ROUTING["ecmp"](cluster, graph, index_tiers(cluster, graph), edges, seed)
    flows = unicast_flows(graph, edges, loads)
    used, link = np.unique(flows.link, return_inverse=True)
    return graph.bytes_per_s[used], Flows(
        flows.first, link.astype(np.int32), flows.weight, np.zeros(flows.count)
    )


def on_links(capacity: np.ndarray) -> Graph:
    none = np.empty(0, np.int32)
    ends = np.arange(len(capacity), dtype=np.int32)
    first = np.arange(len(capacity) + 2).clip(max=len(capacity))
    return Graph(first, ends, ends + 1, capacity, np.zeros(len(capacity)), none, none, none, none)


def compare(simgrid: Simgrid, capacity: np.ndarray, flows: Flows, seed: int) -> None:
    rng = np.random.default_rng(seed)
    even, at_once = np.full(flows.count, 10.0**11), np.zeros(flows.count)
    rates, _ = max_min_rates(flows.first, flows.link, flows.weight, capacity)
    # Flows of equal size that start together keep their rate to the end, so the end tells the rate.
    # 0.1 % is the promise; both solve the same equations, and SimGrid rounds times to a nanosecond.
    np.testing.assert_allclose(even / simgrid(capacity, flows, even, at_once), rates, rtol=1e-3)
    size = rng.integers(10**9, 10**11, flows.count).astype(float)
    start = rng.choice([0.0, 0.5, 1.25], flows.count)
    none = np.empty(0, np.int64)
    times = fluid.run_timed(on_links(capacity), TimedFlows(flows, size, start, none, none))
    np.testing.assert_allclose(simgrid(capacity, flows, size, start), times.arrived_s, rtol=1e-3)


@pytest.mark.parametrize("seed", range(8))
def test_random_sets_of_links(simgrid: Simgrid, seed: int) -> None:
    compare(simgrid, *random_sets(seed), seed)


@pytest.mark.parametrize("fabric", FABRICS)
def test_messages_through_real_wirings(
    simgrid: Simgrid, wire: Callable[..., tuple[Cluster, PartSet]], fabric: str
) -> None:
    compare(simgrid, *hashed_messages(wire(*FABRICS[fabric])[0], 5), 5)
