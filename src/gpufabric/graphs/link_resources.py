"""The links of a GPU-level graph → the kind of resource that each of them is."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gpufabric.records.cluster import Cluster
from gpufabric.records.graph import Graph, VertexKind
from gpufabric.records.link_kinds import link_kinds

SCALE_UP, PCIE, NIC = 0, 1, 2
_TO_SERVERS = ("server_leaf", "server_server")


def link_resources(cluster: Cluster, graph: Graph) -> tuple[NDArray[np.int8], tuple[str, ...]]:
    """Return a code for each directed link of a GPU-level graph and the name of each code.

    Codes 0 and 1 are inside servers: ``scale-up`` (NVLink and its like) and ``pcie`` (everything else there). Code 2 is ``nic``:
    the cables of servers. The rest are links between switches, such as ``leaf-spine``, and ``other``.

    Returns
    -------
    codes : int8 array, one a link
    names : tuple of str
    """
    kind = graph.vertex_kind
    start, end = kind[graph.link_from], kind[graph.link_to]
    between_gpus = (start == VertexKind.GPU) & (end == VertexKind.GPU)
    scale_up = (start == VertexKind.SCALE_UP) | (end == VertexKind.SCALE_UP) | between_gpus
    codes = np.where(scale_up, SCALE_UP, PCIE).astype(np.int8)
    names = ["scale-up", "pcie", "nic"]
    cable_codes, cable_names = link_kinds(cluster)
    known = []
    for name in cable_names:
        word = "nic" if name in _TO_SERVERS else name.replace("_", "-")
        if word not in names:
            names.append(word)
        known.append(names.index(word))
    codes[graph.cable_link] = np.array(known, np.int8)[cable_codes][:, None] if known else NIC
    return codes, tuple(names)
