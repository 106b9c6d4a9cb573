"""What --cut names and --cut-random draws."""

import numpy as np
import pytest

from gpufabric.errors import InputError
from gpufabric.graphs.cluster_subnet import separate_subnets
from gpufabric.jobs.lab_ib_cuts import Cuts, cut_links, cut_names, with_described
from gpufabric.records.cluster import DeviceKind
from gpufabric.records.cluster_spec import Fault


@pytest.fixture
def wired(wire):
    cluster, parts = wire(
        "{gpus: 2, nics: 2, nic_rate: 100 Gb/s}",
        8,
        "leaf-spine",
        "{ports: 8, rate: 100 Gb/s, network: infiniband}",
    )
    return cluster, separate_subnets(cluster, 0)[0], parts


def test_links_and_switches_by_name(wired):
    cluster, links, parts = wired
    link = cut_links(cluster, links, Cuts(("leaf-01 - spine-01",)), parts)
    assert cut_names(cluster, link, parts) == ("leaf-01:5 - spine-01:1", "leaf-01:6 - spine-01:2")
    assert len(cut_links(cluster, links, Cuts(("leaf-01:5",)), parts)) == 1
    spine = cut_links(cluster, links, Cuts(("spine-01", "leaf-01:5")), parts)
    assert len(spine) == 8
    assert cut_names(cluster, spine, parts)[-1] == "and 3 more"


def test_random_ones_join_switches_and_follow_the_seed(wired):
    cluster, links, parts = wired
    drawn = [cut_links(cluster, links, Cuts((), 3, seed), parts).tolist() for seed in (1, 1, 2)]
    assert drawn[0] == drawn[1] != drawn[2]
    kind = cluster.devices.kind
    rows = np.array(drawn[0])
    assert (kind[cluster.link_device_a[rows]] == DeviceKind.SWITCH).all()
    assert (kind[cluster.link_device_b[rows]] == DeviceKind.SWITCH).all()
    with pytest.raises(InputError, match="--cut-random: 17 is too many; 16 links join switches"):
        cut_links(cluster, links, Cuts((), 17), parts)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("spine-9", 'device "spine-9" is not in the cluster'),
        ("srv01", "is no switch; name a switch, or a link"),
        ("leaf-01 - leaf-02", "no link joins the two"),
    ],
)
def test_what_is_not_there_is_refused(wired, name, message):
    cluster, links, parts = wired
    with pytest.raises(InputError, match=message):
        cut_links(cluster, links, Cuts((name,)), parts)


def test_another_subnet_is_refused(wired):
    cluster, links, parts = wired
    with pytest.raises(InputError, match="is not in this subnet"):
        cut_links(cluster, links[:1], Cuts(("spine-01",)), parts)


def test_faults_of_the_description_are_cut_as_well():
    faults = [Fault(kind="switch-down", where="spine-01"), Fault(kind="rail-down", where="rail:1")]
    cuts, notes = with_described(Cuts(("leaf-01:5",)), faults)
    assert cuts.named == ("spine-01", "leaf-01:5")
    assert notes == (
        "faults of the description that are left out: rail-down; ibsim has links and switches only",
    )
    assert not Cuts()
    assert cuts
