"""Cluster → labels of Kubernetes nodes, with the keys that topograph writes."""

from __future__ import annotations

from collections.abc import Iterator

from gpufabric.exports.legal_names import NameRule, check_names
from gpufabric.exports.locality_tree import LocalityTree, locality_tree
from gpufabric.exports.node_blocks import server_domains
from gpufabric.exports.text_pieces import text_pieces
from gpufabric.records.export_target import ExportedFile, ExportOption, ExportSource, ExportTarget

_TIER = "fabric.topograph.run/tier-{}"
_DOMAIN = "accelerator.topograph.run/domain"
_NODE = NameRule(
    "kubernetes",
    r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*",
    253,
    "lower-case letters, digits, dashes and dots (RFC 1123)",
)
_VALUE = NameRule(
    "kubernetes",
    r"[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?",
    63,
    "letters, digits, dashes, dots and underscores, a letter or digit at both ends",
)
_FORM = ExportOption(
    "form",
    ("yaml", "script"),
    "yaml",
    "Node objects for kubectl apply --server-side, or a script of kubectl label",
)


def write(source: ExportSource) -> tuple[ExportedFile, ...]:
    """Return the labels of every server: its place at each level of the fabric, 0 the nearest, and its NVLink domain.

    Raises
    ------
    InputError
        If a name is not legal in Kubernetes, or no chosen fabric joins servers with switches.
    """
    tree = locality_tree(source)
    check_names(tree.names, _NODE, "server")
    check_names((name for level in tree.groups for name in level), _VALUE, "label value")
    labels = _labels(tree, server_domains(source.cluster, tree))
    if source.option("form", _FORM.default) == "script":
        return (ExportedFile("label-nodes.sh", text_pieces(_script(tree, labels))),)
    return (ExportedFile("node-labels.yaml", text_pieces(_objects(tree, labels))),)


def _labels(tree: LocalityTree, domains: list[int]) -> list[tuple[str, list[str]]]:
    """Return each key with its value for every server."""
    labels = [
        (_TIER.format(level), [tree.groups[level][group] for group in groups.tolist()])
        for level, groups in enumerate(tree.levels)
    ]
    if domains:
        digits = max(2, len(str(max(domains) + 1)))
        labels.append((_DOMAIN, [f"domain{number + 1:0{digits}d}" for number in domains]))
    return labels


def _objects(tree: LocalityTree, labels: list[tuple[str, list[str]]]) -> Iterator[str]:
    for row, node in enumerate(tree.names):
        yield "---"
        yield "apiVersion: v1"
        yield "kind: Node"
        yield "metadata:"
        yield f'  name: "{node}"'
        yield "  labels:"
        yield from (f'    {key}: "{values[row]}"' for key, values in labels)


def _script(tree: LocalityTree, labels: list[tuple[str, list[str]]]) -> Iterator[str]:
    yield "#!/bin/sh"
    yield "set -eu"
    for row, node in enumerate(tree.names):
        pairs = " ".join(f"{key}={values[row]}" for key, values in labels)
        yield f"kubectl label --overwrite node {node} {pairs}"


TARGET = ExportTarget(
    name="k8s-labels",
    title="Kubernetes node labels with topograph's keys (1.0 or newer)",
    files="node-labels.yaml or label-nodes.sh",
    kept="which servers share a leaf, a unit and a pod (fabric.topograph.run/tier-N) and an NVLink domain "
    "(accelerator.topograph.run/domain)",
    lost="single leaves of a unit, rails, planes, ports, rates and GPUs; a domain of one server has no label",
    network="any",
    source="topograph, docs/reference/node-labels.md, https://github.com/NVIDIA/topograph, read 2026-12-01",
    write=write,
    options=(_FORM,),
)
