"""Addresses and routes of servers, and the table of all addresses."""

import csv
import io
import shutil
import subprocess

import pytest
from ruamel.yaml import YAML

from gpufabric.errors import InputError
from gpufabric.exports import EXPORTS

RAILS = """
name: rails
servers: {model: {gpus: 4, nics: 4, nic_rate: 100 Gb/s}, count: 8}
fabrics:
  - {name: gpu, topology: rail-optimized, unit_servers: 4, switch: {ports: 8, rate: 100 Gb/s, network: ethernet}}
"""


def written(name, source):
    return {file.path: b"".join(file.pieces).decode() for file in EXPORTS[name].write(source)}


def test_netplan_has_a_table_for_every_nic(source_of):
    files = written("hosts", source_of(RAILS))
    assert len(files) == 8
    ethernets = YAML(typ="safe").load(files["su01-srv01/60-fabric.yaml"])["network"]["ethernets"]
    assert list(ethernets) == ["eth1", "eth2", "eth3", "eth4"]
    tables = [one["routing-policy"][0]["table"] for one in ethernets.values()]
    assert tables == [101, 102, 103, 104]
    for one in ethernets.values():
        address = one["addresses"][0].split("/")[0]
        assert one["routing-policy"][0]["from"] == address
        assert one["routes"][-1]["table"] == one["routing-policy"][0]["table"]
        assert all("default" not in route["to"] and route["to"] != "0.0.0.0/0" for route in one["routes"])
    metrics = [one["routes"][0]["metric"] for one in ethernets.values()]
    assert len(set(metrics)) == len(metrics)


def test_networkd_has_a_file_an_interface(source_of):
    files = written("hosts", source_of(RAILS, options=(("style", "networkd"), ("interfaces", "a0,a1,a2,a3"))))
    assert len(files) == 32
    text = files["su01-srv01/10-a2.network"]
    assert "Name=a2\n" in text
    assert text.count("[RoutingPolicyRule]") == 1
    assert text.count("[Route]") == 3


def test_the_script_is_one_for_a_shell(source_of):
    files = written("hosts", source_of(RAILS, options=(("style", "script"), ("mtu", "4200"))))
    script = files["su01-srv01/fabric-addresses.sh"]
    assert script.count("\nport eth") == 4
    assert "mtu 4200" in script
    assert subprocess.run([shutil.which("sh"), "-n"], input=script.encode(), check=False).returncode == 0


@pytest.mark.parametrize(
    "option", [("interfaces", "eth0; reboot"), ("interfaces", "a,a"), ("mtu", "64"), ("mtu", "9k"), ("style", "x")]
)  # fmt: skip
def test_wrong_choices_are_refused(source_of, option):
    with pytest.raises(InputError, match="--set"):
        written("hosts", source_of(RAILS, options=(option,)))


def test_the_table_has_both_ends_of_every_link(source_of):
    source = source_of(RAILS)
    rows = list(csv.DictReader(io.StringIO(written("addresses", source)["addresses.csv"])))
    ends = {(row["device"], row["interface"]): row for row in rows}
    assert len(ends) == len(rows)
    links = [row for row in rows if row["interface"] != "lo"]
    assert len(links) == 2 * len(source.cluster.links)
    for row in links:
        other = ends[row["peer"], row["peer_interface"]]
        assert (other["peer"], other["peer_interface"]) == (row["device"], row["interface"])
        assert other["address"] == row["peer_address"]
    assert {row["domain"] for row in rows} == {"1"}


def test_a_name_that_is_no_host_name_is_refused(source_of):
    from dataclasses import replace

    source = source_of(RAILS)
    count = len(source.cluster.devices)
    names = ("../../etc", *(f"d{number}" for number in range(count - 1)))
    cluster = replace(source.cluster, devices=replace(source.cluster.devices, names=names))
    with pytest.raises(InputError, match="is no host name"):
        written("frr", replace(source, cluster=cluster))
    names = tuple("same" for _ in range(count))
    cluster = replace(source.cluster, devices=replace(source.cluster.devices, names=names))
    with pytest.raises(InputError, match="two devices have this name"):
        written("frr", replace(source, cluster=cluster))
