"""Cluster → Slurm's ``topology.conf`` for the block plugin."""

from __future__ import annotations

from gpufabric.exports.locality_tree import locality_tree
from gpufabric.exports.node_blocks import node_blocks
from gpufabric.exports.slurm_names import CONF_SOURCE, check_block_names, check_tree_names
from gpufabric.exports.text_pieces import text_pieces
from gpufabric.formats.slurm_nodelist_write import write_nodelist
from gpufabric.records.export_target import ExportedFile, ExportOption, ExportSource, ExportTarget

SIZES = ExportOption(
    "sizes",
    (),
    "",
    "BlockSizes, such as 18,36: a base no larger than the smallest block, then powers of two of it; without it all that fit",
)


def write(source: ExportSource) -> tuple[ExportedFile, ...]:
    """Return ``topology.conf``: one block an NVLink domain of several servers, else one for the servers that share their leaves.

    Raises
    ------
    InputError
        If a name is not legal in Slurm, sizes don't fit, or no chosen fabric joins servers with switches.
    """
    tree = locality_tree(source)
    check_tree_names(tree)
    blocks = node_blocks(source.cluster, tree, source.option("sizes"))
    check_block_names(list(blocks.names))
    lines = [f"# {source.cluster.name}: TopologyPlugin=topology/block"]
    lines += [
        f"BlockName={name} Nodes={write_nodelist(nodes)}"
        for name, nodes in zip(blocks.names, blocks.nodes, strict=True)
    ]
    lines.append(f"BlockSizes={','.join(map(str, blocks.sizes))}")
    return (ExportedFile("topology.conf", text_pieces(lines)),)


TARGET = ExportTarget(
    name="slurm-block",
    title="Slurm topology.conf for topology/block (23.11 or newer)",
    files="topology.conf",
    kept="which servers share an NVLink domain or, without one, their leaves, and how many a block has at least",
    lost="everything between blocks (how near two of them are), switches, rails, planes, ports, rates and GPUs",
    network="any",
    source=CONF_SOURCE,
    write=write,
    options=(SIZES,),
)
