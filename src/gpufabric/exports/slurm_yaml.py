"""Cluster → Slurm's ``topology.yaml``: a tree and blocks side by side, which partitions choose from."""

from __future__ import annotations

from collections.abc import Iterator

from gpufabric.exports.locality_tree import LocalityTree, locality_tree
from gpufabric.exports.node_blocks import NodeBlocks, node_blocks
from gpufabric.exports.slurm_block import SIZES
from gpufabric.exports.slurm_names import YAML_SOURCE, check_block_names, check_tree_names
from gpufabric.exports.text_pieces import text_pieces
from gpufabric.formats.slurm_nodelist_write import write_nodelist
from gpufabric.records.export_target import ExportedFile, ExportOption, ExportSource, ExportTarget

_PLUGINS = ("tree", "block")
_DEFAULT = ExportOption("default", _PLUGINS, "tree", "the topology of partitions that name none")


def write(source: ExportSource) -> tuple[ExportedFile, ...]:
    """Return ``topology.yaml`` with the topologies ``tree`` and ``block``.

    Raises
    ------
    InputError
        If a name is not legal in Slurm, sizes don't fit, or no chosen fabric joins servers with switches.
    """
    tree = locality_tree(source)
    check_tree_names(tree)
    blocks = node_blocks(source.cluster, tree, source.option("sizes"))
    check_block_names(list(blocks.names))
    default = source.option("default", _DEFAULT.default)
    lines = (*_tree(tree, default == "tree"), *_blocks(blocks, default == "block"))
    return (ExportedFile("topology.yaml", text_pieces(lines)),)


def _tree(tree: LocalityTree, default: bool) -> Iterator[str]:
    yield from _head("tree", default)
    yield "    switches:"
    for level, groups in enumerate(tree.groups):
        below = tree.groups[level - 1] if level else tree.names
        key = "children" if level else "nodes"
        for name, children in zip(groups, tree.children(level), strict=True):
            yield f'      - switch: "{name}"'
            yield f'        {key}: "{write_nodelist([below[row] for row in children])}"'


def _blocks(blocks: NodeBlocks, default: bool) -> Iterator[str]:
    yield from _head("block", default)
    yield "    block_sizes:"
    yield from (f"      - {size}" for size in blocks.sizes)
    yield "    blocks:"
    for name, nodes in zip(blocks.names, blocks.nodes, strict=True):
        yield f'      - block: "{name}"'
        yield f'        nodes: "{write_nodelist(nodes)}"'


def _head(name: str, default: bool) -> Iterator[str]:
    yield f"- topology: {name}"
    yield f"  cluster_default: {'true' if default else 'false'}"
    yield f"  {name}:"


TARGET = ExportTarget(
    name="slurm-yaml",
    title="Slurm topology.yaml (25.05 or newer)",
    files="topology.yaml",
    kept="what slurm-tree and slurm-block keep, as two topologies of one file",
    lost="switches within a unit, rails, planes, ports, rates and GPUs",
    network="any",
    source=YAML_SOURCE,
    write=write,
    options=(_DEFAULT, SIZES),
)
