"""Rates that no schedule can go around → the least time of an all-reduce."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CutRates:
    """What bounds an all-reduce of one job; rates are bytes/s, one direction.

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
    """

    ranks: int
    nodes: int
    smallest_node_bytes_per_s: float
    all_nodes_bytes_per_s: float
    smallest_part_bytes_per_s: float
    gpu_bytes_per_s: float
    all_gpus_bytes_per_s: float
    multicast: bool


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
    if cuts.multicast:
        # Even where switches add and multicast, no GPU's part of the sum is known elsewhere before it has sent it.
        bounds.append((n * size / every_link, "links of all GPUs and NICs: every GPU sends S"))
    else:
        bounds.append((2 * (n - 1) * size / every_link, "links of all GPUs and NICs: 2 (n - 1) S"))
    if not in_network:
        between = 2 * (nodes - 1) * size / cuts.all_nodes_bytes_per_s
        bounds.append((between, "NICs of all servers: 2 (N - 1) S"))
    return Ceiling(*max(bounds, key=lambda bound: bound[0]))


def least_time(op: str, cuts: CutRates, size_bytes: float, in_network: bool = False) -> Ceiling:
    """INTERIM."""
    if op == "all_reduce":
        return least_all_reduce_time(cuts, size_bytes, in_network)
    return Ceiling(size_bytes * 1e-15, "interim")
