"""Without a design, what most devices have in common counts as meant."""

from __future__ import annotations

import io

import numpy as np
import pytest

from gpufabric.formats.cluster_yaml import parse_cluster_spec
from gpufabric.formats.recognise_fabric import read_fabric
from gpufabric.jobs.faults import FaultsOptions, faults
from gpufabric.recognition.infer_design import infer_design
from gpufabric.recognition.recognise_roles import with_roles
from gpufabric.records.cluster import Role

SPEC = (
    "name: c\nservers: {{model: dgx-h100, count: {servers}}}\n"
    "fabrics: [{{name: compute, topology: {topology}, switch: qm9790{more}}}]\n"
)


def built(
    inject=("random:0",),
    form="ibnetdiscover",
    servers=24,
    topology="rail-optimized",
    more=", unit_servers: 8",
):
    spec = parse_cluster_spec(SPEC.format(servers=servers, topology=topology, more=more), "c.yaml")
    text = faults(spec, FaultsOptions(tuple(inject), 3, form)).text
    return with_roles(read_fabric(io.BytesIO(text.encode()), "built.txt"))


@pytest.mark.parametrize("form", ["ibnetdiscover", "lldp", "csv"])
def test_a_clean_fabric_is_recognised_with_certainty(form):
    inferred = infer_design(built(form=form))
    facts = dict(inferred.facts)
    assert inferred.findings == ()
    assert inferred.certainty == 1.0
    assert facts["units"] == "3 of 8 servers"
    assert facts["rails"].startswith("8 a unit (100.0%")
    assert (facts["servers"], facts["leaf switches"], facts["tiers"]) == ("24", "24", "2")


@pytest.mark.slow
def test_three_tiers_get_their_roles():
    cluster = built(servers=256, topology="fat-tree", more=", tiers: 3")
    roles = np.bincount(cluster.devices.role)
    assert roles[Role.SERVER] == 256
    assert (roles[Role.LEAF :][:3] > 0).all()
    assert infer_design(cluster).findings == ()


def test_cables_off_their_rail_are_found():
    inferred = infer_design(built(["shifted-server"]))
    assert {finding.rule for finding in inferred.findings} == {"built-off-rail"}
    assert len(inferred.findings) == 8
    assert 0 < inferred.findings[0].confidence < 1
    assert inferred.findings[0].where.startswith("built.txt:")


@pytest.mark.parametrize(
    ("mistake", "rules"),
    [
        ("wrong-rate", {"built-wrong-rate"}),
        ("missing-link", {"built-missing-link", "built-missing-uplinks", "built-unequal-groups"}),
        ("foreign-device", {"built-foreign-device"}),
    ],
)
def test_single_mistakes_show(mistake, rules):
    found = {finding.rule for finding in infer_design(built([mistake])).findings}
    assert found
    assert found <= rules


def listed(bundles):
    """A list of two servers on each leaf and of bundles of uplinks: (leaf, spine, links)."""
    rows, used = ["from_device,from_port,to_device,to_port"], {}
    for leaf in sorted({leaf for leaf, _, _ in bundles}):
        rows += [f"{leaf}-srv{at},nic0,{leaf},{at + 1}" for at in range(2)]
    for leaf, spine, count in bundles:
        for _ in range(count):
            ports = [used.setdefault(device, 10) for device in (leaf, spine)]
            used[leaf], used[spine] = ports[0] + 1, ports[1] + 1
            rows.append(f"{leaf},{ports[0]},{spine},{ports[1]}")
    return with_roles(read_fabric(io.BytesIO("\n".join(rows).encode()), "list.csv"))


def test_leaves_that_lack_whole_groups_of_uplinks_are_named():
    """A spine that one leaf has a whole group to is meant for its peers too."""
    whole = [(f"leaf{a}", f"spine{b}", 2) for a in range(1, 4) for b in range(1, 7)]
    lost = {("leaf1", "spine1"), ("leaf2", "spine1"), ("leaf1", "spine4")}
    inferred = infer_design(listed([bundle for bundle in whole if bundle[:2] not in lost]))
    found = {finding.where: (finding.rule, finding.found, finding.expected) for finding in inferred.findings}
    assert found == {
        "leaf1": ("built-missing-uplinks", "8 links", "12 links"),
        "leaf2": ("built-missing-uplinks", "10 links", "12 links"),
    }
    assert "2 to spine4, 2 to spine1" in inferred.findings[0].message


def test_a_stray_uplink_makes_two_groups_unequal():
    whole = [(f"leaf{a}", f"spine{b}", 2) for a in range(1, 5) for b in range(1, 4)]
    whole[0], whole[1] = ("leaf1", "spine1", 1), ("leaf1", "spine2", 3)
    inferred = infer_design(listed(whole))
    assert [finding.rule for finding in inferred.findings] == ["built-unequal-groups"] * 2
    assert [finding.found for finding in inferred.findings] == ["1 link", "3 links"]
    assert inferred.links_agreeing == inferred.links - 1
