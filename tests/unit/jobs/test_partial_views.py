"""Files that show a part of a fabric: what nobody tells of is not missing."""

from __future__ import annotations

import io

import pytest

from gpufabric.formats.cluster_yaml import parse_cluster_spec
from gpufabric.formats.recognise_fabric import read_fabric
from gpufabric.jobs.check_wiring import WiringDesign, check_wiring
from gpufabric.jobs.faults import FaultsOptions, faults
from gpufabric.topologies import build_cluster, resolve_parts

SPEC = (
    "servers: {model: dgx-h100, count: 8}\n"
    "fabrics: [{name: compute, topology: rail-optimized, switch: qm9790, unit_servers: 4}]\n"
)


@pytest.fixture(scope="module")
def spec():
    return parse_cluster_spec(SPEC, "test.yaml")


@pytest.fixture(scope="module")
def check(spec, catalog):
    design = WiringDesign(build_cluster(spec, catalog), "description", resolve_parts(spec, catalog), None, {})

    def run(text):
        return check_wiring(design, [read_fabric(io.BytesIO(text.encode()), "built.txt")]).check

    return run


def built(spec, form, *mistakes):
    return faults(spec, FaultsOptions(mistakes or ("missing-link:0",), 1, form)).text


def rules(checked):
    return [finding.rule for finding in checked.findings]


@pytest.mark.parametrize("shown", [1, 3])
def test_a_switch_that_tells_nothing_is_not_missing(spec, check, shown):
    tables = built(spec, "lldp").split("# show lldp table")
    cut = "# show lldp table".join(tables[: shown + 1])
    seen = check(cut[: cut.rindex("\n") + 1])
    assert rules(seen) == []
    assert seen.repairs == ()
    assert 0 < seen.match.links == seen.match.links_as_designed < check(built(spec, "lldp")).match.links
    assert any(note.startswith("in view: ") for note in seen.assumptions)


def test_what_others_do_not_hear_is_missing(spec, check):
    seen = check(built(spec, "lldp", "missing-device:1"))
    assert "built-missing-device" in rules(seen)


@pytest.mark.parametrize("form", ["ibnetdiscover", "iblinkinfo"])
@pytest.mark.parametrize("share", [0.3, 0.5, 0.62, 0.75])
def test_a_discovery_that_breaks_off_says_so_and_asks_for_no_cable(spec, check, form, share):
    text = built(spec, form)
    seen = check(text[: int(len(text) * share)])
    assert [rule for rule in rules(seen) if rule.startswith("built-")] == []
    assert seen.repairs == ()
    if form == "ibnetdiscover":
        assert "found-file-cut" in rules(seen)


@pytest.mark.parametrize("form", ["ibnetdiscover", "iblinkinfo", "lldp"])
def test_a_whole_file_is_in_view(spec, check, form):
    seen = check(built(spec, form))
    assert rules(seen) == []
    assert not any(note.startswith("in view: ") for note in seen.assumptions)


def with_cable(text, one, other):
    """Add a cable between two free ports, each as (switch, port), to an ibnetdiscover file."""
    lines = text.splitlines()
    heads = {
        name: next(i for i, line in enumerate(lines) if line.startswith("Switch") and f";{name}:" in line)
        for name, _ in (one, other)
    }
    guid = {name: lines[at].split('"')[1] for name, at in heads.items()}
    for near, far in sorted([(one, other), (other, one)], key=lambda ends: -heads[ends[0][0]]):
        lines[heads[near[0]]] = lines[heads[near[0]]].replace(lines[heads[near[0]]].split()[1], "65", 1)
        lines.insert(
            heads[near[0]] + 1, f'[{near[1]}]\t"{guid[far[0]]}"[{far[1]}]\t\t# "{far[0]}" lid 1 4xNDR'
        )
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize(
    "ends", [(("leaf-su01-r5", 50), ("leaf-su01-r6", 51)), (("leaf-su01-r5", 50), ("leaf-su01-r5", 51))]
)
def test_a_cable_that_nobody_planned_is_found(spec, check, ends):
    seen = check(with_cable(built(spec, "ibnetdiscover"), *ends))
    assert rules(seen) == ["built-extra-link"]
    assert [step.action for step in seen.repairs] == ["unplug"]
    assert seen.match.links == seen.match.links_as_designed
