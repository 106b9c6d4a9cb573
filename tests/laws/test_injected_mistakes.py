"""Random mistakes of all kinds at once: each is found, the repairs restore the design, and clean fabrics have no finding."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

from gpufabric.jobs.built_file import WRITERS

SOURCE = Path(__file__).parents[2] / "benchmarks" / "injected_mistakes.py"


@pytest.fixture(scope="module")
def bench():
    spec = importlib.util.spec_from_file_location("injected_mistakes", SOURCE)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


def all_found(bench, tally):
    assert tally.found == tally.named == tally.made, bench.table(tally)
    assert tally.fabrics == tally.restored
    assert tally.extra == tally.more_moves == 0


@pytest.mark.parametrize("form", WRITERS)
@pytest.mark.parametrize("topology", ["rail-optimized", "leaf-spine"])
def test_mistakes_in_small_fabrics_are_found_and_mended(bench, topology, form):
    tally = bench.Tally()
    for servers in (8, 31):
        bench.run(servers, topology, form, 2, tally)
    assert tally.fabrics == 4
    all_found(bench, tally)


@pytest.mark.slow
@pytest.mark.parametrize("topology", ["rail-optimized", "fat-tree"])
def test_mistakes_in_large_fabrics_are_found_and_mended(bench, topology):
    tally = bench.Tally()
    for servers, seeds in ((64, 4), (127, 4), (256, 2), (1016, 1)):
        for form in WRITERS:
            bench.run(servers, topology, form, seeds, tally)
    all_found(bench, tally)
    assert set(tally.made) >= {
        "swapped-pair",
        "wrong-port",
        "missing-link",
        "exchanged-devices",
        "shifted-server",
    }
