import pytest

from gpufabric.records.job_situation import JobSituation
from gpufabric.records.priced_algorithm import PricedAlgorithm


@pytest.fixture
def situation():
    """Return a maker of situations: by default 4 nodes of 8 H100 with 8 NICs of 400 Gb/s."""

    def make(**changes):
        node_ranks, nodes = changes.pop("node_ranks", 8), changes.pop("nodes", 4)
        known = {
            "ranks": node_ranks * nodes,
            "nodes": nodes,
            "node_ranks": node_ranks,
            "even": True,
            "gpu": "h100-sxm",
            "scale_up": "switched",
            "multicast": True,
            "domain_servers": 1,
            "network": "infiniband",
            "nic": "connectx-7-400g",
            "node_nics": 8,
            "nic_bytes_per_s": 50e9,
            "in_network": False,
        }
        return JobSituation(**(known | changes))

    return make


@pytest.fixture
def priced():
    """Return a maker of priced algorithms with round figures."""

    def make(algorithm="ring", op="all_reduce", **changes):
        known = {
            "op": op,
            "algorithm": algorithm,
            "ranks": 32,
            "nodes": 4,
            "channels": 8,
            "line_bytes_per_s": 200e9,
            "inside_bytes_per_s": 225e9,
            "fabric_bytes_per_s": 200e9,
            "inside_steps": 54,
            "fabric_steps": 8,
            "path_latency_s": 1e-6,
            "bottleneck": "NIC",
        }
        return PricedAlgorithm(**(known | changes))

    return make
