"""A phase of a schedule → how many messages follow one another on its longest chain, inside nodes and between them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gpufabric.collectives.exchange_steps import ExchangeSteps, RailSteps, RailToGpuSteps
from gpufabric.collectives.fixed_steps import FixedSteps
from gpufabric.records.schedule import Edges, Phase

# A message into a switch and the one out of it are one from GPU to GPU.
_WHOLE, _HALF = 2, 1
# NCCL deals with so many peers in other nodes at a time, on channels side by side, and with one after the other inside a node
# (NCCL_MAX_DEV_WORK_P2P_PER_BATCH, ncclP2pChannelBaseForRound; https://github.com/NVIDIA/nccl, src/include, read 2026-12).
PEERS_AT_ONCE = 8


@dataclass(frozen=True, slots=True)
class Chain:
    """Messages that follow one another, in halves: a GPU's message into a switch, and one out of it, are a half each.

    ``waits`` are those between nodes that can't leave before the one before has arrived, rather than only been sent.
    """

    inside: int
    fabric: int
    waits: int

    def __add__(self, other: Chain) -> Chain:
        return Chain(self.inside + other.inside, self.fabric + other.fabric, self.waits + other.waits)

    @property
    def inside_steps(self) -> int:
        """Whole messages inside nodes."""
        return -(-self.inside // _WHOLE)

    @property
    def fabric_steps(self) -> int:
        """Whole messages between nodes."""
        return -(-self.fabric // _WHOLE)


NO_CHAIN = Chain(0, 0, 0)


def longest_chain(phase: Phase) -> Chain:
    """Return the longest chain of a phase; phases wait for one another, as the first part of a message does in every one.

    Of two chains the one with more messages between nodes is the longer; then the one with more messages at all. Where edges are
    fixed, a message waits for the one that brings its data, so a chain of at most *repeat* messages follows the edges from GPU to
    GPU. Plain sends and receives do not wait for one another's data, but a GPU deals with its k peers one after the other: k
    messages inside its node, and ⌈k / 8⌉ between nodes, where eight go side by side. That holds for every exchange, and for a
    root that deals with everyone; messages that PXN puts together count one by one.
    """
    steps, repeat = phase.steps, phase.repeat
    if isinstance(steps, ExchangeSteps | RailToGpuSteps):
        job = steps.ports.job
        smallest, count = int(job.nodes.size.min()), len(job.gpu)
        near = smallest - 1 if isinstance(steps, ExchangeSteps) else 0
        return _peers(near, count - smallest) if repeat else NO_CHAIN
    if isinstance(steps, RailSteps):
        return Chain(_WHOLE * repeat, 0, 0)
    if not isinstance(steps, FixedSteps):
        raise TypeError(f"no rule for the chain of {type(steps).__name__}")
    if not len(steps.edges) or not repeat:
        return NO_CHAIN
    fabric, halves = _edge_lengths(steps.edges)
    if steps.peers:
        return _busiest(steps.edges, fabric)
    longest = int(halves.max())
    if fabric.all() or (repeat == 1 and fabric.any()):
        between = repeat * int(halves[fabric].max())
        return Chain(0, between, between)
    if not fabric.any():
        return Chain(repeat * longest, 0, 0)
    return _walk(steps.edges, fabric, repeat)


def _peers(near: int, far: int) -> Chain:
    """Return the chain of a GPU that deals with *near* peers in its node and *far* ones in others."""
    return Chain(_WHOLE * near, _WHOLE * -(-far // PEERS_AT_ONCE), _WHOLE if far else 0)


def _busiest(edges: Edges, fabric: NDArray[np.bool_]) -> Chain:
    """Return the chain of the GPU that sends to, or receives from, most peers in other nodes; then in its own."""
    found = []
    for gpu in (edges.sender, edges.receiver):
        far, near = (np.bincount(gpu[rows], minlength=int(gpu.max()) + 1) for rows in (fabric, ~fabric))
        most = int(np.lexsort((near, far))[-1])
        found.append((int(far[most]), int(near[most])))
    far_peers, near_peers = max(found)
    return _peers(near_peers, far_peers)


def _edge_lengths(edges: Edges) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
    fabric = (edges.exit_port >= 0) | (edges.entry_port >= 0)
    switch = (edges.sender < 0) | (edges.receiver < 0)
    return fabric, np.where(switch, _HALF, _WHOLE)


def _walk(edges: Edges, fabric: NDArray[np.bool_], repeat: int) -> Chain:
    """Return the longest walk of at most *repeat* edges, each of which starts where the one before ends.

    Every GPU has one edge out, as in a ring and up a tree, or one edge in, as down a tree. Doubling: a walk of 2 k edges is two
    of k, so there are as many rounds as *repeat* has binary digits.
    """
    start, end = edges.sender, edges.receiver
    if np.bincount(start).max() > 1:
        start, end = end, start
    if np.bincount(start).max() > 1:
        # GPUs that send and receive several messages a step: no walk is longer than all between nodes.
        return Chain(0, _WHOLE * repeat, _WHOLE * repeat)
    size = int(max(start.max(), end.max())) + 2
    edge_from = np.full(size, len(start), np.int64)
    edge_from[start] = np.arange(len(start))
    after = np.append(edge_from[end], len(start))
    # Messages between nodes first, then all: one number that sums and compares like the pair.
    step = np.append(np.where(fabric, np.int64(1) << 32, 0) + 1, 0)
    at, done = np.arange(len(start)), np.zeros(len(start), np.int64)
    left = repeat
    while left:
        if left & 1:
            done += step[at]
            at = after[at]
        left >>= 1
        if left:
            step, after = step + step[after], after[after]
    best = int(done.max())
    between, both = best >> 32, best & 0xFFFFFFFF
    return Chain(_WHOLE * (both - between), _WHOLE * between, _WHOLE * between)
