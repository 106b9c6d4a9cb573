"""Rails that no switch joins, NVL72 units, and ports that act as one interface on two leaves."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gpufabric.catalog.load import load_catalog
from gpufabric.errors import UnbuildableError
from gpufabric.formats.cluster_yaml import preset_spec
from gpufabric.graphs.bisection import bisection_bytes_per_s, injection_bytes_per_s
from gpufabric.kernels.connected_components import connected_components
from gpufabric.records.cluster import Cluster, DeviceKind, Role
from gpufabric.records.cluster_spec import ClusterSpec
from gpufabric.records.names import device_names
from gpufabric.report.fabric_counts import link_counts, switch_counts
from gpufabric.topologies import build_cluster

CATALOG = load_catalog()


def build(model: Any, count: int, topology: str, switch: Any, **fabric: Any) -> Cluster:
    spec = {
        "servers": {"model": model, "count": count},
        "fabrics": {"topology": topology, "switch": switch, **fabric},
    }
    return build_cluster(ClusterSpec.model_validate(spec), CATALOG)


def dual_port(rate: str = "200 Gb/s") -> dict[str, Any]:
    return {"gpus": 8, "nics": 8, "nic_ports": 2, "nic_rate": rate}


def from_servers(cluster: Cluster) -> np.ndarray:
    return cluster.devices.kind[cluster.link_device_a] == DeviceKind.SERVER


def test_each_rail_is_one_island_of_leaves_and_spines():
    cluster = build("dgx-h100", 64, "rail-only", "qm9700", unit_servers=32)
    assert switch_counts(cluster, 0) == {"leaf": 16, "spine": 8, "core": 0}
    assert cluster.fabrics[0].planes == 8
    between = ~from_servers(cluster)
    ends = cluster.link_device_a[between], cluster.link_device_b[between]
    switches = np.flatnonzero(cluster.devices.kind == DeviceKind.SWITCH)
    assert len(np.unique(connected_components(len(cluster.devices), *ends)[switches])) == 8
    assert (cluster.devices.rail[ends[0]] == cluster.devices.rail[ends[1]]).all()
    names = set(device_names(cluster).tolist())
    assert {"leaf-p1-su01-r1", "leaf-p8-su02-r8", "spine-p3-r3"} <= names


def test_a_rail_of_few_servers_needs_one_leaf():
    cluster = build("dgx-h100", 20, "rail-only", "qm9700")
    assert switch_counts(cluster, 0) == {"leaf": 8, "spine": 0, "core": 0}
    assert bisection_bytes_per_s(cluster, 0) == pytest.approx(injection_bytes_per_s(cluster, 0) / 2)


def test_every_port_of_a_nic_on_several_planes_has_an_island_of_its_own():
    cluster = build(dual_port(), 4, "rail-only", {"ports": 64, "rate": "200 Gb/s"})
    assert cluster.fabrics[0].planes == 16


def test_rail_only_needs_rails():
    with pytest.raises(UnbuildableError, match="has no rail, so it can't be rail-only") as refusal:
        build_cluster(
            ClusterSpec.model_validate(
                {
                    "servers": {"model": "dgx-h100", "count": 4, "fabrics": {"compute": ["mlx5_7"]}},
                    "fabrics": {"topology": "rail-only", "switch": "qm9700"},
                }
            ),
            CATALOG,
        )
    assert refusal.value.nearest


def test_an_nvl72_unit_has_a_leaf_a_rack_and_rail():
    """DGX SuperPOD for GB200: 4 rail groups of 8 leaves and 6 spines; 18 trays of a rack share one NVLink domain."""
    cluster = build_cluster(preset_spec("nvl72-gb200"), CATALOG)
    assert switch_counts(cluster, 0) == {"leaf": 32, "spine": 24, "core": 0}
    down = from_servers(cluster)
    leaf, server = cluster.link_device_b[down], cluster.link_device_a[down]
    rack_of_leaf = np.unique(np.stack([leaf, cluster.gpus.domain[4 * server]]), axis=1)
    assert rack_of_leaf.shape[1] == 32
    assert (np.bincount(leaf)[np.unique(leaf)] == 18).all()


def test_sixteen_nvl72_units_get_cores_and_keep_six_spines_a_rail_and_unit():
    spec = preset_spec("nvl72-gb200")
    group = spec.servers[0].model_copy(update={"count": 16 * 144})
    cluster = build_cluster(spec.model_copy(update={"servers": (group,)}), CATALOG)
    assert len(cluster.gpus) == 9216
    assert switch_counts(cluster, 0) == {"leaf": 16 * 32, "spine": 16 * 24, "core": 144}


def test_gb300_units_have_two_leaves_a_rail():
    cluster = build_cluster(preset_spec("nvl72-gb300"), CATALOG)
    leaves = cluster.devices.role == Role.LEAF
    units, rails = cluster.devices.unit[leaves], cluster.devices.rail[leaves]
    assert (np.unique(units * 4 + rails, return_counts=True)[1] == 2).all()
    assert (np.bincount(cluster.gpus.domain) == 72).all()


def test_both_ports_of_a_nic_act_as_one_interface_in_two_planes():
    """Alibaba HPN, SIGCOMM 2024: a NIC's ports on two leaves of two planes; a pod has 15 segments of 1,024 GPUs."""
    cluster = build_cluster(preset_spec("hpn-dual-tor"), CATALOG)
    assert switch_counts(cluster, 0) == {"leaf": 240, "spine": 120, "core": 0}
    assert link_counts(cluster, 0)["server_leaf"] == 30_720
    ports, lower = cluster.ports, cluster.links.port_a[from_servers(cluster)]
    assert (ports.bond[lower] == ports.nic[lower]).all()
    first, second = lower[ports.plane[lower] == 0], lower[ports.plane[lower] == 1]
    for column in (ports.device, ports.bond, ports.rail):
        assert (np.sort(column[first]) == np.sort(column[second])).all()


def test_in_one_plane_bonded_ports_go_to_neighbouring_leaves():
    cluster = build(
        dual_port(), 40, "rail-optimized", {"ports": 64, "rate": "200 Gb/s"}, planes=1, bond="nic"
    )
    assert switch_counts(cluster, 0)["leaf"] == 2 * 8 * 2  # units of 32 servers
    down = from_servers(cluster)
    lower, leaf = cluster.links.port_a[down], cluster.devices.index[cluster.link_device_b[down]]
    order = np.lexsort((leaf, cluster.ports.nic[lower], cluster.ports.device[lower]))
    pairs = leaf[order].reshape(-1, 2)
    assert (pairs[:, 1] == pairs[:, 0] + 1).all()
    assert (pairs[:, 0] % 2 == 0).all()


def test_nics_with_one_port_among_others_are_left_out_of_a_bond():
    spec = {
        "servers": {"model": "dgx-b300-spectrum", "count": 4, "fabrics": {"x": ["nic0", "slot1-p1"]}},
        "fabrics": {"name": "x", "topology": "leaf-spine", "switch": "sn5600", "planes": 1, "bond": "nic"},
    }
    cluster = build_cluster(ClusterSpec.model_validate(spec), CATALOG)
    on_server = cluster.devices.kind[cluster.ports.device] == DeviceKind.SERVER
    assert sorted(cluster.ports.bond[on_server & (cluster.ports.device == 0)].tolist()) == [-1, 0, 0]


@pytest.mark.parametrize(
    ("model", "switch", "bond", "says"),
    [
        ("dgx-h100", "qm9700", "nic", "bond: nic needs Ethernet, this fabric is infiniband"),
        ("dgx-h100", "sn5600", "nic", "every NIC has one port in this fabric"),
        ({"gpus": 1, "nics": 1, "nic_rate": "400 Gb/s"}, "sn5600", "server", "every server has one port"),
    ],
)
def test_bonds_that_cannot_be(model: Any, switch: str, bond: str, says: str):
    with pytest.raises(UnbuildableError, match=says) as refusal:
        build(model, 4, "leaf-spine", switch, bond=bond)
    assert refusal.value.nearest
