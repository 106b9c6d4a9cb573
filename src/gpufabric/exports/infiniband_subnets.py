"""Cluster → the InfiniBand subnets of the chosen fabrics, each with a word that files are named by."""

from __future__ import annotations

import re
from dataclasses import replace
from math import isnan

import numpy as np
from numpy.typing import NDArray

from gpufabric.exports.interface_names import interface_names
from gpufabric.graphs.cluster_subnet import LaidSubnet, adapter_ports, lay_subnet, separate_subnets
from gpufabric.records.cluster import Cluster
from gpufabric.records.export_target import ExportSource
from gpufabric.records.names import device_names
from gpufabric.units import gbps

#: Width and generation by rate in Gb/s: one lane is 25 (EDR), 50 (HDR), 100 (NDR) or 200 (XDR) Gb/s.
RATES = {800: "4xXDR", 400: "4xNDR", 200: "4xHDR", 100: "4xEDR", 50: "2xEDR", 25: "1xEDR"}
_NO_RATE = "4xSDR"


def infiniband_subnets(source: ExportSource) -> list[tuple[str, LaidSubnet, NDArray[np.int64]]]:
    """Return each subnet: the word for its files, empty when it is the only one; its nodes; and its links in the cluster.

    Planes are subnets of their own, and so are the rails of a rail-only fabric.

    Raises
    ------
    InputError
        If a link has no switch at its ends, or a subnet more nodes than LIDs.
    """
    cluster = source.cluster
    found = []
    for fabric in source.fabrics:
        subnets = separate_subnets(cluster, fabric)
        for number, links in enumerate(subnets, start=1):
            words = [_slug(cluster.fabrics[fabric].name)] if len(source.fabrics) > 1 else []
            words += [f"subnet{number}"] if len(subnets) > 1 else []
            found.append(("-".join(words), lay_subnet(cluster, links, source.parts), links))
    return found


def file_name(stem: str, word: str, ending: str) -> str:
    """Return the name of the file of one subnet."""
    return f"{stem}-{word}{ending}" if word else f"{stem}{ending}"


def with_system_names(source: ExportSource, laid: LaidSubnet, links: NDArray[np.int64]) -> LaidSubnet:
    """Return the subnet with the names that nodes give of themselves: ``server mlx5_3`` of an adapter, its name of a switch."""
    cluster = source.cluster
    hosts: list[str] = device_names(cluster, laid.device).tolist()
    ports = interface_names(cluster, "rdma", source.parts)[adapter_ports(cluster, links)].tolist()
    ends = [host if port == host else f"{host} {port}" for host, port in zip(hosts, ports, strict=False)]
    return replace(laid, subnet=replace(laid.subnet, names=(*ends, *hosts[len(ends) :])))


def rate_words(cluster: Cluster, links: NDArray[np.int64]) -> tuple[str, ...]:
    """Return width and speed of each link as ibnetdiscover prints them; what it has no word for is ``4xSDR``."""
    rates = cluster.links.bytes_per_s[links].tolist()
    return tuple(_NO_RATE if isnan(rate) else RATES.get(round(gbps(rate)), _NO_RATE) for rate in rates)


def _slug(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-") or "fabric"
