"""Files of servers beside the servers of a description."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gpufabric.records.server_inside import ServerInside
from gpufabric.rules.server_as_described import check


def inside(gpus, links, maker="NVIDIA"):
    return ServerInside(
        where="topo.txt:2",
        gpus=tuple(f"GPU{number}" for number in range(gpus)),
        nics=(),
        paths=((),) * gpus,
        links=(links,) * gpus,
        pairs=(),
        numa=(-1,) * gpus,
        nic_bytes_per_s=(),
        uplinks=(),
        own_memory=False,
        maker=maker,
    )


@pytest.fixture(scope="module")
def h100(catalog):
    server = catalog.server("dgx-h100")
    return [server], {server.gpu: catalog.gpu(server.gpu)}


@pytest.mark.parametrize("found", [inside(8, 18), inside(8, -1), inside(8, 0), inside(8, 18, "")])
def test_the_described_server_is_fine(h100, found):
    assert check(found, *h100) == []


@pytest.mark.parametrize(
    ("found", "severity"),
    [
        (inside(8, 12), "error"),
        (inside(8, 7, "AMD"), "error"),
        (inside(16, 18), "error"),
        (inside(1, -1), "warning"),
        (inside(1, 0), "warning"),
        (inside(4, 18), "warning"),
    ],
)
def test_another_server_is_a_finding(h100, found, severity):
    (finding,) = check(found, *h100)
    assert (finding.rule, finding.severity, finding.where) == (
        "server-not-as-described",
        severity,
        "topo.txt:2",
    )
    assert "dgx-h100" in finding.expected


def test_one_gpu_with_fewer_links_is_no_other_server(h100):
    found = inside(8, 18)
    assert check(replace(found, links=(18,) * 7 + (16,)), *h100) == []
