"""What stands in frr.conf, and that both ends of a link agree."""

import re

import pytest

from gpufabric.errors import InputError
from gpufabric.exports import EXPORTS

PLANES = """
name: planes
servers: {model: {gpus: 2, nics: 2, nic_ports: 2, nic_rate: 100 Gb/s}, count: 8}
fabrics:
  - {name: gpu, topology: multi-plane, switch: {ports: 8, rate: 100 Gb/s, network: ethernet}}
"""


def configurations(source):
    return {file.path: b"".join(file.pieces).decode() for file in EXPORTS["frr"].write(source)}


def test_unnumbered_sessions_by_interface(source_of):
    source = source_of(PLANES)
    written = configurations(source)
    switches = int((source.cluster.devices.kind == 1).sum())
    assert len(written) == switches
    leaf = written["leaf-p1-01/frr.conf"]
    for line in (
        "frr defaults datacenter",
        "hostname leaf-p1-01",
        " bgp bestpath as-path multipath-relax",
        "  redistribute connected route-map LOCAL",
    ):
        assert line in leaf.splitlines()
    ups = re.findall(r"^ neighbor (\S+) interface peer-group FABRIC$", leaf, re.MULTILINE)
    assert f"  maximum-paths {len(ups)}" in leaf
    assert len(ups) > 1
    described = re.findall(r"^interface (\S+)\n description (\S+) \S+$", leaf, re.MULTILINE)
    assert {name for name, peer in described if peer.startswith("spine")} == set(ups)
    block = re.search(r"aggregate-address (\S+) summary-only", leaf).group(1)
    assert f"ip prefix-list LOCAL seq 5 permit {block} ge 31" in leaf
    spine = written["spine-p1-01/frr.conf"]
    assert "aggregate-address" not in spine
    assert "allowas-in" not in leaf + spine


def test_planes_never_meet(source_of):
    for path, text in configurations(source_of(PLANES)).items():
        plane = path.split("-")[1]
        peers = {peer for peer in re.findall(r"description (\S+)", text) if not peer.startswith("srv")}
        assert {peer.split("-")[1] for peer in peers} == {plane}


def test_numbered_neighbours_have_each_others_address(source_of):
    written = configurations(source_of(PLANES, options=(("links", "numbered"), ("bfd", "on"))))
    owner = {}
    for path, text in written.items():
        assert " neighbor FABRIC bfd" in text.splitlines()
        for address in re.findall(r"^ ip address (\S+)/31$", text, re.MULTILINE):
            assert address not in owner
            owner[address] = path.split("/")[0]
    sessions = 0
    for path, text in written.items():
        for address, name in re.findall(r"^ neighbor (\d\S+) description (\S+)$", text, re.MULTILINE):
            assert owner[address] == name
            assert path.split("/")[0] in re.findall(r"description (\S+)", written[f"{name}/frr.conf"])
            sessions += 1
    assert sessions == 2 * sum("leaf" in p and 4 for p in written)


def test_numbers_that_are_used_again_are_let_in(source_of, monkeypatch):
    monkeypatch.setattr("gpufabric.exports.plan_addresses._TWO_BYTES_LAST", 64512 + 8)
    text = """
name: pods
servers: {model: {gpus: 2, nics: 2, nic_rate: 100 Gb/s}, count: 24}
fabrics: {name: gpu, topology: fat-tree, tiers: 3, switch: {ports: 8, rate: 100 Gb/s, network: ethernet}}
"""
    written = configurations(source_of(text, options=(("asn", "2-byte"),)))
    with_it = {
        path for path, page in written.items() if "  neighbor FABRIC allowas-in 1" in page.splitlines()
    }
    assert with_it == {path for path in written if path.startswith("leaf")}


@pytest.mark.parametrize("options", [(("links", "nubered"),), (("asn", "3-byte"),), (("pool", "x"),)])
def test_a_wrong_choice_is_refused(source_of, options):
    with pytest.raises(InputError, match="--set"):
        configurations(source_of(PLANES, options=options))
