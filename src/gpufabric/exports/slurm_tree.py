"""Cluster → Slurm's ``topology.conf`` for the tree plugin."""

from __future__ import annotations

from collections.abc import Iterator

from gpufabric.exports.locality_tree import LocalityTree, locality_tree
from gpufabric.exports.slurm_names import CONF_SOURCE, check_tree_names
from gpufabric.formats.slurm_nodelist_write import write_nodelist
from gpufabric.records.export_target import ExportedFile, ExportSource, ExportTarget


def write(source: ExportSource) -> tuple[ExportedFile, ...]:
    """Return ``topology.conf``: the groups of servers as switches, from the lowest level upwards.

    Raises
    ------
    InputError
        If a name is not legal in Slurm, or no chosen fabric joins servers with switches.
    """
    tree = locality_tree(source)
    check_tree_names(tree)
    return (ExportedFile("topology.conf", _lines(source.cluster.name, tree)),)


def _lines(cluster: str, tree: LocalityTree) -> Iterator[bytes]:
    yield f"# {cluster}: TopologyPlugin=topology/tree\n".encode()
    for level, groups in enumerate(tree.groups):
        below = tree.groups[level - 1] if level else tree.names
        key = "Switches" if level else "Nodes"
        for group, (name, children) in enumerate(zip(groups, tree.children(level), strict=True)):
            switches = tree.switches[level][group]
            if switches != (name,):
                yield f"# {name}: {write_nodelist(switches)}\n".encode()
            yield f"SwitchName={name} {key}={write_nodelist([below[row] for row in children])}\n".encode()


TARGET = ExportTarget(
    name="slurm-tree",
    title="Slurm topology.conf for topology/tree",
    files="topology.conf",
    kept="which servers share a leaf, a unit and a pod, by names that slurm.conf uses",
    lost="single leaves of a unit (one switch stands for all that its servers share), rails, planes, ports, rates and GPUs",
    network="any",
    source=CONF_SOURCE,
    write=write,
)
