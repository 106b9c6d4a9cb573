"""The job behind ``gpufabric parts``."""

import json
from pathlib import Path

import pytest

from gpufabric.catalog.load import load_catalog
from gpufabric.errors import PartError
from gpufabric.jobs.parts import list_parts, show_part

CATALOG = load_catalog()
OWN = """
id = "sn5600"
kind = "switch"
vendor = "Example Networks"
model = "Own"
status = "generic"
network = "ethernet"
cages = [{ count = 2, modes = [{ ports = 1, port_bytes_per_s = "100 Gb/s" }] }]
"""


def test_a_list_has_all_parts_or_those_of_a_kind() -> None:
    assert [p.id for p in list_parts(CATALOG).parts] == list(CATALOG.ids())
    gpus = list_parts(CATALOG, "gpu").parts
    assert {p.kind for p in gpus} == {"gpu"}
    assert {p.id: p.what for p in gpus}["h100-sxm"] == "989 TFLOP/s BF16, 80 GiB (85.9 GB) memory, NVLink 4"


def test_a_list_says_what_is_the_users(tmp_path: Path) -> None:
    (tmp_path / "sn5600.toml").write_text(OWN)
    found = list_parts(load_catalog(tmp_path), "switch")
    mine = [p for p in found.parts if p.own]
    assert [(p.id, p.replaces, p.what) for p in mine] == [("sn5600", True, "2 × 100 Gb/s")]
    assert found.to_dict()["overridden"] == ("sn5600",)


def test_an_unknown_kind_is_refused() -> None:
    with pytest.raises(PartError, match='part kind "swicth" is unknown'):
        list_parts(CATALOG, "swicth")


@pytest.mark.parametrize("part_id", CATALOG.ids())
def test_every_sheet_is_json_and_each_figure_says_where_it_is_from(part_id: str) -> None:
    sheet = show_part(CATALOG, part_id)
    document = json.loads(json.dumps(sheet.to_dict(), allow_nan=False))
    assert document["id"] == part_id
    assert document["figures"]
    for figure in sheet.figures:
        assert figure.text
        assert figure.text.isprintable()
        assert figure.url.startswith("http") or figure.assumed
    assert bool(sheet.picture) == (sheet.kind == "server")


def test_figures_are_readable_and_marked() -> None:
    figures = {f.field: f for f in show_part(CATALOG, "MQM9700-NS2F").figures}
    assert figures["throughput_bytes_per_s"].text == "25.6 Tb/s"
    assert figures["cages"].text == "32 × osfp-finned as 2 × 400 Gb/s or 4 × 200 Gb/s, 17 W a module"
    assert figures["max_power_w"].text == "1.72 kW"
    assert figures["max_power_w"].secondary
    b200 = {f.field: f for f in show_part(CATALOG, "dgx-b200").figures}
    assert "those of the DGX H100" in b200["nics.ports"].assumed
    assert b200["nics.ports"].source == ""
    assert b200["nics"].text == "12, see the picture"


@pytest.mark.parametrize(
    ("part_id", "field", "text"),
    [
        ("h100-sxm", "flops_fp8", "1,979 TFLOP/s"),
        ("h100-sxm", "hbm_bytes_per_s", "3350 GB/s"),
        ("h100-sxm", "scale_up_bytes_per_s_per_link", "25 GB/s"),
        ("mcp4y10", "latency_s_per_m", "4.5 ns/m"),
        ("mcp4y10", "lengths_m", "0.5 m, 1 m, 1.5 m, 2 m"),
        ("qm8700", "latency_s", "130 ns"),
        ("qm8700", "managed", "yes"),
        ("qm8790", "managed", "no"),
        ("dgx-h100", "weight_kg", "130.45 kg"),
        ("dgx-h100", "airflow_cfm", "1105 CFM"),
        ("dgx-h100", "scale_up", "kind switched, gpu 450 GB/s, switches 4, domain servers 1, multicast yes"),
        ("dgx-h100", "cages", "OSFP 1 to 4: osfp-flat, 2 ports each; cage 5 to 8: qsfp112"),
        ("dgx-h100", "nics.part", "connectx-7-onboard, connectx-7-400g-2p"),
        ("dgx-b200", "nics.ports", "12, see the picture"),
        ("connectx-7", "price_usd", "2,188.00 USD"),
        ("sn5600", "cages.modes.disables_next_cage", "no, yes"),
    ],
)
def test_text_of_figures(part_id: str, field: str, text: str) -> None:
    assert {f.field: f.text for f in show_part(CATALOG, part_id).figures}[field] == text


def test_the_picture_of_a_server() -> None:
    picture = show_part(CATALOG, "dgx-h100").picture
    assert picture[:5] == (
        "scale-up: switched, 450 GB/s from one GPU to all peers, 4 switches, "
        "reduction and multicast in the switches",
        "NUMA node 0",
        "├─ pcie0 (63 GB/s to the CPU)",
        "│  ├─ GPU 0",
        "│  └─ mlx5_0 (connectx-7-onboard, beside GPU 0): OSFP4, lane 2, rail 0, plane 0, 400 Gb/s",
    )
    assert sum("GPU" in line and "beside" not in line for line in picture[1:]) == 8


def test_a_server_with_a_missing_nic_says_so(tmp_path: Path) -> None:
    text = """
id = "box"
kind = "server"
vendor = "Example Systems"
model = "Box"
status = "generic"
gpu = "h100-sxm"
scale_up = { kind = "mesh", gpu_bytes_per_s = "3 GB/s", pair_bytes_per_s = "1 GB/s", domain_servers = 2 }
gpus = [{ index = 0, pcie = "" }]
nics = [{ name = "n0", part = "NIC", ports = [{ cage = 1 }] }]
cages = [{ count = 1, connector = "osfp-flat" }]
"""
    path = tmp_path / "box.toml"
    path.write_text(text.replace("NIC", "connectx-77"))
    with pytest.raises(PartError, match='nic "connectx-77" is unknown; gpufabric parts --kind nic lists the'):
        show_part(load_catalog(tmp_path), "box")
    path.write_text(text.replace("NIC", "connectx-7"))
    assert show_part(load_catalog(tmp_path), "box").picture == (
        "scale-up: mesh, 3 GB/s from one GPU to all peers, 1 GB/s a pair, one domain spans 2 servers",
        "PCIe attachment not known",
        "├─ GPU 0",
        "└─ n0 (connectx-7): cage 1, 400 Gb/s",
    )
