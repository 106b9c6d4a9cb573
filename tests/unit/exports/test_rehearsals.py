"""containerlab, Air and PTM: files fit their schemas, and our own readers find the designed wiring in them."""

import json
from dataclasses import replace

import pytest

from gpufabric.errors import InputError


def test_containerlab_holds_the_wiring(
    roce, written, check_schema, yaml_values, joined_pairs, designed_pairs
):
    files = written("containerlab", roce)
    assert list(files) == ["roce.clab.yml"]
    (value,) = yaml_values(files["roce.clab.yml"])
    check_schema("containerlab", value)
    assert joined_pairs(files["roce.clab.yml"]) == designed_pairs(roce)
    ends = [end for link in value["topology"]["links"] for end in link["endpoints"]]
    assert len(set(ends)) == len(ends)


def test_containerlab_can_start_sonic(roce, written, yaml_values):
    chosen = replace(roce, options=(("kind", "sonic-vs"), ("image", "my/sonic:1"), ("host-image", "h:2")))
    (value,) = yaml_values(written("containerlab", chosen)["roce.clab.yml"])
    kinds = {name: (node["kind"], node["image"]) for name, node in value["topology"]["nodes"].items()}
    assert kinds["srv01"] == ("linux", "h:2")
    assert kinds["leaf-01"] == ("sonic-vs", "my/sonic:1")
    ends = [end for link in value["topology"]["links"] for end in link["endpoints"]]
    assert all(end.partition(":")[2].startswith("eth") for end in ends)


def test_containerlab_calls_ports_as_the_frr_configuration_does(roce, written, yaml_values):
    (value,) = yaml_values(written("containerlab", roce)["roce.clab.yml"])
    ends = [end for link in value["topology"]["links"] for end in link["endpoints"]]
    configuration = next(text for path, text in written("frr", roce).items() if "leaf-01" in path)
    own = {end.partition(":")[2] for end in ends if end.startswith("leaf-01:")}
    assert own
    assert all(f"interface {name}\n" in configuration for name in own)


@pytest.mark.parametrize(("option", "target"), [("image", "containerlab"), ("os", "air")])
def test_an_image_that_would_break_the_file_is_refused(roce, written, option, target):
    with pytest.raises(InputError, match=r'image "a\\": 1" can\'t|image "a.: 1"'):
        written(target, replace(roce, options=((option, 'a": 1'),)))


def test_air_holds_the_wiring(roce, written, check_schema, joined_pairs, designed_pairs):
    text = written("air", roce)["air-topology.json"]
    value = json.loads(text)
    check_schema("air", value)
    assert joined_pairs(text) == designed_pairs(roce)
    ports = {end["interface"] for link in value["content"]["links"] for end in link}
    assert {"swp1s0", "eth1"} <= ports


def test_air_calls_the_ports_of_sonic_as_its_machines_do(roce, written):
    text = written("air", replace(roce, options=(("os", "sonic-vs-202305"),)))["air-topology.json"]
    links = json.loads(text)["content"]["links"]
    assert all(end["interface"].startswith("eth") for link in links for end in link)


def test_ptm_holds_the_wiring(roce, written, joined_pairs, designed_pairs):
    text = written("ptm", roce)["topology.dot"]
    assert joined_pairs(text) == designed_pairs(roce)
    assert '"srv01":"eth1" -- "leaf-01":"swp1s0";' in text


@pytest.mark.parametrize("target", ["containerlab", "air", "ptm"])
def test_names_that_are_no_host_names_are_refused(roce, written, target):
    names = ("a b", *(f"n{row}" for row in range(1, len(roce.cluster.devices))))
    cluster = replace(roce.cluster, devices=replace(roce.cluster.devices, names=names))
    with pytest.raises(InputError, match=rf'{target}: device "a b" can\'t be named like this'):
        written(target, replace(roce, cluster=cluster))
