"""Design → inputs of htsim: fat tree, the flows of one collective, and which port each node is."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from gpufabric.errors import InputError
from gpufabric.exports.htsim_tree import PROGRAM, HtsimTree, htsim_tree
from gpufabric.exports.simulated_collective import ALGORITHM, OP, RANKS, SIZE, planned_collective
from gpufabric.exports.simulated_gpus import SimulatedGpus, simulated_gpus
from gpufabric.exports.text_pieces import text_pieces
from gpufabric.formats import htsim_connections, htsim_topology
from gpufabric.formats.htsim_connections import MOST_BYTES
from gpufabric.records.export_target import ExportedFile, ExportSource, ExportTarget
from gpufabric.records.names import device_names, port_names
from gpufabric.records.simulator_inputs import HtsimConnections
from gpufabric.units import counted, format_message_bytes

MAX_FLOWS = 1_000_000


def write(source: ExportSource) -> Iterator[ExportedFile]:
    """Yield the topology, the connection matrix and the table of nodes.

    Raises
    ------
    InputError
        If the fabric is no fat tree that htsim builds, or the collective has too many flows or too large ones.
    """
    seen = simulated_gpus(source, PROGRAM)
    tree = htsim_tree(source, seen)
    connections = _connections(source, seen, tree)
    what = f"one of {tree.planes} equal planes; " if tree.planes > 1 else ""
    comment = f"{what}latencies of links contain those of the switches that they enter"
    yield ExportedFile.of_text("fabric.topo", htsim_topology.write(tree.topology, comment))
    yield ExportedFile("collective.cm", text_pieces(htsim_connections.write(connections)))
    yield ExportedFile("nodes.csv", text_pieces(_nodes(source, tree)))


def _connections(source: ExportSource, seen: SimulatedGpus, tree: HtsimTree) -> HtsimConnections:
    """Return all that each pair of ports exchanges in the whole collective, as one flow from the beginning on."""
    collective, schedule = planned_collective(source, seen, PROGRAM)
    node = np.full(len(source.cluster.ports), -1, np.int64)
    used_nodes = np.flatnonzero(tree.port >= 0)
    node[tree.port[used_nodes]] = used_nodes
    pairs, shares = [np.empty((0, 2), np.int64)], [np.empty(0)]
    flows = 0
    for channel in schedule.channels:
        for phase in channel.phases:
            edges, share = phase.steps.total(phase.repeat)
            if (np.minimum(edges.sender, edges.receiver) < 0).any():
                raise InputError(
                    f"{PROGRAM}: {schedule.algorithm} adds in switches, which htsim can't; choose another algorithm"
                )
            ends = np.stack([edges.exit_port, edges.entry_port], axis=1).astype(np.int64)
            ends = np.where(ends >= 0, node[np.maximum(ends, 0)], -1)
            used = (ends >= 0).all(axis=1)
            flows += int(used.sum())
            _refuse_many(flows)
            pairs.append(ends[used])
            shares.append(share[used])
    ends, row = np.unique(np.concatenate(pairs), axis=0, return_inverse=True)
    size = np.bincount(row.ravel(), np.concatenate(shares), minlength=len(ends)) * collective.size_bytes
    if not len(ends):
        raise InputError(
            f"{PROGRAM}: the collective sends nothing over the first plane; take more ranks than a server has GPUs"
        )
    if size.max() > MOST_BYTES:
        raise InputError(
            f"--set size: a flow would have {size.max():,.0f} bytes; htsim reads at most {MOST_BYTES:,}; write a "
            "smaller size than "
            f"{format_message_bytes(collective.size_bytes)}"
        )
    return HtsimConnections(
        len(tree.port),
        ends[:, 0],
        ends[:, 1],
        np.maximum(np.rint(size), 1).astype(np.int64),
        np.zeros(len(ends)),
    )


def _refuse_many(flows: int) -> None:
    if flows > MAX_FLOWS:
        raise InputError(
            f"{PROGRAM}: the collective has more than {counted(MAX_FLOWS, 'flow')}; take fewer ranks (--set ranks=) or "
            "another algorithm"
        )


def _nodes(source: ExportSource, tree: HtsimTree) -> Iterator[str]:
    nodes = np.flatnonzero(tree.port >= 0)
    rows = tree.port[nodes]
    devices = device_names(source.cluster, source.cluster.ports.device[rows])
    ports = port_names(source.cluster, rows, source.parts)
    yield "node,device,port"
    for node, device, port in zip(nodes.tolist(), devices.tolist(), ports.tolist(), strict=True):
        yield f"{node},{device},{port}"


TARGET = ExportTarget(
    name="htsim",
    title="htsim (csg-htsim): fat tree, connection matrix",
    files="fabric.topo, collective.cm, nodes.csv",
    kept="tiers, radix, bundles, rates and oversubscription of a fat tree of equal switches, mean latency a tier; one "
    "collective as the "
    "bytes between ports over the whole of it, all flows from the start on",
    lost="GPUs and what stays inside servers; order and dependencies of the steps; other planes than the first; "
    "servers with several "
    "ports (each port is a node, a free port of a leaf an idle one; nodes.csv says which)",
    network="any",
    source="htsim, fat_tree_topology.cpp and connection_matrix.cpp of https://github.com/Broadcom/csg-htsim, read 2026-12-01",
    write=write,
    from_files=False,
    options=(OP, SIZE, ALGORITHM, RANKS),
)
