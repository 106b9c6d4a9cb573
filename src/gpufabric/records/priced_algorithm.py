"""What one algorithm does on a wiring, whatever the size of the message."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class PricedAlgorithm:
    """The schedule of one algorithm, laid on the links of a cluster at nominal rates.

    The rates are bytes of the *message* (the size column of nccl-tests) per second, contention included: a message of S bytes
    keeps the links busy for ``S / line_bytes_per_s``. They are infinite where nothing moves.

    Attributes
    ----------
    op, algorithm : str
    ranks, nodes, channels : int
    line_bytes_per_s : float
        With all links at their nominal rates.
    inside_bytes_per_s : float
        If only the links inside nodes had a limit (scale-up, PCIe).
    fabric_bytes_per_s : float
        If only the NICs' ports and the links between switches had one; infinite on one node.
    ports_bytes_per_s : float, optional
        If only the NICs had one, all ports of a NIC taken together: what a library can know, whatever switches, hashes and the
        order of the ranks do to its messages. None: as ``fabric_bytes_per_s``.
    inside_steps, fabric_steps : int
        Messages that follow one another on the longest chain, those inside a node and those between nodes.
    path_latency_s : float
        Cables and switches on that chain, once a message.
    bottleneck : str
        The link that holds the slowest flow back, by the names of its ends.
    shares : dict of str to float
        Kind of resource (``scale-up``, ``pcie``, ``nic``, ``leaf-spine`` …) → time that it alone would need / time at line rate,
        0 to 1.
    changes_rail : bool
        A ring leaves nodes by another NIC than it enters them by, as over GPUs with direct links only.
    link_bytes : float64 array, one a directed link of the GPU-level graph, optional
        Bytes over each link per byte of the message; None where only aggregates were made.
    """

    op: str
    algorithm: str
    ranks: int
    nodes: int
    channels: int
    line_bytes_per_s: float
    inside_bytes_per_s: float
    fabric_bytes_per_s: float
    inside_steps: int
    fabric_steps: int
    path_latency_s: float
    bottleneck: str
    shares: dict[str, float] = field(default_factory=dict)
    link_bytes: NDArray[np.float64] | None = None
    ports_bytes_per_s: float | None = None
    changes_rail: bool = False


@dataclass(frozen=True, slots=True)
class PricedMenu:
    """Priced algorithms by name, as the job is set; and by queue pairs of a connection, where their number changes the rates."""

    as_set: Mapping[str, PricedAlgorithm]
    by_queue_pairs: Mapping[int, Mapping[str, PricedAlgorithm]] = field(default_factory=dict)
