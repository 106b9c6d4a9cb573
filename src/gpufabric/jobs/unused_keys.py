"""A description → the keys in it that a command does not act on, said aloud instead of passed over."""

from __future__ import annotations

from collections.abc import Iterator

from pydantic import BaseModel

from gpufabric.records.cluster import Cluster
from gpufabric.records.cluster_spec import ClusterSpec, FabricSpec

DESIGN, PREDICT, CHECK = "design", "predict", "check"
_OF_CLUSTER = {DESIGN: ("faults",), PREDICT: (), CHECK: ("faults",)}
_OF_FABRIC: dict[str, tuple[str, ...]] = {DESIGN: ("in_network_reduction",), PREDICT: (), CHECK: ()}
_OF_ECMP = ("ecmp.seed", "ecmp.queue_pairs", "ecmp.polarised")
_OF_TIERS = {
    0: ("switch", "managers", "leaf", "spine", "core", "uplink_rate", "pod_leaves", "unit_servers"),
    1: ("spine", "core", "pod_leaves", "uplink_rate"),
    2: ("core", "pod_leaves", "spine.ports_up", "spine.oversubscription"),
}
_CLOS = frozenset({"single-switch", "leaf-spine", "fat-tree", "rail-optimized", "rail-only", "multi-plane"})


def unused_keys(spec: ClusterSpec, use: str, cluster: Cluster | None = None) -> tuple[str, ...]:
    """Return one sentence for each key that is set and changes nothing.

    Parameters
    ----------
    spec
    use
        :data:`DESIGN`, :data:`PREDICT` or :data:`CHECK`: what the description is read for.
    cluster
        The wired cluster; with it, keys of tiers that the fabric turned out not to have are named too.
    """
    texts = [f"{key}: stored, and not acted on by this command" for key in _changed(spec, _OF_CLUSTER[use])]
    for index, fabric in enumerate(spec.fabrics):
        silent = _changed(fabric, _OF_FABRIC[use])
        texts += [f"fabrics.{fabric.name}.{key}: stored, and not acted on by this command" for key in silent]
        if use != DESIGN and fabric.routing != "ecmp":
            texts += [
                f"fabrics.{fabric.name}.{key}: acted on where routing is ecmp; the fabric's is {fabric.routing}"
                for key in _changed(fabric, _OF_ECMP)
            ]
        if cluster is not None:
            texts += _of_missing_tiers(fabric, cluster.fabrics[index].tiers)
    return tuple(texts)


def _of_missing_tiers(fabric: FabricSpec, tiers: int) -> list[str]:
    if fabric.topology not in _CLOS and fabric.topology != "full-mesh":
        return []
    has = {0: "no switches", 1: "one tier of switches", 2: "two tiers"}.get(tiers, "")
    return [
        f"fabrics.{fabric.name}.{key}: not used, because the fabric has {has}"
        for key in _changed(fabric, _OF_TIERS.get(tiers, ()))
    ]


def _changed(model: BaseModel, keys: tuple[str, ...]) -> Iterator[str]:
    """Yield the keys (dotted for those of a part) whose value is not the default."""
    for key in keys:
        owner, _, inner = key.partition(".")
        value, default = getattr(model, owner), type(model).model_fields[owner].default
        if inner:
            value, default = getattr(value, inner), getattr(default, inner)
        if value != default:
            yield key
