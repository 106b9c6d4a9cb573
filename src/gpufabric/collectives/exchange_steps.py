"""Every GPU to every other one → the transfers of each step, none of which is kept."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gpufabric.collectives.fixed_steps import join_edges
from gpufabric.collectives.gpu_ports import GpuPorts
from gpufabric.errors import InputError
from gpufabric.records.schedule import Edges, Steps, Transfers

MAX_EDGES = 20_000_000


@dataclass(frozen=True, slots=True)
class ExchangeSteps:
    """In step *t* the GPU at place *p* sends to the one at place *p + t + 1*, counted round: n - 1 steps reach all.

    Attributes
    ----------
    ports : GpuPorts
    channel : int
    chunk_of_sender, chunk_of_receiver : int
        The chunk sent from place *s* to *r* is ``chunk_of_sender · s + chunk_of_receiver · r``.
    share : float64 array, (n, n)
        Bytes from each place to each other per byte of the message; a broadcast view where all are equal.
    """

    ports: GpuPorts
    channel: int
    chunk_of_sender: int
    chunk_of_receiver: int
    share: NDArray[np.float64]

    def at(self, step: int) -> Transfers:
        """Return what step number *step* moves."""
        count = len(self.ports.job.gpu)
        sender = np.arange(count)
        receiver = (sender + step + 1) % count
        one = np.broadcast_to(np.int64(1), count)
        return Transfers(
            self.ports.edges(sender, receiver, self.channel),
            self.chunk_of_sender * sender + self.chunk_of_receiver * receiver,
            one,
            one,
            self.share[sender, receiver],
        )

    def total(self, repeat: int) -> tuple[Edges, NDArray[np.float64]]:
        """Return the edges of *repeat* steps, one after the other: n rows a step."""
        return join_steps(self, repeat)


@dataclass(frozen=True, slots=True)
class RailSteps:
    """Inside each node, every GPU deals with the one in charge of each rail: GPU *r* modulo the node's size for rail *r*.

    In step *t* the GPU at position *i* of its node sends to the one in charge of rail *i + t + 1*, counted round the L rails, so
    that L - 1 steps reach all.

    Attributes
    ----------
    ports : GpuPorts
    chunk_of_sender, chunk_of_rail, stride, count : int
        The chunks are ``chunk_of_sender · q + chunk_of_rail · rail + stride · i`` for *i* below *count*, where *q* is node · L +
        position of the GPU that is not in charge.
    share : float64 array, (n, L)
        Bytes from each place for each rail per byte of the message; may be a broadcast view.
    inwards : bool
        False turns every transfer round: those in charge send.
    """

    ports: GpuPorts
    chunk_of_sender: int
    chunk_of_rail: int
    stride: int
    count: int
    share: NDArray[np.float64]
    inwards: bool = True

    def at(self, step: int) -> Transfers:
        """Return what step number *step* moves."""
        job, rails = self.ports.job, self.share.shape[1]
        rail = (job.local + step + 1) % rails
        charge = place_in_charge(self.ports, job.node, rail)
        own = np.flatnonzero(charge != np.arange(len(charge)))
        rail, charge = rail[own], charge[own]
        first = self.chunk_of_sender * (job.node[own] * rails + job.local[own]) + self.chunk_of_rail * rail
        sender, receiver = (own, charge) if self.inwards else (charge, own)
        return Transfers(
            self.ports.edges(sender, receiver, 0),
            first,
            np.broadcast_to(np.int64(self.stride), len(own)),
            np.broadcast_to(np.int64(self.count), len(own)),
            self.share[own, rail],
        )

    def total(self, repeat: int) -> tuple[Edges, NDArray[np.float64]]:
        """Return the edges of *repeat* steps, one after the other: up to n rows a step."""
        return join_steps(self, repeat)


@dataclass(frozen=True, slots=True)
class RailToGpuSteps:
    """Between nodes, the GPU in charge of the receiver's rail sends it all that its own node has for it.

    In step *t* the GPU at position *r* of node *b* receives from node *b - t - 1*, counted round; N - 1 steps reach all. Chunks
    are numbered source · N L + destination, where both are node · L + position.

    Attributes
    ----------
    ports : GpuPorts
    channel : int
    share : float64 array, (N, n)
        Bytes from each node to each place per byte of the message; may be a broadcast view.
    """

    ports: GpuPorts
    channel: int
    share: NDArray[np.float64]

    def at(self, step: int) -> Transfers:
        """Return what step number *step* moves."""
        job = self.ports.job
        nodes, rails = len(job.nodes), int(job.nodes.size.max())
        receiver = np.arange(len(job.gpu))
        source = (job.node - step - 1) % nodes
        sender = place_in_charge(self.ports, source, job.local)
        width = nodes * rails
        return Transfers(
            self.ports.edges(sender, receiver, self.channel),
            source * rails * width + job.node * rails + job.local,
            np.broadcast_to(np.int64(width), len(receiver)),
            job.nodes.size[source],
            self.share[source, receiver],
        )

    def total(self, repeat: int) -> tuple[Edges, NDArray[np.float64]]:
        """Return the edges of *repeat* steps, one after the other: n rows a step."""
        return join_steps(self, repeat)


def place_in_charge(ports: GpuPorts, node: NDArray[np.int64], rail: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the place of the GPU in charge of a rail in each node."""
    nodes = ports.job.nodes
    place: NDArray[np.int64] = nodes.first[node] + rail % nodes.size[node]
    return place


def join_steps(steps: Steps, repeat: int) -> tuple[Edges, NDArray[np.float64]]:
    """Return the edges of *repeat* steps, one after the other, and what each moves.

    Raises
    ------
    InputError
        If they are more than ``MAX_EDGES``: all pairs of a large job are dealt with by what they have in common, not one by one.
    """
    none = np.empty(0, np.int32)
    found, shares, rows = [Edges(none, none, none, none)], [np.empty(0)], 0
    for step in range(repeat):
        moved = steps.at(step)
        rows += len(moved.edges)
        if rows * repeat > MAX_EDGES * (step + 1):
            raise InputError(
                f"schedule: its {repeat:,} steps have more than {MAX_EDGES:,} edges; list those of a job of fewer ranks"
            )
        found.append(moved.edges)
        shares.append(moved.share)
    return join_edges(*found), np.concatenate(shares)
