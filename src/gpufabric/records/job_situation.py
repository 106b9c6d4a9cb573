"""What a communication library sees of a job: the things that its choices depend on."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class JobSituation:
    """One job on one kind of hardware.

    Attributes
    ----------
    ranks, nodes : int
        A node is the NVLink domain: on NVL72 a whole rack.
    node_ranks : int
        Ranks of the node that has most.
    even : bool
        All nodes have as many.
    gpu : str
        Part id of the GPU.
    scale_up : str
        ``switched``, ``mesh``, ``pcie`` or ``none``: how the GPUs of a node reach each other, as the server part says.
    multicast : bool
        The scale-up switches add and multicast (NVLink SHARP).
    domain_servers : int
        Servers of one scale-up domain, 18 on NVL72.
    network : str
        ``infiniband``, ``ethernet`` … of the fabric; empty when the job stays in one node.
    nic : str
        Part id of the NIC, empty when unknown or not used.
    node_nics : int
        NICs of a node that carry the collective.
    nic_bytes_per_s : float
        One NIC, one direction.
    in_network : bool
        Switches of the fabric add (SHARP).
    """

    ranks: int
    nodes: int
    node_ranks: int
    even: bool
    gpu: str
    scale_up: str
    multicast: bool
    domain_servers: int
    network: str
    nic: str
    node_nics: int
    nic_bytes_per_s: float
    in_network: bool
