"""The drawing of a server's inside: every device once, well-formed, what is unusual marked."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from gpufabric.records.server_inside import ServerInside
from gpufabric.report.server_inside_svg import draw_server_inside


def inside(gpus=4, nics=4, path="PXB"):
    paths = tuple(tuple(path if g == n else "SYS" for n in range(nics)) for g in range(gpus))
    return ServerInside(
        where="topo.txt:3", gpus=tuple(f"GPU{i}" for i in range(gpus)), nics=tuple(f"mlx5_{i}" for i in range(nics)),
        paths=paths, links=(18,) * gpus, pairs=(), numa=tuple(i * 2 // max(gpus, 1) for i in range(gpus)),
        nic_bytes_per_s=(50e9,) * nics, uplinks=(), own_memory=False, maker="NVIDIA",
    )  # fmt: skip


def texts(svg):
    return [node.text for node in ET.fromstring(svg).iter("{http://www.w3.org/2000/svg}text")]


@given(st.integers(1, 16), st.integers(0, 16), st.sampled_from(["PIX", "PXB", "NODE", "SYS", ""]))
def test_every_device_is_drawn_once(gpus, nics, path):
    said = texts(draw_server_inside(inside(gpus, nics, path), "server"))
    for name in (*(f"GPU{i}" for i in range(gpus)), *(f"mlx5_{i}" for i in range(nics))):
        assert said.count(name) == 1


def test_a_gpu_with_fewer_links_is_marked():
    svg = draw_server_inside(replace(inside(), links=(18, 18, 16, 18)), "server")
    assert svg.count('class="over"') == 1
    assert "16 links, its best peer has 18" in svg


def test_a_healthy_server_has_no_mark():
    assert 'class="over"' not in draw_server_inside(inside(), "server")


def test_names_of_strangers_do_no_harm():
    said = replace(inside(1, 1), gpus=("<script>&\x1b[31m",), where='a"b<c')
    assert "<script>" not in draw_server_inside(said, "<b>")
