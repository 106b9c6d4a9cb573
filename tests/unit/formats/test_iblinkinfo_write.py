"""What is written as iblinkinfo is read back as it was."""

from __future__ import annotations

import io

import numpy as np
import pytest

from gpufabric.errors import InputError
from gpufabric.formats.iblinkinfo import read_iblinkinfo
from gpufabric.formats.iblinkinfo_write import write_iblinkinfo
from gpufabric.graphs.cluster_subnet import lay_subnet, separate_subnets
from gpufabric.records.cluster import DeviceKind
from gpufabric.records.found_fabric import PortState


@pytest.fixture
def subnet(wire):
    design, _ = wire("dgx-h100", 4, "leaf-spine", "qm9790", "")
    (links,) = separate_subnets(design, 0)
    return lay_subnet(design, links).subnet


def test_links_rates_and_dark_ports_come_back(subnet):
    count = len(subnet.link_node)
    rates = ["2xNDR", "4xHDR", *["4xNDR"] * (count - 2)]
    switch = int(np.flatnonzero(subnet.is_switch)[0])
    found = read_iblinkinfo(io.BytesIO(write_iblinkinfo(subnet, rates, [(switch, 64)]).encode()), "i.txt")
    assert found.findings == ()
    assert found.lines_not_understood == 0
    assert len(found.cluster.links) == count
    assert sorted(found.link_speed) == sorted((int(rate[0]), rate[2:]) for rate in rates)
    assert (found.cluster.devices.kind == DeviceKind.SWITCH).sum() == subnet.is_switch.sum()
    assert (found.port_state == PortState.DARK).sum() == 1


def test_a_rate_that_the_tool_does_not_print_is_refused(subnet):
    with pytest.raises(InputError, match="allowed speeds are"):
        write_iblinkinfo(subnet, ["4xABC"] * len(subnet.link_node))
