"""What real ibnetdiscover prints of a designed fabric on ibsim is that fabric."""

from __future__ import annotations

import io
from dataclasses import replace

import numpy as np
import pytest

from gpufabric.formats.cluster_yaml import parse_cluster_spec
from gpufabric.formats.recognise_fabric import read_fabric
from gpufabric.graphs.cluster_subnet import lay_subnet
from gpufabric.graphs.discovered_names import discovered_names
from gpufabric.jobs.built_designs import described_design
from gpufabric.jobs.check_wiring import check_wiring
from gpufabric.jobs.faults import fabric_rows
from gpufabric.jobs.inject_mistakes import inject_mistakes
from gpufabric.lab.discover_on_ibsim import discover_on_ibsim

pytestmark = [pytest.mark.real, pytest.mark.slow]


@pytest.fixture(autouse=True)
def programs(require_program):
    require_program("ibsim")
    require_program("ibnetdiscover")


def discovered(servers, topology, folder, inject=(), unit=""):
    spec = parse_cluster_spec(
        f"name: lab\nservers: {{model: dgx-h100, count: {servers}}}\nfabrics:\n"
        f"  - {{name: compute, topology: {topology}, switch: qm9790{unit}}}\n",
        "lab.yaml",
    )
    design = described_design(spec)
    rows = fabric_rows(design.cluster, 0)
    injected = inject_mistakes(design.cluster, design.costed.parts, rows, inject, 5)
    built = injected.cluster
    laid = lay_subnet(built, fabric_rows(built, 0))
    # ibsim takes no semicolon in a name.
    names = tuple(name.removeprefix("MF0;").split(":")[0] for name in discovered_names(built, laid))
    text = discover_on_ibsim(replace(laid.subnet, names=names), folder)
    found = read_fabric(io.BytesIO(text.encode()), "lab.txt")
    return injected, check_wiring(design, [found])


@pytest.mark.parametrize(
    ("servers", "topology", "unit"), [(16, "rail-optimized", ", unit_servers: 8"), (32, "fat-tree", "")]
)
def test_a_designed_fabric_has_no_findings(tmp_path, servers, topology, unit):
    _, checked = discovered(servers, topology, tmp_path, unit=unit)
    assert checked.check.findings == ()
    assert (
        checked.check.match.links
        == checked.check.match.links_as_designed
        == int(checked.match.in_scope.sum())
        > 0
    )
    assert any("rates are not judged" in text for text in checked.check.assumptions)


def test_mistakes_show_in_a_real_discovery(tmp_path):
    injected, checked = discovered(
        16, "rail-optimized", tmp_path, ("swapped-pair:2", "wrong-port", "missing-link"), ", unit_servers: 8"
    )
    assert sorted(fault.kind for fault in checked.faults) == sorted(
        mistake.kind for mistake in injected.mistakes
    )
    touched = np.unique([link for mistake in injected.mistakes for link in mistake.links])
    assert np.array_equal(np.unique([link for fault in checked.faults for link in fault.links]), touched)
