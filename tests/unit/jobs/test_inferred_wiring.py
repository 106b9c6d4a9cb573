"""Without a design: what most devices have in common is the design, and mistakes are diagnosed and mended as with one."""

from __future__ import annotations

import io
import re
from functools import cache

import pytest

from gpufabric.formats.cluster_yaml import parse_cluster_spec
from gpufabric.formats.recognise_fabric import read_fabric
from gpufabric.jobs.built_designs import inferred_design
from gpufabric.jobs.check_wiring import check_wiring
from gpufabric.jobs.faults import FaultsOptions, faults

FORMS = ("ibnetdiscover", "lldp", "csv")


@cache
def spec(topology, servers):
    return parse_cluster_spec(
        f"name: c\nservers: {{model: dgx-h100, count: {servers}}}\n"
        f"fabrics: [{{name: compute, topology: {topology}, switch: qm9790, unit_servers: 8}}]\n",
        "c.yaml",
    )


def checked(inject, form, topology="rail-optimized", servers=24, seed=3, rename=None):
    made = faults(spec(topology, servers), FaultsOptions(inject, seed, form))
    text = made.text if rename is None else rename(made.text)
    found = read_fabric(io.BytesIO(text.encode()), "built.txt")
    seen = inferred_design(found)
    result = check_wiring(seen.design, [found], None, seen.match)
    return made, result, seen


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("servers", [8, 15, 24])
def test_a_clean_fabric_has_no_finding(form, servers):
    _, result, seen = checked(("random:0",), form, servers=servers)
    assert result.check.findings == result.check.repairs == seen.inferred.findings == ()


@pytest.mark.parametrize("form", FORMS)
def test_a_shifted_server_is_one_finding_with_repairs(form):
    _, result, seen = checked(("shifted-server",), form)
    assert [fault.kind for fault in result.faults] == ["shifted-server"]
    assert seen.inferred.findings == ()
    assert [step.action for step in result.check.repairs] == ["hold", *["move"] * 8]
    assert 0 < result.faults[0].confidence < 1


@pytest.mark.parametrize("form", FORMS)
def test_a_server_missing_between_others_is_named(form):
    made, result, seen = checked(("missing-device",), form, seed=5)
    (mistake,) = made.mistakes
    assert [(fault.kind, fault.devices) for fault in result.faults] == [("missing-device", mistake.devices)]
    assert seen.inferred.findings == ()


def test_a_wrong_rate_and_a_wrong_part_are_found():
    made, result, _ = checked(("wrong-rate", "wrong-cable:2"), "csv")
    assert sorted(fault.kind for fault in result.faults) == sorted(m.kind for m in made.mistakes)


@pytest.mark.parametrize("form", FORMS)
def test_servers_of_two_rails_that_are_swapped_are_a_pair(form):
    """Two servers of one unit whose cables were exchanged on two rails."""
    made, result, _ = checked(("swapped-pair",), form, servers=16, seed=1)
    (mistake,) = made.mistakes
    if result.faults:
        assert [fault.kind for fault in result.faults] == ["swapped-pair"]
        assert len(set(result.faults[0].links)) == len(mistake.links)


def test_names_without_any_meaning_change_nothing():
    def rename(text):
        names = {}
        return re.sub(
            r"su\d\d-srv\d\d|leaf-su\d\d-r\d|spine-\d\d",
            lambda hit: names.setdefault(hit[0], f"z{len(names) * 7919 % 100003:05d}"),
            text,
        )

    _, result, _ = checked(("shifted-server",), "csv", rename=rename)
    assert [fault.kind for fault in result.faults] == ["shifted-server"]


def test_a_visitor_is_no_server_with_missing_links():
    _, result, seen = checked(("foreign-device",), "ibnetdiscover", servers=15)
    assert result.faults == ()
    assert [finding.rule for finding in seen.inferred.findings] == ["built-foreign-device"]


@pytest.mark.parametrize("servers", [16, 24])
def test_servers_that_stand_between_two_leaves_are_not_astray(servers):
    text = (
        f"servers: {{model: dgx-a100, count: {servers}}}\nfabrics: {{topology: fat-tree, switch: qm8700}}\n"
    )
    made = faults(parse_cluster_spec(text, "c.yaml"), FaultsOptions(("random:0",), 3, "ibnetdiscover"))
    seen = inferred_design(read_fabric(io.BytesIO(made.text.encode()), "built.txt"))
    assert ("rails", "none seen") in seen.inferred.facts
    assert seen.inferred.findings == ()
