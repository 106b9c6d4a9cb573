"""Links → the names at both ends of each, as lists that writers walk through."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gpufabric.records.cluster import Cluster
from gpufabric.records.names import device_names


@dataclass(frozen=True, slots=True)
class LinkEnds:
    """Names at the lower (a) and upper (b) end of links. L rows."""

    device_a: list[str]
    port_a: list[str]
    device_b: list[str]
    port_b: list[str]

    def __iter__(self) -> Iterator[tuple[str, str, str, str]]:
        return iter(zip(self.device_a, self.port_a, self.device_b, self.port_b, strict=True))


def link_ends(cluster: Cluster, links: NDArray[np.int64], ports: NDArray[np.object_]) -> LinkEnds:
    """Return the names at the ends of *links*.

    Parameters
    ----------
    cluster
    links : int64 array, L
    ports : object array of str
        Name of every port of the cluster.
    """
    devices = device_names(cluster)
    a, b = cluster.links.port_a[links], cluster.links.port_b[links]
    return LinkEnds(
        devices[cluster.ports.device[a]].tolist(),
        ports[a].tolist(),
        devices[cluster.ports.device[b]].tolist(),
        ports[b].tolist(),
    )
