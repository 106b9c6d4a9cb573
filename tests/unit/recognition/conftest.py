"""A designed InfiniBand fabric as the netlist that would be discovered of it, with or without mistakes."""

import io
from dataclasses import dataclass, replace

import numpy as np
import pytest

from gpufabric.formats.ibnetdiscover import read_ibnetdiscover
from gpufabric.formats.ibnetdiscover_write import write_ibnetdiscover
from gpufabric.graphs.cluster_subnet import lay_subnet, separate_subnets
from gpufabric.recognition.diagnose_cabling import diagnose_cabling
from gpufabric.recognition.match_fabric import match_fabric
from gpufabric.records.names import device_names
from gpufabric.records.subnet import Subnet


@dataclass
class Built:
    """The subnet of a design: ``ends[i]`` are the two (node, port) of designed link ``links[i]``."""

    design: object
    subnet: Subnet
    ends: list
    links: np.ndarray
    rates: list

    def node(self, name):
        return self.subnet.names.index(name)

    def text(self):
        node = np.array([[a[0], b[0]] for a, b in self.ends], np.int32).reshape(-1, 2)
        port = np.array([[a[1], b[1]] for a, b in self.ends], np.int16).reshape(-1, 2)
        subnet = replace(self.subnet, link_node=node, link_port=port)
        return write_ibnetdiscover(subnet, tuple(self.rates))

    def found(self):
        return read_ibnetdiscover(io.BytesIO(self.text().encode()), "built.txt")

    def diagnose(self):
        found = self.found()
        match = match_fabric(self.design, found)
        return match, diagnose_cabling(self.design, found, match)

    def unplug(self, *rows):
        for row in sorted(rows, reverse=True):
            del self.ends[row], self.rates[row]


def build(design, anonymous=False):
    (links,) = separate_subnets(design, 0)
    laid = lay_subnet(design, links)
    subnet, hosts, names = laid.subnet, device_names(design), []
    adapters = {}
    for row, (device, is_switch) in enumerate(zip(laid.device.tolist(), subnet.is_switch, strict=True)):
        if is_switch:
            names.append(
                "Quantum-2 Mellanox Technologies" if anonymous else f"MF0;{hosts[device]}:MQM9790/U1"
            )
        else:
            rank = adapters[device] = adapters.get(device, -1) + 1
            names.append(
                f"box{row} mlx5_0"
                if anonymous
                else f"{hosts[device]} mlx5_{(0, 3, 4, 5, 6, 9, 10, 11)[rank % 8]}"
            )
    if anonymous:
        names = [name if "Quantum" in name else "MT4129 ConnectX7   Mellanox Technologies" for name in names]
    ends = [
        ((int(n[0]), int(p[0])), (int(n[1]), int(p[1])))
        for n, p in zip(subnet.link_node, subnet.link_port, strict=True)
    ]
    return Built(design, replace(subnet, names=tuple(names)), ends, links, ["4xNDR"] * len(ends))


@pytest.fixture
def built(wire):
    """Return a function that builds a design and the netlist of it."""

    def make(servers=16, topology="rail-optimized", anonymous=False, more=", unit_servers: 8"):
        design, _ = wire("dgx-h100", servers, topology, "qm9790", more)
        return build(design, anonymous)

    return make
