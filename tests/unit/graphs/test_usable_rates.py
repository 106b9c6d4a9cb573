"""What servers can still send when links, leaves and spines are lost."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gpufabric.catalog.load import load_catalog
from gpufabric.graphs.equal_bundles import has_equal_bundles
from gpufabric.graphs.fabric_links import FabricLinks, fabric_links
from gpufabric.graphs.tier_ratios import worst_ratio
from gpufabric.graphs.usable_rates import switch_parts, usable_rates
from gpufabric.records.cluster import Cluster, Role
from gpufabric.records.cluster_spec import ClusterSpec
from gpufabric.topologies import build_cluster

LINK = 50e9
CATALOG = load_catalog()


def designed(count: int, **fabric: Any) -> Cluster:
    spec = ClusterSpec.model_validate({"servers": {"model": "dgx-h100", "count": count}, "fabrics": fabric})
    return build_cluster(spec, CATALOG)


def left_without(cluster: Cluster, role: int, index: int) -> np.ndarray:
    """Return what is left of each server's links, in links, when one device is lost."""
    links = fabric_links(cluster, 0)
    device = int(np.flatnonzero(cluster.devices.role == role)[index])
    lost = (links.lower == device) | (links.upper == device)
    rates = usable_rates(links, lost, switch_parts(links))
    return rates[cluster.devices.role == Role.SERVER] / LINK


def test_a_lost_leaf_of_a_rail_takes_one_link_of_its_unit() -> None:
    cluster = designed(40, topology="rail-optimized", switch="qm9790")
    assert left_without(cluster, Role.LEAF, 0).tolist() == [7.0] * 32 + [8.0] * 8


def test_a_lost_spine_among_several_takes_no_server_link() -> None:
    cluster = designed(40, topology="rail-optimized", switch="qm9790")
    assert (left_without(cluster, Role.SPINE, 0) == 8).all()


def test_a_lost_leaf_cuts_off_the_servers_that_have_no_other() -> None:
    cluster = designed(16, topology="leaf-spine", switch="qm9790")
    assert left_without(cluster, Role.LEAF, 1).tolist() == [8] * 4 + [0] * 4 + [8] * 8


def test_the_only_spine_leaves_the_fullest_leaf_alone() -> None:
    """Leaves of 4 servers and one of 3: the first full one is what counts as the rest of the fabric."""
    cluster = designed(
        11,
        topology="leaf-spine",
        switch="qm9790",
        leaf={"ports_down": 32, "ports_up": 8},
        spine={"count": 1},
    )
    assert left_without(cluster, Role.SPINE, 0).tolist() == [8] * 4 + [0] * 7


def test_a_plane_of_one_spine_does_not_cut_off_servers_with_another_plane() -> None:
    switch = {"ports": 32, "rate": "400 Gb/s"}
    more = {"leaf": {"ports_down": 16, "ports_up": 4}, "spine": {"count": 1}, "planes": 2}
    cluster = designed(12, topology="multi-plane", switch=switch, **more)
    left = left_without(cluster, Role.SPINE, 0)
    assert left.tolist() == [8] * 4 + [4] * 8


def test_rails_that_meet_only_in_the_servers_are_whole_as_they_are() -> None:
    cluster = designed(32, topology="rail-optimized", switch="qm9790", tiers=1)
    assert (left_without(cluster, Role.LEAF, 3) == 7).all()


def test_direct_links_are_usable_unless_they_are_lost() -> None:
    links = fabric_links(designed(5, topology="full-mesh"), 0)
    lost = np.zeros(len(links), bool)
    assert usable_rates(links, lost, switch_parts(links)).sum() == 5 * 4 * 2 * LINK
    lost[0] = True
    assert usable_rates(links, lost, switch_parts(links)).sum() == (5 * 4 * 2 - 2) * LINK


def without(links: FabricLinks, row: int) -> FabricLinks:
    return links.take(np.arange(len(links)) != row)


@pytest.mark.parametrize("topology", ["rail-optimized", "fat-tree"])
@pytest.mark.parametrize("tiers", [2, 3])
def test_one_missing_link_between_switches_makes_bundles_unequal(topology: str, tiers: int) -> None:
    switch = {"ports": 16, "rate": "400 Gb/s"}
    links = fabric_links(designed(16, topology=topology, switch=switch, tiers=tiers), 0)
    assert has_equal_bundles(links)
    assert has_equal_bundles(without(links, 0))
    assert not has_equal_bundles(without(links, len(links) - 1))
    assert not has_equal_bundles(without(links, int(np.flatnonzero(~links.at_server)[0])))


def test_bundles_are_unequal_where_spines_do_not_divide_the_uplinks() -> None:
    more = {"leaf": {"ports_down": 32, "ports_up": 32}, "spine": {"count": 9}}
    assert not has_equal_bundles(
        fabric_links(designed(64, topology="leaf-spine", switch="qm9790", **more), 0)
    )


def test_the_worst_ratio_of_a_tier() -> None:
    links = fabric_links(designed(16, topology="leaf-spine", switch="qm9790", oversubscription="3:1"), 0)
    assert worst_ratio(links, 1) == pytest.approx(3, rel=0.1)
    assert worst_ratio(links, 2) == 1
    up = np.flatnonzero(~links.at_server & (links.lower == links.lower[~links.at_server][0]))
    assert worst_ratio(without(links, int(up[0])), 1) > worst_ratio(links, 1)
