"""Fabrics of which no device bears a name of the design: mistakes in cable lists and LLDP are found and mended up to symmetry."""

from __future__ import annotations

import importlib.util
import io
import random
import sys
from collections import Counter
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st

from gpufabric.errors import InputError
from gpufabric.formats.recognise_fabric import read_fabric
from gpufabric.jobs.built_file import HIDDEN, write_built
from gpufabric.jobs.check_wiring import WiringDesign, check_wiring
from gpufabric.jobs.faults import fabric_rows
from gpufabric.jobs.inject_mistakes import inject_mistakes
from gpufabric.recognition.designed_places import DesignedPlaces
from gpufabric.recognition.order_repairs import count_moves

SOURCE = Path(__file__).parents[2] / "benchmarks" / "injected_mistakes.py"
SMALL = ("swapped-pair", "wrong-port", "missing-link", "wrong-rate", "shifted-server", "wrong-cable")


@cache
def bench():
    spec = importlib.util.spec_from_file_location("injected_mistakes_of_anonymous", SOURCE)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@cache
def design_of(servers, topology):
    return bench().design_of(servers, topology)


def checked(design, injected, form, seed):
    rng = random.Random(seed)
    cluster = injected.cluster
    names = rng.sample(range(16**6), len(cluster.devices))
    order = list(range(len(cluster.links)))
    rows = fabric_rows(cluster, 0)
    rng.shuffle(order)
    rows = rows[sorted(range(len(rows)), key=lambda row: order[row])] if form == "csv" else rows
    renamed = replace(
        cluster, devices=replace(cluster.devices, names=tuple(f"x{name:06x}" for name in names))
    )
    text = write_built(renamed, rows, injected.cables, form)
    found = read_fabric(io.BytesIO(text.encode()), f"built.{form}")
    return check_wiring(WiringDesign(design.cluster, "description", design.parts, None, {}), [found])


def mended(design, checked):
    """Return the links, by designed ports, after a technician did what the repairs say."""
    places = DesignedPlaces(design.cluster, design.parts)
    match, found = checked.match, checked.found.cluster
    names, ports = found.devices.names, found.ports.names

    def label(port):
        if match.port[port] >= 0:
            return places.label(int(match.port[port]))
        return f"{names[found.ports.device[port]]}:{ports[port]}"

    peer = {}
    for a, b in zip(found.links.port_a.tolist(), found.links.port_b.tolist(), strict=True):
        peer[label(a)], peer[label(b)] = label(b), label(a)
    strangers = {name for fault in checked.faults if fault.kind == "foreign-device" for name in fault.devices}
    for port in [port for port in peer if port.rpartition(":")[0] in strangers]:
        peer.pop(peer.pop(port, ""), "")
    held = set()
    for step in checked.check.repairs:
        if step.action == "hold":
            del peer[step.from_port]
            held.add(step.cable)
        if step.action == "move" and step.cable not in held:
            assert peer[step.cable] == step.from_port
            del peer[step.from_port]
        if step.action in {"move", "plug"}:
            assert step.to_port not in peer
            peer[step.cable], peer[step.to_port] = step.to_port, step.cable
    return {frozenset(pair) for pair in peer.items()}


def wanted(design, checked):
    places, links = DesignedPlaces(design.cluster, design.parts), design.cluster.links
    gone = {name for fault in checked.faults if fault.kind == "missing-device" for name in fault.devices}
    pairs = (
        frozenset(places.label(int(end[row])) for end in (links.port_a, links.port_b))
        for row in fabric_rows(design.cluster, 0)
    )
    return {pair for pair in pairs if not any(port.rpartition(":")[0] in gone for port in pair)}


def few_and_right(servers, topology, form, seed, kinds=SMALL):
    design = design_of(servers, topology)
    rows = fabric_rows(design.cluster, 0)
    rng = random.Random(seed)
    kinds = [kind for kind in kinds if kind not in HIDDEN[form]]
    asked = [rng.choice(kinds) for _ in range(rng.randint(0, max(1, min(50, len(rows) // 60))))]
    try:
        injected = inject_mistakes(design.cluster, design.parts, rows, asked, seed)
    except InputError:
        reject()  # no switch has a port to spare
    result = checked(design, injected, form, seed)
    made = Counter(mistake.kind for mistake in injected.mistakes)
    found = Counter(fault.kind for fault in result.faults)
    assert result.check.match.devices_by_name == 0
    assert result.check.match.certainty > 0
    assert found["wrong-rate"] == made["wrong-rate"]
    assert found["wrong-cable"] == made["wrong-cable"]
    lost = [fault for fault in result.faults if fault.kind in {"missing-link", "missing-uplinks"}]
    assert sum(len(fault.links) for fault in lost) <= made["missing-link"] + made["wrong-port"]
    assert bool(found) == bool(made) or not set(made) - {"swapped-pair", "shifted-server"}
    assert count_moves(result.check.repairs) <= sum(mistake.moves for mistake in injected.mistakes)
    assert mended(design, result) == wanted(design, result)


@pytest.mark.parametrize("form", ["csv", "lldp"])
@pytest.mark.parametrize(("servers", "topology"), [(8, "rail-optimized"), (31, "leaf-spine")])
@given(seed=st.integers(0, 10**9))
@settings(max_examples=3, deadline=None)
def test_mistakes_in_anonymous_lists_are_found_and_mended(form, servers, topology, seed):
    few_and_right(servers, topology, form, seed)


@pytest.mark.slow
@pytest.mark.parametrize("form", ["csv", "lldp"])
@pytest.mark.parametrize("topology", ["rail-optimized", "leaf-spine", "fat-tree"])
@given(seed=st.integers(0, 10**9), servers=st.sampled_from([8, 16, 31, 64, 127]))
@settings(max_examples=12, deadline=None)
def test_mistakes_in_larger_anonymous_lists_are_found_and_mended(form, topology, servers, seed):
    few_and_right(servers, topology, form, seed, (*SMALL, "missing-device", "foreign-device"))
