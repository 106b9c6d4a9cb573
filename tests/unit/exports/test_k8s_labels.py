"""Labels that kubectl takes, with the keys that topograph writes."""

import shlex
from dataclasses import replace

import pytest

from gpufabric.errors import InputError


def test_every_server_has_its_tiers(small, written, check_schema, yaml_values):
    nodes = yaml_values(written("k8s-labels", small)["node-labels.yaml"])
    assert len(nodes) == 6
    for node in nodes:
        check_schema("k8s-node", node)
    assert nodes[2]["metadata"] == {
        "name": "su02-srv01",
        "labels": {"fabric.topograph.run/tier-0": "su02", "fabric.topograph.run/tier-1": "spine-01"},
    }


def test_racks_of_one_nvlink_domain_are_domains(racks, written, yaml_values):
    nodes = yaml_values(written("k8s-labels", racks)["node-labels.yaml"])
    domains = [node["metadata"]["labels"]["accelerator.topograph.run/domain"] for node in nodes]
    assert domains == [f"domain0{1 + row // 18}" for row in range(72)]


def test_the_script_says_the_same(small, written, yaml_values):
    script = written("k8s-labels", replace(small, options=(("form", "script"),)))["label-nodes.sh"]
    nodes = yaml_values(written("k8s-labels", small)["node-labels.yaml"])
    lines = [shlex.split(line) for line in script.splitlines()[2:]]
    assert [line[:4] for line in lines] == [["kubectl", "label", "--overwrite", "node"]] * 6
    assert [{"name": line[4], "labels": dict(pair.split("=") for pair in line[5:])} for line in lines] == [
        node["metadata"] for node in nodes
    ]


def test_names_that_kubernetes_can_not_have_are_refused(as_found, written):
    names = tuple(name.upper() for name in as_found.cluster.devices.names)
    cluster = replace(as_found.cluster, devices=replace(as_found.cluster.devices, names=names))
    with pytest.raises(InputError, match=r'kubernetes: server "SU01-SRV01" can\'t be named like this'):
        written("k8s-labels", replace(as_found, cluster=cluster))
