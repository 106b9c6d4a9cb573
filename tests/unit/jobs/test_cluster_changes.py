"""What is kept, moved, added and removed between two wirings."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpufabric.catalog.load import load_catalog
from gpufabric.jobs.cluster_changes import cluster_changes
from gpufabric.records.cluster import Cluster
from gpufabric.records.cluster_spec import ClusterSpec
from gpufabric.records.names import device_names, port_names
from gpufabric.topologies import build_cluster

CATALOG = load_catalog()


def wired(count=8, **fabric) -> Cluster:
    spec = ClusterSpec.model_validate(
        {
            "servers": {"model": "dgx-h100", "count": count},
            "fabrics": {"topology": "rail-optimized", "switch": "qm9790", "unit_servers": 8, **fabric},
        }
    )
    return build_cluster(spec, CATALOG)


def as_found(cluster: Cluster) -> Cluster:
    """Return the same cluster as a reader of a live fabric would give it: with names and without order."""
    return replace(
        cluster,
        devices=replace(cluster.devices, names=tuple(device_names(cluster).tolist())),
        ports=replace(cluster.ports, names=tuple(port_names(cluster).tolist())),
    )


def swapped(cluster: Cluster, one: int, other: int) -> Cluster:
    """Return *cluster* with the upper ends of two links exchanged."""
    port_b = cluster.links.port_b.copy()
    port_b[[one, other]] = port_b[[other, one]]
    return replace(cluster, links=replace(cluster.links, port_b=port_b))


def test_nothing_changes_between_equal_wirings():
    cluster = wired()
    changes = cluster_changes(cluster, cluster)
    assert changes.links.kept == len(cluster.links)
    assert changes.cables.kept == len(cluster.assemblies)
    assert changes.devices.kept == len(cluster.devices)
    assert (changes.links.moved, changes.links.added, changes.links.removed) == (0, 0, 0)
    assert changes.relabelled == changes.replaced == changes.links_moved == ()


@settings(max_examples=30, deadline=None)
@given(st.data())
def test_two_exchanged_cables_are_two_moves_designed_or_found(data):
    cluster = wired()
    one, other = data.draw(
        st.lists(st.integers(0, len(cluster.links) - 1), min_size=2, max_size=2, unique=True)
    )
    new = swapped(cluster, one, other)
    for old, now in ((cluster, new), (as_found(cluster), new), (as_found(cluster), as_found(new))):
        changes = cluster_changes(old, now)
        assert (changes.links.moved, changes.links.kept) == (2, len(cluster.links) - 2)
        assert changes.cables.moved == 2
        assert {(m.old_a, m.old_b) for m in changes.links_moved} != {
            (m.new_a, m.new_b) for m in changes.links_moved
        }


def test_the_order_of_rows_means_nothing():
    cluster = wired()
    order = np.random.default_rng(3).permutation(len(cluster.links))
    links = cluster.links
    shuffled = replace(
        cluster,
        links=replace(
            links,
            port_a=links.port_b[order],
            port_b=links.port_a[order],
            bytes_per_s=links.bytes_per_s[order],
            assembly=links.assembly[order],
        ),
    )
    assert cluster_changes(cluster, shuffled).links.kept == len(links)


def test_more_servers_are_added_and_fewer_removed():
    few, many = wired(8), wired(16)
    there, back = cluster_changes(few, many), cluster_changes(many, few)
    assert there.links.added == back.links.removed
    assert there.links.moved == back.links.moved
    assert there.cables.added == back.cables.removed
    assert there.devices_added == back.devices_removed
    assert "su02-srv01" in there.devices_added
    assert len(there.links_added) == there.links.added


def test_another_switch_model_is_a_replacement():
    changes = cluster_changes(wired(), wired(switch="qm9700"))
    assert changes.devices.moved == len(changes.replaced) == 9
    assert changes.replaced[0][1:] == ("qm9790", "qm9700")
    assert (changes.links.moved, changes.links.removed, changes.links.added) == (0, 0, 0)


def test_a_rate_that_changes_is_a_move():
    cluster = wired()
    rates = cluster.links.bytes_per_s.copy()
    rates[5] /= 2
    changes = cluster_changes(cluster, replace(cluster, links=replace(cluster.links, bytes_per_s=rates)))
    assert (changes.links.moved, changes.links.kept) == (1, len(cluster.links) - 1)


@pytest.mark.slow
@pytest.mark.parametrize("units", [9, 12])
def test_labels_with_room_to_grow_stay_and_others_are_relabelled_not_moved(units):
    large = wired(8 * 120)
    kept = cluster_changes(wired(8 * units, grow_to_units=120), large)
    assert (kept.links.moved, kept.relabelled) == (0, ())
    assert ("su01-srv01", "su001-srv01") in cluster_changes(wired(8 * units), large).relabelled
