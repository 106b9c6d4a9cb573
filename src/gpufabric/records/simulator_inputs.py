"""What network simulators read: topologies, traces and schedules, as our strict readers give them back."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class AnalyticalDimension:
    """One dimension of ASTRA-sim's analytical network.

    ``bytes_per_s`` is one link, one direction; ``latency_s`` one link: a message over a ``Switch`` takes two.
    """

    topology: str
    npus: int
    bytes_per_s: float
    latency_s: float


@dataclass(frozen=True, slots=True)
class ChakraNode:
    """One operation of a Chakra trace; ``attributes`` by name, in the order of the file."""

    id: int
    name: str
    type: int
    attributes: tuple[tuple[str, int | bool], ...]

    def attribute(self, name: str) -> int | bool | None:
        """Return an attribute; None when the node has none of that name."""
        return dict(self.attributes).get(name)


@dataclass(frozen=True, slots=True)
class ChakraTrace:
    """The trace of one rank."""

    version: str
    nodes: tuple[ChakraNode, ...]


@dataclass(frozen=True, slots=True)
class SimaiTopology:
    """SimAI's network: GPUs are the nodes that are neither NVSwitches nor switches. L links.

    Attributes
    ----------
    nodes, gpus_per_server : int
    nv_switches, switches : int64 arrays
    gpu_type : str
    start, end : int64 arrays, L
    bytes_per_s, delay_s : float64 arrays, L
        One direction.
    """

    nodes: int
    gpus_per_server: int
    nv_switches: NDArray[np.int64]
    switches: NDArray[np.int64]
    gpu_type: str
    start: NDArray[np.int64]
    end: NDArray[np.int64]
    bytes_per_s: NDArray[np.float64]
    delay_s: NDArray[np.float64]

    @property
    def gpus(self) -> int:
        """How many nodes are GPUs."""
        return self.nodes - len(self.nv_switches) - len(self.switches)


@dataclass(frozen=True, slots=True)
class HtsimTier:
    """One tier of htsim's fat tree; ``bytes_per_s`` and ``latency_s`` are of one link downwards, ``bundle`` is parallel links."""

    bytes_per_s: float
    radix_down: int
    radix_up: int
    oversubscribed: int
    bundle: int
    latency_s: float
    switch_latency_s: float


@dataclass(frozen=True, slots=True)
class HtsimTopology:
    """htsim's fat tree."""

    nodes: int
    pod_nodes: int
    tiers: tuple[HtsimTier, ...]

    @property
    def switches(self) -> tuple[int, ...]:
        """How many switches htsim builds on each tier, from the lowest."""
        uplinks = self.nodes // self.tiers[0].radix_down * self.tiers[0].radix_up
        counts = [self.nodes // self.tiers[0].radix_down, uplinks // self.tiers[1].radix_down]
        if len(self.tiers) > 2:
            counts.append(counts[1] * self.tiers[1].radix_up // self.tiers[2].radix_down)
        return tuple(counts)


@dataclass(frozen=True, slots=True)
class HtsimConnections:
    """htsim's connection matrix: C flows, each from its start on.

    Attributes
    ----------
    nodes : int
    sender, receiver, size_bytes : int64 arrays, C
    start_s : float64 array, C
    """

    nodes: int
    sender: NDArray[np.int64]
    receiver: NDArray[np.int64]
    size_bytes: NDArray[np.int64]
    start_s: NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class GoalOperation:
    """A send or receive of one rank; ``after`` are the operations of the same rank that must end first."""

    kind: str
    size_bytes: int
    peer: int
    tag: int
    after: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class GoalSchedule:
    """GOAL schedule: the operations of each rank."""

    ranks: tuple[tuple[GoalOperation, ...], ...]


@dataclass(frozen=True, slots=True)
class InfraGraphEdge:
    """A link between components of two device instances, such as ``leaf[3]`` ``port[5]``; rates NaN where none is said."""

    ends: tuple[tuple[str, int, str, int], tuple[str, int, str, int]]
    bytes_per_s: float
    latency_s: float


@dataclass(frozen=True, slots=True)
class InfraGraph:
    """An InfraGraph infrastructure.

    Attributes
    ----------
    name : str
    components : dict
        Device → component → how many of it one device has.
    instances : dict
        Instance → (device, count).
    edges : tuple of InfraGraphEdge
    inner_edges : dict
        Device → how many edges it has between its own components.
    """

    name: str
    components: dict[str, dict[str, int]]
    instances: dict[str, tuple[str, int]]
    edges: tuple[InfraGraphEdge, ...]
    inner_edges: dict[str, int]
