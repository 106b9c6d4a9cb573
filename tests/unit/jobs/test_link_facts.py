"""What pricing asks of every link."""

from __future__ import annotations

import numpy as np
import pytest

from gpufabric.catalog.load import load_catalog
from gpufabric.formats.cluster_yaml import parse_cluster_spec
from gpufabric.jobs.lay_wiring import lay_wiring
from gpufabric.jobs.link_facts import find_link_facts
from gpufabric.topologies import build_cluster, resolve_parts


@pytest.mark.parametrize("server", ["dgx-h100", "gb200-nvl72-tray"])
def test_only_cables_have_a_latency_and_count_as_a_part_of_a_message(server):
    catalog = load_catalog()
    text = f"name: c\nservers: {{model: {server}, count: 4}}\nfabrics:\n  - {{name: f, topology: leaf-spine, switch: qm9790}}\n"
    spec = parse_cluster_spec(text, "cluster.yaml")
    wiring = lay_wiring(build_cluster(spec, catalog), resolve_parts(spec, catalog))
    facts = find_link_facts(wiring)
    cables = np.zeros(wiring.graph.links, bool)
    cables[wiring.graph.cable_link.ravel()] = True
    assert not facts.measures[~cables].any()
    assert facts.measures[cables, 0].min() > 0
    nic = facts.resource == facts.names.index("nic")
    assert set(facts.measures[nic, 1].tolist()) == {0.5}
