"""The insides of the shipped servers: they agree with their parts, and say what is published and what is assumed."""

from collections import Counter

import pytest

from gpufabric.catalog.load import load_catalog
from gpufabric.records.parts import ServerPart
from gpufabric.units import parse_rate

CATALOG = load_catalog()
SERVERS = CATALOG.ids("server")

# Servers that use fewer links inside than the GPU has: 21 of 24 ports of a Gaudi, 5 of 7 links of an MI250X.
INSIDE_SHARE = {"gaudi-2-hls": 21 / 24, "gaudi-3-hls": 21 / 24, "hpe-ex235a-mi250x": 5 / 7}
PCIE_X16 = {3: 16e9, 4: 31e9, 5: 63e9}


@pytest.mark.parametrize("name", SERVERS)
def test_the_scale_up_of_a_server_is_that_of_its_gpus(name: str) -> None:
    server = CATALOG.server(name)
    gpu = CATALOG.gpu(server.gpu)
    if server.scale_up.kind == "pcie":
        assert gpu.scale_up_links is None
        assert server.scale_up.gpu_bytes_per_s == PCIE_X16[gpu.pcie_generation or 0]
        return
    assert gpu.scale_up_links is not None
    assert gpu.scale_up_bytes_per_s_per_link is not None
    whole = gpu.scale_up_links * gpu.scale_up_bytes_per_s_per_link
    assert server.scale_up.gpu_bytes_per_s == pytest.approx(whole * INSIDE_SHARE.get(name, 1))


@pytest.mark.parametrize("name", SERVERS)
def test_the_nics_of_a_server_fit_its_cages(name: str) -> None:
    server = CATALOG.server(name)
    connectors = {
        cage: group.connector
        for group in server.cages
        for cage in range(group.first, group.first + group.count)
    }
    for nic in server.nics:
        part = CATALOG.nic(nic.part)
        assert len(nic.ports) <= part.ports
        for port in nic.ports:
            assert None in (part.connector, connectors[port.cage]) or part.connector == connectors[port.cage]


@pytest.mark.parametrize("name", SERVERS)
def test_each_rail_appears_once_a_plane(name: str) -> None:
    server = CATALOG.server(name)
    compute = [nic for nic in server.nics if nic.purpose == "compute"]
    seen = Counter((port.plane, port.rail) for nic in compute for port in nic.ports)
    planes = {plane for plane, _ in seen}
    assert seen == Counter({(plane, rail): 1 for plane in planes for rail in range(len(compute))})
    for nic in server.nics:
        rails = {port.rail for port in nic.ports}
        assert rails == ({compute.index(nic)} if nic in compute else {None})


@pytest.mark.parametrize("name", SERVERS)
def test_a_nic_hangs_on_the_pcie_switch_of_its_gpu(name: str) -> None:
    server = CATALOG.server(name)
    compute = [nic for nic in server.nics if nic.purpose == "compute"]
    for nic in compute:
        assert nic.gpu is None or nic.pcie == server.gpus[nic.gpu].pcie
    if len(compute) == len(server.gpus):
        assert [nic.gpu for nic in compute] == list(range(len(compute)))


@pytest.mark.parametrize("name", SERVERS)
def test_no_pcie_link_is_slower_than_the_nic_that_is_beside_a_gpu(name: str) -> None:
    # Two GPUs may share a PCIe switch, and on older servers that is what limits them, but one NIC is never limited.
    server = CATALOG.server(name)
    rates = {pcie.id: pcie.peer_bytes_per_s or pcie.bytes_per_s for pcie in server.pcie}
    for nic in server.nics:
        if nic.gpu is not None:
            assert len(nic.ports) * CATALOG.nic(nic.part).port_bytes_per_s <= rates[nic.pcie]


# What published measurements were taken on: GPUs a server, scale-up per GPU, compute ports and their rate.
MEASURED_ON = [
    ("dgx-1-v100", 8, "150 GB/s", 4, "100 Gb/s"),
    ("dgx-a100", 8, "300 GB/s", 8, "200 Gb/s"),
    ("hgx-a100-40gb-4nic", 8, "300 GB/s", 4, "200 Gb/s"),
    ("aws-p4d", 8, "300 GB/s", 4, "100 Gb/s"),
    ("oci-bm-gpu4-8", 8, "300 GB/s", 16, "100 Gb/s"),
    ("oci-bm-gpu-b4-8", 8, "300 GB/s", 16, "100 Gb/s"),
    ("hpe-a100-quad", 4, "300 GB/s", 4, "200 Gb/s"),
    ("hpe-gh200-quad", 4, "450 GB/s", 4, "200 Gb/s"),
    ("dgx-h100", 8, "450 GB/s", 8, "400 Gb/s"),
    ("aws-p5", 8, "450 GB/s", 32, "100 Gb/s"),
    ("oci-bm-gpu-h100-8", 8, "450 GB/s", 16, "200 Gb/s"),
    ("azure-nd-h100-v5", 8, "450 GB/s", 8, "400 Gb/s"),
    ("gcp-a3-high", 8, "450 GB/s", 4, "200 Gb/s"),
    ("gcp-a3-mega", 8, "450 GB/s", 8, "200 Gb/s"),
    ("aws-p5en", 8, "450 GB/s", 16, "200 Gb/s"),
    ("hgx-h800", 8, "200 GB/s", 8, "400 Gb/s"),
    ("hgx-h20", 8, "450 GB/s", 8, "400 Gb/s"),
    ("aws-p6-b200", 8, "900 GB/s", 8, "400 Gb/s"),
    ("aws-p6-b300", 8, "900 GB/s", 16, "400 Gb/s"),
    ("oci-bm-gpu-b300-8", 8, "900 GB/s", 16, "400 Gb/s"),
    ("gb200-nvl72-tray", 4, "900 GB/s", 4, "400 Gb/s"),
    ("oci-bm-gpu-gb200-v3-4", 4, "900 GB/s", 8, "400 Gb/s"),
    ("gb300-nvl72-tray", 4, "900 GB/s", 4, "800 Gb/s"),
    ("hgx-mi300x", 8, "448 GB/s", 8, "400 Gb/s"),
    ("azure-nd-mi300x-v5", 8, "448 GB/s", 8, "400 Gb/s"),
    ("hgx-mi350x", 8, "535.5 GB/s", 8, "400 Gb/s"),
    ("gaudi-3-hls", 8, "525 GB/s", 24, "200 Gb/s"),
    ("pcie-2x-h100-bridge", 2, "300 GB/s", 0, ""),
    ("pcie-8x-rtx-4090", 8, "31 GB/s", 0, ""),
    ("pcie-8x-rtx-5090", 8, "63 GB/s", 0, ""),
    ("pcie-8x-rtx-6000d", 8, "63 GB/s", 0, ""),
]


@pytest.mark.parametrize(("name", "gpus", "scale_up", "ports", "rate"), MEASURED_ON)
def test_servers_that_measurements_come_from(
    name: str, gpus: int, scale_up: str, ports: int, rate: str
) -> None:
    server = CATALOG.server(name)
    compute = [nic for nic in server.nics if nic.purpose == "compute"]
    assert len(server.gpus) == gpus
    assert server.scale_up.gpu_bytes_per_s == parse_rate(scale_up)
    assert sum(len(nic.ports) for nic in compute) == ports
    assert {CATALOG.nic(nic.part).port_bytes_per_s for nic in compute} == (
        {parse_rate(rate)} if rate else set()
    )


def cage_map(server: ServerPart) -> dict[int, tuple[str, int, int]]:
    return {
        nic.gpu: (nic.name, nic.ports[0].cage, nic.ports[0].lane)
        for nic in server.nics
        if nic.gpu is not None
    }


def test_the_cages_of_a_dgx_h100_are_those_of_its_guide() -> None:
    # DGX H100/H200 user guide, Table 6: the order of the cages is not the order of the GPUs.
    assert cage_map(CATALOG.server("dgx-h100")) == {
        0: ("mlx5_0", 4, 2),
        1: ("mlx5_3", 3, 2),
        2: ("mlx5_4", 3, 1),
        3: ("mlx5_5", 4, 1),
        4: ("mlx5_6", 1, 2),
        5: ("mlx5_9", 2, 2),
        6: ("mlx5_10", 2, 1),
        7: ("mlx5_11", 1, 1),
    }


def test_the_cages_of_a_dgx_b200_are_marked_as_assumed() -> None:
    server = CATALOG.server("dgx-b200")
    assert "not published" in server.assumed["nics.ports"]
    assert {cage for _, cage, _ in cage_map(server).values()} == {1, 2, 3, 4}


def test_the_two_networks_of_a_dgx_b300() -> None:
    xdr, spectrum = CATALOG.server("dgx-b300-xdr"), CATALOG.server("dgx-b300-spectrum")
    for server, ports, rate in ((xdr, 1, "800 Gb/s"), (spectrum, 2, "400 Gb/s")):
        nics = [nic for nic in server.nics if nic.purpose == "compute"]
        assert [[port.plane for port in nic.ports] for nic in nics] == [list(range(ports))] * 8
        assert {CATALOG.nic(nic.part).port_bytes_per_s for nic in nics} == {parse_rate(rate)}


@pytest.mark.parametrize(
    ("name", "whole", "pair"),
    [
        ("hgx-mi300x", 448e9, 64e9),
        ("hgx-mi325x", 448e9, 64e9),
        ("hgx-mi355x", 535.5e9, 76.5e9),
        ("gaudi-3-hls", 525e9, 75e9),
        ("hpe-gh200-quad", 450e9, 150e9),
    ],
)
def test_a_mesh_pair_has_its_own_links_only(name: str, whole: float, pair: float) -> None:
    server = CATALOG.server(name)
    up = server.scale_up
    assert (up.kind, up.gpu_bytes_per_s, up.pair_bytes_per_s) == ("mesh", whole, pair)
    assert pair * (len(server.gpus) - 1) == pytest.approx(whole)


def test_the_network_of_a_gaudi_is_on_its_die() -> None:
    server, nic = CATALOG.server("gaudi-3-hls"), CATALOG.nic("gaudi-3-on-die")
    inside = server.scale_up.gpu_bytes_per_s / nic.port_bytes_per_s
    outside = {len(entry.ports) for entry in server.nics}
    assert (inside, outside, nic.ports) == (21, {3}, 24)


@pytest.mark.parametrize("name", ["dgx-b300-xdr", "dgx-b300-spectrum", "hgx-b300", "gb300-nvl72-tray"])
def test_a_connectx_8_is_faster_towards_its_gpu_than_towards_the_cpu(name: str) -> None:
    server = CATALOG.server(name)
    beside = {gpu.pcie for gpu in server.gpus}
    rates = {(p.bytes_per_s, p.peer_bytes_per_s) for p in server.pcie if p.id in beside}
    assert rates == {(63e9, 121e9)}


@pytest.mark.parametrize("name", ["gb200-nvl72-tray", "gb300-nvl72-tray", "oci-bm-gpu-gb200-v3-4"])
def test_a_rack_of_trays_is_one_domain(name: str) -> None:
    server = CATALOG.server(name)
    assert len(server.gpus) * server.scale_up.domain_servers == 72


def test_two_gpus_of_a_dgx_a100_share_a_pcie_switch() -> None:
    shared = Counter(gpu.pcie for gpu in CATALOG.server("dgx-a100").gpus)
    assert set(shared.values()) == {2}


@pytest.mark.parametrize(
    ("name", "part_id"),
    [
        ("p5.48xlarge", "aws-p5"),
        ("a3-megagpu-8g", "gcp-a3-mega"),
        ("BM.GPU.H100.8", "oci-bm-gpu-h100-8"),
        ("Standard_ND96isr_H100_v5", "azure-nd-h100-v5"),
    ],
)
def test_cloud_shapes_are_found_by_the_name_of_their_cloud(name: str, part_id: str) -> None:
    assert CATALOG.server(name).id == part_id
