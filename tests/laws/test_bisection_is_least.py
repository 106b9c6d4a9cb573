"""Bisection from the wiring is the least of all halvings of a small cluster, each cut found by an independent maximum flow."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, reject, settings
from hypothesis import strategies as st
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import maximum_flow

from gpufabric.catalog.load import load_catalog
from gpufabric.errors import UnbuildableError
from gpufabric.graphs import halvings
from gpufabric.graphs.bisection import bisection_bytes_per_s, bisection_of_links, least_cut_found
from gpufabric.graphs.fabric_links import FabricLinks, fabric_links
from gpufabric.records.cluster import Cluster, Role
from gpufabric.records.cluster_spec import ClusterSpec
from gpufabric.reliability.loss_kinds import loss_kinds
from gpufabric.reliability.n_minus_1 import cost_of_loss, whole_fabric
from gpufabric.topologies import TOPOLOGIES, build_cluster

CATALOG = load_catalog()
# Capacities are whole numbers of this, so that the maximum flow, which is integer, is exact for halves of servers too.
UNIT = 12.5e9 / 4


def cut_of(cluster: Cluster, links: FabricLinks, share: np.ndarray) -> int:
    """Maximum flow between the halves; ``share`` is the part of each server that lies in the first one."""
    count = len(cluster.devices)
    source, sink = count, count + 1
    edges: list[tuple[int, int, int]] = []
    ends = zip(links.lower.tolist(), links.upper.tolist(), (links.bytes_per_s / UNIT).tolist(), strict=True)
    for x, y, rate in ends:
        for here, there in ((x, y), (y, x)):
            if cluster.devices.role[here] == Role.SERVER:
                first = share[here]
                if cluster.devices.role[there] == Role.SERVER:
                    # Half of a link of the server in the middle crosses, whichever half the other server is in.
                    crossing = abs(share[there] - first)
                    edges += [(source, sink, round(rate * crossing))] if here < there else []
                else:
                    edges += [(source, there, round(rate * first)), (there, sink, round(rate * (1 - first)))]
            elif cluster.devices.role[there] != Role.SERVER:
                edges.append((here, there, round(rate)))
    rows, cols, caps = np.array([e for e in edges if e[2]] or [(source, sink, 0)]).T
    network = coo_matrix((caps, (rows, cols)), shape=(count + 2, count + 2)).tocsr().astype(np.int32)
    return int(maximum_flow(network, source, sink).flow_value)


def least_of_all_halvings(cluster: Cluster, links: FabricLinks) -> float:
    """Try every way to put half of the servers into the first half; of an odd number one counts half to each."""
    servers = np.flatnonzero(cluster.devices.role == Role.SERVER)
    best = None
    for middle in servers if len(servers) % 2 else [-1]:
        rest = servers[servers != middle]
        for chosen in combinations(rest.tolist(), len(rest) // 2):
            if middle < 0 and servers[0] not in chosen:
                continue  # the other half of a halving that is tried anyway
            share = np.zeros(len(cluster.devices))
            share[list(chosen)] = 1
            if middle >= 0:
                share[middle] = 0.5
            cut = cut_of(cluster, links, share)
            best = cut if best is None else min(best, cut)
    assert best is not None
    return best * UNIT


@st.composite
def small_specs(draw: Any) -> ClusterSpec:
    """Draw a cluster of 2 to 10 small servers in any topology, of full and partly filled leaves, units and pods."""
    nics = draw(st.sampled_from([1, 2, 3, 4]))
    fabric: dict[str, Any] = {
        "topology": draw(st.sampled_from(sorted(TOPOLOGIES))),
        "switch": {"ports": draw(st.integers(2, 20)), "rate": "400 Gb/s"},
        "oversubscription": draw(st.sampled_from(["1:1", "1:1", "2:1", "3:1", "3:2"])),
    }
    if draw(st.booleans()):
        fabric["tiers"] = draw(st.sampled_from([2, 3]))
    if draw(st.booleans()):
        fabric["planes"] = draw(st.integers(1, 3))
    if draw(st.integers(0, 2)) == 0:
        fabric["unit_servers"] = draw(st.integers(1, 4))
    if draw(st.integers(0, 2)) == 0:
        fabric["spine"] = {"oversubscription": draw(st.sampled_from(["2:1", "3:1"]))}
    if draw(st.integers(0, 2)) == 0:
        fabric["pod_leaves"] = draw(st.integers(1, 4))
    if fabric["topology"] == "torus":
        fabric["torus"] = {
            "dimensions": draw(st.lists(st.integers(2, 4), min_size=1, max_size=2)),
            "links": draw(st.integers(1, 2)),
        }
    if fabric["topology"] == "dragonfly":
        fabric["dragonfly"] = {"groups": draw(st.integers(2, 4)), "group_switches": draw(st.integers(1, 3))}
    model = {"gpus": draw(st.sampled_from([1, 4])), "nics": nics, "nic_rate": "400 Gb/s"}
    return ClusterSpec.model_validate(
        {"servers": {"model": model, "count": draw(st.integers(2, 10))}, "fabrics": fabric}
    )


def built(spec: ClusterSpec) -> Cluster:
    try:
        return build_cluster(spec, CATALOG)
    except UnbuildableError:
        return reject()


def agrees(found: float | None, cluster: Cluster, links: FabricLinks) -> None:
    """Assert that the value is right; it may be unknown only where the groups of servers are too many to try all."""
    cut, _ = least_cut_found(links)
    if cut is not None:
        assert cut >= least_of_all_halvings(cluster, links) * (1 - 1e-9)
    if found is None:
        assert links.meets_outside or len(halvings.server_groups(links).gpus) > halvings.MOST_TRIED_GROUPS
    else:
        assert found == pytest.approx(least_of_all_halvings(cluster, links), rel=1e-9)


LIMITS = settings(
    max_examples=40,
    deadline=None,
    suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow],
)


@pytest.mark.slow
@LIMITS
@given(small_specs())
def test_no_halving_has_a_smaller_cut(spec: ClusterSpec) -> None:
    cluster = built(spec)
    links = fabric_links(cluster, 0)
    agrees(bisection_bytes_per_s(cluster, 0), cluster, links)


@pytest.mark.slow
@LIMITS
@given(small_specs(), st.data())
def test_nor_after_some_links_are_lost(spec: ClusterSpec, data: st.DataObject) -> None:
    cluster = built(spec)
    links = fabric_links(cluster, 0)
    lost = data.draw(st.lists(st.integers(0, len(links) - 1), max_size=3, unique=True))
    left = links.take(~np.isin(np.arange(len(links)), lost))
    agrees(bisection_of_links(left), cluster, left)


@pytest.mark.slow
@LIMITS
@given(small_specs(), st.data())
def test_the_likely_halvings_of_many_groups_hold_the_least_or_it_is_unknown(
    spec: ClusterSpec, data: st.DataObject
) -> None:
    cluster = built(spec)
    links = fabric_links(cluster, 0)
    lost = data.draw(st.lists(st.integers(0, len(links) - 1), max_size=1))
    left = links.take(~np.isin(np.arange(len(links)), lost))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(halvings, "MOST_TRIED_GROUPS", 0)
        found = bisection_of_links(left)
    if found is not None:
        assert found == pytest.approx(least_of_all_halvings(cluster, left), rel=1e-9)


@pytest.mark.slow
@LIMITS
@given(small_specs(), st.data())
def test_what_a_single_loss_leaves_is_the_least_too(spec: ClusterSpec, data: st.DataObject) -> None:
    cluster = built(spec)
    whole = whole_fabric(cluster, 0)
    kind = data.draw(st.sampled_from(list(loss_kinds(cluster, whole.links))))
    item = data.draw(st.sampled_from(np.unique(kind.item).tolist()))
    lost = np.zeros(len(whole.links), bool)
    lost[kind.link[kind.item == item]] = True
    share = cost_of_loss(whole, lost)["bisection_left"]
    if share is not None:
        least = least_of_all_halvings(cluster, whole.links.take(~lost))
        assert share * whole.bisection_bytes_per_s == pytest.approx(least, rel=1e-9)
