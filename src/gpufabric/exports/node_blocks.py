"""Servers → blocks of them that a scheduler fills whole: racks of one NVLink domain, else the servers that share their leaves."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpufabric.errors import InputError, printable
from gpufabric.exports.locality_tree import LocalityTree
from gpufabric.records.cluster import Cluster

_MOST_SIZES = 16


@dataclass(frozen=True, slots=True)
class NodeBlocks:
    """Blocks in fabric order.

    Attributes
    ----------
    names : tuple of str
    nodes : tuple of tuples of str
        The servers of each block.
    sizes : tuple of int
        Nodes that a job may ask for as one block: the smallest block, then powers of two of it.
    """

    names: tuple[str, ...]
    nodes: tuple[tuple[str, ...], ...]
    sizes: tuple[int, ...]


def server_domains(cluster: Cluster, tree: LocalityTree) -> list[int]:
    """Return the scale-up domain of each server of the tree, counted from 0; none where every server is one of its own."""
    gpus = cluster.gpus
    host, first = np.unique(gpus.host, return_index=True)
    if not len(host) or not np.isin(tree.servers, host).all():
        return []
    domain = gpus.domain[first][np.searchsorted(host, tree.servers)]
    unique, code = np.unique(domain, return_inverse=True)
    return code.tolist() if len(unique) < len(domain) else []


def node_blocks(cluster: Cluster, tree: LocalityTree, asked: str) -> NodeBlocks:
    """Return the blocks of a cluster.

    Parameters
    ----------
    cluster
    tree
        How near its servers are to each other.
    asked
        Sizes as the user wrote them, with commas; empty: all powers of two of the smallest block that fit.

    Raises
    ------
    InputError
        If sizes are not numbers that Slurm takes, or a block has fewer nodes than the smallest.
    """
    groups = server_domains(cluster, tree)
    if groups:
        digits = max(2, len(str(max(groups) + 1)))
        names = tuple(f"domain{number + 1:0{digits}d}" for number in range(max(groups) + 1))
    else:
        groups, names = tree.levels[0].tolist(), tree.groups[0]
    members: list[list[str]] = [[] for _ in names]
    for node, group in zip(tree.names, groups, strict=True):
        members[group].append(node)
    least = min(len(nodes) for nodes in members)
    sizes = _asked_sizes(asked, least) if asked else _all_sizes(least, len(tree.names))
    return NodeBlocks(names, tuple(tuple(nodes) for nodes in members), sizes)


def _all_sizes(least: int, nodes: int) -> tuple[int, ...]:
    sizes = (least << step for step in range(_MOST_SIZES))
    return tuple(size for size in sizes if size <= max(nodes, least))


def _asked_sizes(text: str, least: int) -> tuple[int, ...]:
    allowed = f"allowed are a base of 1 to {least} nodes (the smallest block), then powers of two of it: {least},{2 * least}"
    parts = text.split(",")
    if not all(part.strip().isascii() and part.strip().isdigit() and len(part) < 8 for part in parts):
        raise InputError(f'--set sizes: "{printable(text)}" is no list of numbers; {allowed}')
    sizes = tuple(int(part) for part in parts)
    base = sizes[0]
    fits = 1 <= base <= least and all(
        one > before and one % base == 0 and (one // base).bit_count() == 1
        for before, one in zip((0, *sizes), sizes, strict=False)
    )
    if not fits:
        raise InputError(f'--set sizes: "{printable(text)}" does not fit the blocks; {allowed}')
    return sizes
