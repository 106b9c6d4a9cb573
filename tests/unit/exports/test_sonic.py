"""config_db.json against the facts of SONiC's YANG models, re-expressed as a JSON Schema.

From sonic-buildimage, src/sonic-yang-models/yang-models (https://github.com/sonic-net/sonic-buildimage, read 2026-12):
sonic-port, sonic-device_metadata, sonic-interface, sonic-loopback-interface, sonic-bgp-neighbor, sonic-bgp-common,
sonic-static-route, sonic-device_neighbor, sonic-dscp-tc-map, sonic-tc-queue-map, sonic-tc-priority-group-map,
sonic-pfc-priority-queue-map, sonic-scheduler, sonic-wred-profile, sonic-queue, sonic-port-qos-map, sonic-cable-length.
References between tables (leafref) are checked by hand below.
"""

import json

import jsonschema
import pytest

from gpufabric.errors import InputError
from gpufabric.exports import EXPORTS

TWO_TIERS = """
name: roce
servers: {model: hgx-h100, count: 16}
fabrics:
  - {name: compute, topology: leaf-spine, network: ethernet, switch: sn5600, link_rate: 400 Gb/s, leaf: {ports_down: 64}}
room: {rack_power: 50 kW, racks_per_row: 10}
"""
NAME = "^[a-zA-Z0-9][-a-zA-Z0-9_]{0,31}$"
ADDRESS = r"(\d{1,3}\.){3}\d{1,3}"
CLASS = {"type": "string", "pattern": "^[0-7]$"}


def number(least, most):
    return {
        "type": "string",
        "pattern": r"^\d+$",
        "not": {"pattern": "^0[0-9]"},
        "maxLength": len(str(most)),
        "minLength": len(str(least)),
    }


def closed(required=(), **properties):
    return {
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
    }


def listed(key, inside):
    return {
        "type": "object",
        "minProperties": 1,
        "patternProperties": {key: inside},
        "additionalProperties": False,
    }


PORT = r"^Ethernet\d+$"
THRESHOLDS = {
    f"{c}_{end}_threshold": number(0, 2**63) for c in ("green", "yellow", "red") for end in ("min", "max")
}
SCHEMA = closed(
    ["DEVICE_METADATA", "PORT", "LOOPBACK_INTERFACE", "INTERFACE", "BGP_NEIGHBOR", "PORT_QOS_MAP", "QUEUE", "WRED_PROFILE"],
    DEVICE_METADATA=closed(
        ["localhost"],
        localhost=closed(
            ["hostname", "bgp_asn", "type"],
            hostname={"type": "string", "maxLength": 63},
            hwsku={"type": "string"},
            bgp_asn=number(1, 2**32 - 1),
            bgp_router_id={"type": "string", "pattern": f"^{ADDRESS}$"},
            type={"enum": ["ToRRouter", "LeafRouter", "SpineRouter", "not-provisioned"]},
            default_bgp_status={"enum": ["up", "down"]},
            docker_routing_config_mode={"enum": ["separated", "unified", "split", "split-unified"]},
        ),
    ),
    PORT=listed(
        PORT,
        closed(
            ["lanes", "speed"],
            admin_status={"enum": ["up", "down"]},
            alias={"type": "string", "minLength": 1, "maxLength": 128},
            description={"type": "string", "maxLength": 255},
            index=number(0, 65535),
            lanes={"type": "string", "pattern": r"^\d+(,\d+)*$", "maxLength": 128},
            mtu={"type": "string", "pattern": "^([6-9][0-9]|[1-9][0-9]{2}|[1-8][0-9]{3}|9[01][0-9]{2}|92[01][0-6])$"},
            speed=number(1, 1600000),
        ),
    ),
    LOOPBACK_INTERFACE=listed(rf"^Loopback\d{{1,3}}(\|{ADDRESS}/\d+)?$", closed()),
    INTERFACE=listed(rf"^Ethernet\d+(\|{ADDRESS}/\d+)?$", closed()),
    STATIC_ROUTE=listed(
        rf"^default\|{ADDRESS}/\d+$", closed(advertise={"enum": ["true", "false"]}, blackhole={"enum": ["true", "false"]})
    ),
    BGP_NEIGHBOR=listed(
        f"^{ADDRESS}$",
        closed(
            ["asn", "local_addr"],
            asn=number(1, 2**32 - 1),
            holdtime=number(0, 65535),
            keepalive=number(0, 65535),
            local_addr={"type": "string", "pattern": f"^{ADDRESS}$"},
            name={"type": "string"},
        ),
    ),
    DEVICE_NEIGHBOR=listed("^.{1,255}$", closed(name={"type": "string"}, port={"type": "string"})),
    DEVICE_NEIGHBOR_METADATA=listed("^.{1,255}$", closed(type={"type": "string"})),
    DSCP_TO_TC_MAP=listed(NAME, listed("^(6[0-3]|[1-5][0-9]|[0-9])$", CLASS)),
    TC_TO_QUEUE_MAP=listed(NAME, listed("^[0-7]$", CLASS)),
    TC_TO_PRIORITY_GROUP_MAP=listed(NAME, listed("^[0-7]$", CLASS)),
    MAP_PFC_PRIORITY_TO_QUEUE=listed(NAME, listed("^[0-7]$", CLASS)),
    SCHEDULER=listed("^.+$", closed(type={"enum": ["DWRR", "WRR", "STRICT"]}, weight=number(1, 100))),
    WRED_PROFILE=listed(
        NAME,
        closed(
            ecn={"enum": ["ecn_none", "ecn_all", "ecn_green"]},
            **THRESHOLDS,
            **{f"wred_{c}_enable": {"enum": ["true", "false"]} for c in ("green", "yellow", "red")},
            **{f"{c}_drop_probability": number(0, 100) for c in ("green", "yellow", "red")},
        ),
    ),
    QUEUE=listed(r"^Ethernet\d+\|\d$", closed(scheduler={"type": "string"}, wred_profile={"type": "string"})),
    PORT_QOS_MAP=listed(
        r"^(global|Ethernet\d+)$",
        closed(
            **{f"{one}_map": {"type": "string"} for one in ("dscp_to_tc", "tc_to_queue", "tc_to_pg", "pfc_to_queue")},
            pfc_enable={"type": "string", "pattern": "^([0-7](,[0-7])*)?$"},
            pfcwd_sw_enable={"type": "string", "pattern": "^([0-7](,[0-7])*)?$"},
        ),
    ),
    CABLE_LENGTH=listed(NAME, listed(PORT, {"type": "string", "pattern": "^[0-9]+m$"})),
)  # fmt: skip


@pytest.fixture(scope="module")
def tables(source_of):
    source = source_of(TWO_TIERS)
    return {
        file.path.split("/")[0]: json.loads(b"".join(file.pieces)) for file in EXPORTS["sonic"].write(source)
    }


def test_every_table_is_as_its_model_says(tables):
    validator = jsonschema.Draft202012Validator(SCHEMA)
    assert len(tables) == 3
    for name, table in tables.items():
        assert [f"{name}: {error.json_path} {error.message}" for error in validator.iter_errors(table)] == []


def test_references_between_tables_hold(tables):
    for table in tables.values():
        ports = set(table["PORT"])
        assert {key.split("|")[0] for key in [*table["INTERFACE"], *table["QUEUE"]]} <= ports
        assert set(table["PORT_QOS_MAP"]) - {"global"} == ports
        local = {key.split("|")[1].split("/")[0] for key in table["INTERFACE"] if "|" in key}
        assert all(one["local_addr"] in local for one in table["BGP_NEIGHBOR"].values())
        for queue in table["QUEUE"].values():
            assert queue["scheduler"] in table["SCHEDULER"]
            assert queue.get("wred_profile", "ROCE_LOSSLESS") in table["WRED_PROFILE"]
        lanes = [lane for port in table["PORT"].values() for lane in port["lanes"].split(",")]
        assert len(lanes) == len(set(lanes))
        for name, port in table["PORT"].items():
            assert int(port["lanes"].split(",")[0]) == int(name.removeprefix("Ethernet")) + 1
        for profile in table["WRED_PROFILE"].values():
            assert int(profile["green_min_threshold"]) <= int(profile["green_max_threshold"])


def test_roce_is_lossless_and_notifications_go_first(tables):
    table = tables["leaf-01"]
    assert table["DSCP_TO_TC_MAP"]["ROCE"]["26"] == "3"
    assert table["DSCP_TO_TC_MAP"]["ROCE"]["48"] == "6"
    port = next(iter(table["PORT"]))
    assert table["PORT_QOS_MAP"][port]["pfc_enable"] == "3"
    assert table["QUEUE"][f"{port}|3"] == {"scheduler": "ROCE_LOSSLESS", "wred_profile": "ROCE_LOSSLESS"}
    assert table["SCHEDULER"][table["QUEUE"][f"{port}|6"]["scheduler"]]["type"] == "STRICT"
    assert table["PORT"][port]["speed"] == "400000"
    assert set(table["CABLE_LENGTH"]["FABRIC"]) == set(table["PORT"])


def test_both_ends_of_a_session_agree(tables):
    sessions = {
        (one["local_addr"], address): (table["DEVICE_METADATA"]["localhost"]["bgp_asn"], one["asn"])
        for table in tables.values()
        for address, one in table["BGP_NEIGHBOR"].items()
    }
    assert sessions
    assert all(sessions[there, here] == asns[::-1] for (here, there), asns in sessions.items())


def test_a_model_with_odd_characters_is_refused(source_of):
    with pytest.raises(InputError, match="--set hwsku"):
        list(EXPORTS["sonic"].write(source_of(TWO_TIERS, options=(("hwsku", 'a"b'),))))
