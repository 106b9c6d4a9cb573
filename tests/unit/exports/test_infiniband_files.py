"""ibsim, ibnetdiscover, OpenSM and UFM files hold the designed wiring."""

import re
from dataclasses import replace

import pytest

from gpufabric.errors import InputError
from gpufabric.formats import ibsim_netlist
from gpufabric.formats.recognise_fabric import read_fabric
from gpufabric.jobs.built_designs import designed_by_file
from gpufabric.jobs.check_wiring import WiringDesign, check_wiring

SECTION = re.compile(r"(\S+) (\S+)")
CABLE = re.compile(r"\tP(\d+) -4x-(25|50|100|200)G-> (\S+) (\S+) (\S+)")


def test_ibsim_reads_back_the_same_subnet(small, tmp_path, written, designed_pairs):
    path = tmp_path / "ibsim.net"
    path.write_text(written("ibsim", small)["ibsim.net"], encoding="ascii")
    subnet = ibsim_netlist.read(path)
    names = [name.split(":")[0] for name in subnet.names]
    pairs = sorted(tuple(sorted((names[a], names[b]))) for a, b in subnet.link_node.tolist())
    assert pairs == designed_pairs(small)


def test_a_discovery_of_the_design_has_no_findings(small, tmp_path, written):
    path = tmp_path / "ibnetdiscover.txt"
    path.write_text(written("ibnetdiscover", small)["ibnetdiscover.txt"], encoding="ascii")
    found = read_fabric(str(path))
    assert len(found.cluster.links) == len(small.cluster.links)
    checked = check_wiring(WiringDesign(small.cluster, "description", small.parts, None, {}), [found])
    assert checked.check.findings == ()
    assert checked.check.match.links_as_designed == len(small.cluster.links)
    assert len(designed_by_file(str(path)).cluster.links) == len(small.cluster.links)


def test_rails_that_no_switch_joins_are_files_of_their_own(source_of, written):
    source = source_of(
        "servers: {model: dgx-h100, count: 4}\n"
        "fabrics: [{name: compute, topology: rail-only, switch: qm9790}]\n"
    )
    assert list(written("ibsim", source)) == [f"ibsim-subnet{n}.net" for n in range(1, 9)]


def test_opensm_is_told_the_highest_switches_and_all_names(small, written, tmp_path):
    files = written("opensm-maps", small)
    path = tmp_path / "ibsim.net"
    path.write_text(written("ibsim", small)["ibsim.net"], encoding="ascii")
    subnet = ibsim_netlist.read(path)
    name_of = dict(zip(subnet.guid.tolist(), subnet.names, strict=True))
    roots = [name_of[int(line, 16)] for line in files["root_guids.conf"].splitlines()]
    assert roots == [name for name in subnet.names if name.startswith("spine")]
    lines = [
        re.fullmatch(r'0x([0-9a-f]{16}) "([^"]+)"', line) for line in files["node-name-map"].splitlines()
    ]
    assert {int(m[1], 16) for m in lines} == set(name_of)
    assert "su01-srv01 mlx5_0" in {m[2] for m in lines}


def test_guids_of_a_fabric_as_found_are_its_own(as_found, written):
    files = written("opensm-maps", as_found)
    names = as_found.cluster.devices.names
    spines = [row for row, name in enumerate(names) if name.startswith("spine")]
    assert [int(line, 16) for line in files["root_guids.conf"].splitlines()] == as_found.found.device_guid[
        spines
    ].tolist()
    assert (
        f'0x{int(as_found.found.device_guid[spines[0]]):016x} "{names[spines[0]]}"' in files["node-name-map"]
    )


def test_without_guids_opensm_can_not_be_told_anything(as_found, written):
    found = replace(as_found.found, device_guid=as_found.found.device_guid * 0)
    with pytest.raises(InputError, match="have no GUIDs of the root switches"):
        written("opensm-maps", replace(as_found, found=found))


def test_ufm_sections_hold_every_cable_of_a_switch(small, written, designed_pairs):
    here, pairs, both = "", [], 0
    for line in written("ufm", small)["fabric.topo"].splitlines():
        if cable := CABLE.fullmatch(line):
            assert cable[2] == "100"
            to_server = cable[3].startswith("HCA_")
            assert re.fullmatch(r"mlx5_\d+/P1" if to_server else r"P\d+", cable[5])
            pairs.append(tuple(sorted((here, cable[4]))))
            both += not to_server
        elif line:
            kind, here = SECTION.fullmatch(line).groups()
            assert kind == "MQM9790"
    designed = designed_pairs(small)
    between = [pair for pair in designed if not any("srv" in name for name in pair)]
    assert both == 2 * len(between)
    assert sorted(pairs) == sorted([*designed, *between])


@pytest.mark.parametrize("target", ["ufm", "ibsim", "ibnetdiscover", "opensm-maps"])
def test_names_that_would_break_a_file_are_refused(as_found, written, target):
    names = ('a"b', *as_found.cluster.devices.names[1:])
    cluster = replace(as_found.cluster, devices=replace(as_found.cluster.devices, names=names))
    with pytest.raises(InputError, match="can't be named"):
        written(target, replace(as_found, cluster=cluster))
