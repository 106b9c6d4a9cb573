"""NetBox can import what it is given: schemas hold, and everything named is defined before it."""

import csv
import io
import json
from dataclasses import replace

import numpy as np
import pytest

from gpufabric.errors import InputError
from gpufabric.exports.netbox_types import netbox_types, slug_of

ORDER = ["sites.csv", "manufacturers.csv", "device-roles.csv", "racks.csv", "devices.csv", "cables.csv"]


def rows(text):
    return list(csv.DictReader(io.StringIO(text)))


@pytest.mark.parametrize("names", ["system", "plan"])
@pytest.mark.parametrize("which", ["small", "roce", "racks"])
def test_cables_end_on_interfaces_of_the_types_of_their_devices(
    request, which, names, written, check_schema, yaml_values
):
    source = replace(request.getfixturevalue(which), options=(("names", names),))
    files = written("netbox", source)
    assert [name for name in files if name.endswith(".csv")] == ORDER
    interfaces, types = {}, set()
    for path, text in files.items():
        if path.startswith("device-types/"):
            (value,) = yaml_values(text)
            check_schema("netbox-device-type", value)
            assert path == f"device-types/{slug_of(value['manufacturer'])}/{value['slug']}.yaml"
            listed = [one["name"] for one in value["interfaces"]]
            assert len(set(listed)) == len(listed)
            interfaces[value["manufacturer"], value["model"]] = set(listed)
            types.add(value["slug"])
    devices = {row["name"]: row for row in rows(files["devices.csv"])}
    ends = []
    for cable in rows(files["cables.csv"]):
        for side in "ab":
            device = devices[cable[f"side_{side}_device"]]
            port = cable[f"side_{side}_name"]
            assert port in interfaces[device["manufacturer"], device["device_type"]]
            ends.append((device["name"], port))
    assert len(set(ends)) == len(ends) == 2 * len(source.cluster.links)


def test_devices_stand_in_racks_roles_and_a_site_that_are_defined(small, written):
    files = written("netbox", small)
    known = {
        key: {row["name"] for row in rows(files[f"{name}.csv"])}
        for key, name in (
            ("site", "sites"),
            ("manufacturer", "manufacturers"),
            ("role", "device-roles"),
            ("rack", "racks"),
        )
    }
    heights = {row["name"]: int(row["u_height"]) for row in rows(files["racks.csv"])}
    for row in rows(files["devices.csv"]):
        assert all(row[key] in names for key, names in known.items())
        assert 1 <= int(row["position"]) <= heights[row["rack"]]


def test_a_breakout_has_one_label_for_all_its_links(roce, written):
    cables = rows(written("netbox", roce)["cables.csv"])
    assert {row["label"] for row in cables} == {
        str(value) for value in set(roce.cluster.links.assembly.tolist())
    }
    assert {row["length_unit"] for row in cables} == {"m"}


def test_roles_that_split_a_cage_differently_are_types_of_their_own(source_of, written):
    source = source_of(
        "servers: {model: hgx-h100, count: 64}\n"
        "fabrics: [{name: compute, topology: leaf-spine, switch: sn5600, uplink_rate: 800 Gb/s}]\n"
    )
    paths = [path for path in written("netbox", source) if "sn5600" in path]
    assert paths == [
        f"device-types/nvidia/nvidia-spectrum-4-sn5600-{role}.yaml" for role in ("leaf", "spine")
    ]


def test_management_ports_are_for_management(source_of, written, yaml_values):
    source = source_of(
        "servers: {model: dgx-h100, count: 2}\nfabrics:\n"
        "  - {name: compute, topology: single-switch, switch: qm9790}\n"
        "  - {name: oob, purpose: out-of-band, topology: leaf-spine, switch: sn2201}\n"
    )
    files = written("netbox", source)
    (server,) = yaml_values(next(text for path, text in files.items() if "dgx-h100" in path))
    assert server["interfaces"][0] == {"name": "eth0", "type": "1000base-t", "mgmt_only": True}
    assert any(row["side_a_name"] == "eth0" for row in rows(files["cables.csv"]))


def test_of_a_fabric_as_found_only_the_cables_are_known(as_found, written):
    files = written("netbox", as_found)
    assert list(files) == ["cables.csv"]
    assert len(rows(files["cables.csv"])) == len(as_found.cluster.links)


def test_a_height_that_nobody_knows_is_not_made_up(small):
    from gpufabric.exports.netbox_interfaces import netbox_port_names
    from gpufabric.records.part_set import PartSet

    bare = replace(small, parts=PartSet({}, {}, {}), floor_plan=None)
    with pytest.raises(InputError, match="the height of a device is unknown"):
        netbox_types(bare, np.arange(6), netbox_port_names(bare))


def test_texts_of_parts_can_not_break_the_yaml(small, written, yaml_values):
    part = small.parts.switches["qm9790"].model_copy(update={"description": 'a": [b\n# c', "model": "x: y"})
    parts = replace(small.parts, switches={"qm9790": part})
    files = written("netbox", replace(small, parts=parts))
    (value,) = yaml_values(next(text for path, text in files.items() if "x-y" in path))
    assert (value["model"], value["description"]) == ("x: y", 'a": [b\n# c')
    assert json.dumps(value)
