"""What a scheduler was told of the network: switches above nodes, or blocks of nodes."""

from __future__ import annotations

from dataclasses import dataclass

from gpufabric.records.findings import Finding


@dataclass(frozen=True, slots=True)
class SchedulerSwitch:
    """A switch of a tree, with the switches or the nodes below it; ``topology`` names the tree where there are several."""

    name: str
    line: int
    switches: tuple[str, ...] = ()
    nodes: tuple[str, ...] = ()
    topology: str = ""


@dataclass(frozen=True, slots=True)
class SchedulerBlock:
    """A block of nodes that share a fast domain, or a ring of them."""

    name: str
    line: int
    nodes: tuple[str, ...] = ()
    topology: str = ""


@dataclass(frozen=True, slots=True)
class SchedulerTopology:
    """One file: switches, blocks and allowed block sizes, and what is odd about them."""

    file: str
    switches: tuple[SchedulerSwitch, ...]
    blocks: tuple[SchedulerBlock, ...]
    block_sizes: tuple[int, ...] = ()
    findings: tuple[Finding, ...] = ()
    lines_read: int = 0
    lines_not_understood: int = 0
