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
        ("foreign-device", {"built-missing-link"}),
    ],
)
def test_single_mistakes_show(mistake, rules):
    found = {finding.rule for finding in infer_design(built([mistake])).findings}
    assert found
    assert found <= rules
