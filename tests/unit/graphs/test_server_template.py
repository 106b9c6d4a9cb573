"""The inside of a server: what shares a PCIe switch, and how fast its ways are."""

import pytest

from gpufabric.catalog.load import load_catalog
from gpufabric.graphs.server_template import HOST, ServerTemplate, make_template

CATALOG = load_catalog()


def rate(template: ServerTemplate, start: int, end: int) -> float:
    [found] = template.bytes_per_s[(template.start == start) & (template.end == end)]
    return float(found)


@pytest.mark.parametrize(
    ("name", "to_cpu", "below"),
    [("dgx-h100", 63e9, 63e9), ("dgx-b300-xdr", 63e9, 121e9), ("aws-p5", 31e9, 63e9)],
)
def test_a_gpu_and_its_nic_meet_below_their_pcie_switch(name: str, to_cpu: float, below: float) -> None:
    template = make_template(CATALOG.server(name))
    for nic, gpu in enumerate(template.nic_gpu):
        if gpu < 0:
            continue
        switch = int(template.nic_pcie[nic])
        assert switch == template.gpu_pcie[gpu]
        nic_vertex = template.gpus + len(CATALOG.server(name).pcie) + nic
        assert rate(template, int(gpu), switch) == rate(template, switch, nic_vertex) == below
        assert rate(template, switch, HOST) == to_cpu
