"""Clusters to report on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from gpufabric.catalog.load import load_catalog
from gpufabric.jobs.design import Design, design
from gpufabric.records.cluster import Cluster
from gpufabric.records.cluster_spec import ClusterSpec
from gpufabric.records.part_set import PartSet
from gpufabric.topologies import build_cluster, resolve_parts, with_cables

Built = tuple[Cluster, PartSet]


@pytest.fixture
def built() -> Callable[..., Built]:
    """Return a function: fabric keys, server count and model → the wired cluster and its parts."""

    def build(count: int, model: Any = "dgx-h100", name: str = "example", **fabric: Any) -> Built:
        spec = ClusterSpec.model_validate(
            {"name": name, "servers": {"model": model, "count": count}, "fabrics": fabric}
        )
        catalog = load_catalog()
        cluster = build_cluster(spec, catalog)
        return cluster, with_cables(resolve_parts(spec, catalog), cluster, catalog)

    return build


@pytest.fixture
def designed() -> Callable[..., Design]:
    """Return a function: server count and model, fabric keys, room → the design, with racks and cables."""

    def build(
        count: int, model: Any = "dgx-h100", name: str = "example", room: Any = None, **fabric: Any
    ) -> Design:
        spec = {"name": name, "servers": {"model": model, "count": count}, "fabrics": fabric}
        return design(ClusterSpec.model_validate({**spec, "room": room or {}}))

    return build
