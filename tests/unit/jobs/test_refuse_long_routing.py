"""Shortest paths on a fabric too large for them."""

from __future__ import annotations

import pytest

from gpufabric.catalog.load import load_catalog
from gpufabric.errors import InputError
from gpufabric.formats.cluster_yaml import parse_cluster_spec
from gpufabric.jobs import refuse_long_routing
from gpufabric.jobs.collective import CollectiveOptions, predict_collective
from gpufabric.topologies import build_cluster, resolve_parts

CATALOG = load_catalog()


def predict(topology: str, op: str, routing: str):
    text = f"name: c\nservers: {{model: dgx-h100, count: 16}}\nfabrics:\n  - {{name: f, topology: {topology}, switch: qm9790}}\n"
    spec = parse_cluster_spec(text, "cluster.yaml")
    cluster, parts = build_cluster(spec, CATALOG), resolve_parts(spec, CATALOG)
    return predict_collective(cluster, parts, op, [1 << 30], CollectiveOptions(routing=routing))


@pytest.mark.parametrize("op", ["all_reduce", "all_to_all"])
def test_is_refused_in_one_line_that_says_what_to_do(op, monkeypatch):
    monkeypatch.setattr(refuse_long_routing, "MOST_DISTANCES", 1)
    with pytest.raises(
        InputError, match=r"4 leaves of \d+ switches.*take adaptive.*or lower --gpus"
    ) as refusal:
        predict("leaf-spine", op, "shortest")
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize(("topology", "routing"), [("leaf-spine", "adaptive"), ("dragonfly", "shortest")])
def test_other_policies_and_wirings_without_tiers_are_not_refused(topology, routing, monkeypatch):
    monkeypatch.setattr(refuse_long_routing, "MOST_DISTANCES", 0)
    assert predict(topology, "broadcast", routing)[0].time_s > 0


def test_an_exchange_is_looked_at_once_where_a_channel_needs_it_each_time(monkeypatch):
    monkeypatch.setattr(refuse_long_routing, "MOST_DISTANCES", 150)
    assert predict("leaf-spine", "all_to_all", "shortest")[0].time_s > 0
    with pytest.raises(InputError, match="routing shortest"):
        predict("leaf-spine", "all_reduce", "shortest")
