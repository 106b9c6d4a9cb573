"""Rates that no schedule can go around → the least time of a collective."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from gpufabric.errors import InputError, did_you_mean, printable


@dataclass(frozen=True, slots=True)
class CutRates:
    """What bounds the collectives of one job; rates are bytes/s, one direction.

    Attributes
    ----------
    ranks, nodes : int
    smallest_node_bytes_per_s : float
        All network ports of the node that has least.
    all_nodes_bytes_per_s : float
        All network ports of all nodes.
    smallest_part_bytes_per_s : float
        Links out of the part of the fabric (unit, pod) that has least; infinite when the job lies in one part.
    gpu_bytes_per_s : float
        One GPU to its peers in the node; of the GPU that has least.
    all_gpus_bytes_per_s : float
        The same for all GPUs of the job.
    multicast : bool
        The scale-up switches add and multicast (NVLink SHARP).
    largest_node_ranks : int, optional
        Ranks of the node that has most; when left out, as many as it could have.
    exchange_bytes_per_s : float
        Bytes of the message of an all-to-all that the links out of every part of the fabric let through: the least of
        rate × n/(h (n - h)) over the parts, each with h of the n ranks.
    """

    ranks: int
    nodes: int
    smallest_node_bytes_per_s: float
    all_nodes_bytes_per_s: float
    smallest_part_bytes_per_s: float
    gpu_bytes_per_s: float
    all_gpus_bytes_per_s: float
    multicast: bool
    largest_node_ranks: int | None = None
    exchange_bytes_per_s: float = math.inf

    @property
    def far_ranks(self) -> int:
        """Ranks that even a rank of the largest node does not share a node with."""
        return self.ranks - (self.largest_node_ranks or self.ranks - self.nodes + 1)

    @property
    def largest_node_bytes_per_s(self) -> float:
        """What the node that has most can have, all others having no less than the one that has least."""
        return self.all_nodes_bytes_per_s - (self.nodes - 1) * self.smallest_node_bytes_per_s

    @property
    def every_link_bytes_per_s(self) -> float:
        """Links of all GPUs, and of all network ports where there are several nodes."""
        return self.all_gpus_bytes_per_s + (self.all_nodes_bytes_per_s if self.nodes > 1 else 0.0)


@dataclass(frozen=True, slots=True)
class Ceiling:
    """The least time, in seconds, and what it comes from."""

    time_s: float
    name: str


def least_all_reduce_time(cuts: CutRates, size_bytes: float, in_network: bool = False) -> Ceiling:
    """Return the largest lower bound on the time of an all-reduce.

    Every cut between ranks must pass the whole buffer S once in each direction. Without a network that adds, n ranks send
    2 (n - 1) S in all and N nodes 2 (N - 1) S (Patarasuk and Yuan 2009); with one, each node still sends S. Where scale-up
    switches add and multicast, a GPU of one node moves (1 + 1/n) S each way: its own part goes up, then the n-th of the sum; for
    two GPUs that is more than without.

    Parameters
    ----------
    cuts : CutRates
    size_bytes : float
    in_network : bool
        Switches of the fabric add (SHARP): the bound on all nodes together falls away.
    """
    size, n, nodes = size_bytes, cuts.ranks, cuts.nodes
    if nodes == 1:
        plain = 2 * (n - 1) * size / cuts.all_gpus_bytes_per_s
        added = (1 + 1 / n) * size / cuts.gpu_bytes_per_s
        if cuts.multicast and added < plain:
            return Ceiling(added, "NVLink of a GPU with in-switch reduction: (1 + 1/n) S each way")
        return Ceiling(plain, "links of all GPUs: 2 (n - 1) S")
    bounds = [
        (size / cuts.smallest_node_bytes_per_s, "NICs of one server: S each way"),
        (size / cuts.smallest_part_bytes_per_s, "links out of one part of the fabric: S each way"),
    ]
    every_link = cuts.all_gpus_bytes_per_s + cuts.all_nodes_bytes_per_s
    if cuts.multicast or in_network:
        # Even where switches add and multicast, no GPU's part of the sum is known elsewhere before it has sent it.
        bounds.append((n * size / every_link, "links of all GPUs and NICs: every GPU sends S"))
    else:
        bounds.append((2 * (n - 1) * size / every_link, "links of all GPUs and NICs: 2 (n - 1) S"))
    if not in_network:
        between = 2 * (nodes - 1) * size / cuts.all_nodes_bytes_per_s
        bounds.append((between, "NICs of all servers: 2 (N - 1) S"))
    return Ceiling(*max(bounds, key=lambda bound: bound[0]))


def least_time(op: str, cuts: CutRates, size_bytes: float, in_network: bool = False) -> Ceiling:
    """Return the largest known lower bound on the time of a collective.

    Whatever the algorithm, each set of ranks must get what it lacks and send what only it has, and the links around the set carry
    no more than their rate. S is the size as nccl-tests means it, n the ranks, N the nodes, g the ranks of the largest node.

    Parameters
    ----------
    op : str
    cuts : CutRates
    size_bytes : float
    in_network : bool
        Switches of the fabric add (SHARP); matters to all_reduce only, because the other bounds count what has to be received or
        what no switch can spare a sender.

    Raises
    ------
    InputError
        If the operation is unknown.

    Notes
    -----
    Chan et al., Collective communication: theory, practice, and experience, 2007; for all_reduce see
    :func:`least_all_reduce_time`. An all_to_all_v is bounded by its table only, so its bound here is 0.
    """
    if op == "all_reduce":
        return least_all_reduce_time(cuts, size_bytes, in_network)
    if op not in _BOUNDS:
        known = ("all_reduce", *_BOUNDS)
        raise InputError(
            f'operation "{printable(op)}" is unknown; known: {", ".join(known)}.{did_you_mean(op, known)}'
        )
    bounds = [(volume * size_bytes / rate, name) for volume, rate, name in _BOUNDS[op](cuts)]
    return Ceiling(*max(bounds, key=lambda bound: bound[0]))


_Bound = tuple[float, float, str]


def _gathered(cuts: CutRates) -> list[_Bound]:
    """Bound all_gather and reduce_scatter: every rank lacks (n - 1)/n of the whole, or has to send that much."""
    n, nodes = cuts.ranks, cuts.nodes
    if nodes == 1:
        return [((n - 1) / n, cuts.gpu_bytes_per_s, "links of one GPU: (n - 1)/n S")]
    return [
        (cuts.far_ranks / n, cuts.smallest_node_bytes_per_s, "NICs of one server: (n - g)/n S"),
        (nodes - 1, cuts.all_nodes_bytes_per_s, "NICs of all servers: (N - 1) S"),
        # Of what a part lacks and what only it has, one is half of the whole at least.
        (0.5, cuts.smallest_part_bytes_per_s, "links out of one part of the fabric: S/2 one way"),
        (n - 1, cuts.every_link_bytes_per_s, "links of all GPUs and NICs: (n - 1) S"),
    ]


def _spread(cuts: CutRates) -> list[_Bound]:
    """Bound broadcast and reduce: all but the root get, or give, the whole."""
    if cuts.nodes == 1:
        return [(1, cuts.gpu_bytes_per_s, "links of one GPU: S")]
    return [
        (1, cuts.smallest_node_bytes_per_s, "NICs of one server: S"),
        (1, cuts.smallest_part_bytes_per_s, "links out of one part of the fabric: S"),
        (cuts.ranks - 1, cuts.every_link_bytes_per_s, "links of all GPUs and NICs: (n - 1) S"),
    ]


def _at_root(cuts: CutRates) -> list[_Bound]:
    """Bound gather and scatter: the root gets, or gives, everything but its own part."""
    n = cuts.ranks
    fastest = cuts.all_gpus_bytes_per_s - (n - 1) * cuts.gpu_bytes_per_s
    if cuts.nodes == 1:
        return [((n - 1) / n, fastest, "links of the root GPU: (n - 1)/n S")]
    both = fastest + cuts.largest_node_bytes_per_s
    return [
        (cuts.far_ranks / n, cuts.largest_node_bytes_per_s, "NICs of the root's server: (n - g)/n S"),
        ((n - 1) / n, both, "links and NICs of the root GPU: (n - 1)/n S"),
    ]


def _exchanged(cuts: CutRates) -> list[_Bound]:
    """Bound all_to_all: every rank has S/n for each other one."""
    n = cuts.ranks
    if cuts.nodes == 1:
        return [((n - 1) / n, cuts.gpu_bytes_per_s, "links of one GPU: (n - 1)/n S")]
    return [
        (cuts.far_ranks, cuts.all_nodes_bytes_per_s, "NICs of all servers: (n - g) S"),
        (1, cuts.exchange_bytes_per_s, "links out of one part of the fabric: h (n - h)/n S"),
        (n - 1, cuts.every_link_bytes_per_s, "links of all GPUs and NICs: (n - 1) S"),
    ]


def _passed_on(cuts: CutRates) -> list[_Bound]:
    """Bound send_recv: every rank sends S to the next one, so some message leaves every set of ranks."""
    if cuts.nodes == 1:
        return [(1, cuts.gpu_bytes_per_s, "links of one GPU: S")]
    return [
        (1, cuts.smallest_node_bytes_per_s, "NICs of one server: S each way"),
        (1, cuts.smallest_part_bytes_per_s, "links out of one part of the fabric: S each way"),
        (cuts.ranks, cuts.every_link_bytes_per_s, "links of all GPUs and NICs: n S"),
    ]


def _by_table(cuts: CutRates) -> list[_Bound]:
    """Bound all_to_all_v: only its table says who sends to whom."""
    return [(0.0, cuts.gpu_bytes_per_s, "none: the table says who sends to whom")]


_BOUNDS: dict[str, Callable[[CutRates], list[_Bound]]] = {
    "all_gather": _gathered,
    "reduce_scatter": _gathered,
    "broadcast": _spread,
    "reduce": _spread,
    "gather": _at_root,
    "scatter": _at_root,
    "all_to_all": _exchanged,
    "all_to_all_v": _by_table,
    "send_recv": _passed_on,
}
