"""What is unusual about a found server."""

from pathlib import Path

from gpufabric.formats import nccl_topology_xml, nvidia_smi_topo
from gpufabric.rules.server_inside_of import inside_of_matrix, inside_of_topology
from gpufabric.rules.server_unusual import check

CAPTURED = Path(__file__).parents[2] / "captured"


def matrix(rows: dict[str, str], tmp_path: Path, headings: str = "CPU Affinity\tNUMA Affinity"):
    """Return the inside that a matrix of these rows shows; a row is its cells."""
    path = tmp_path / "topo.txt"
    lines = ["\t" + "\t".join(rows) + "\t" + headings]
    lines += [
        f"{name}\t" + "\t".join(cells.split()) + ("\t0-7\t0" if name[0] == "G" else "")
        for name, cells in rows.items()
    ]
    path.write_text("\n".join(lines) + "\n")
    found = nvidia_smi_topo.read(path)
    assert not found.cut
    return inside_of_matrix(found)


def rules(inside) -> list[str]:
    return [finding.rule for finding in check(inside)]


def test_nics_against_the_order_of_gpus():
    inside = inside_of_matrix(nvidia_smi_topo.read(CAPTURED / "nvidia-smi-topo" / "hopper-ten-nics.txt"))
    (finding,) = check(inside)
    assert finding.rule == "nic-order"
    assert "GPU0–mlx5_11, GPU1–mlx5_10" in finding.message
    assert inside.links == (18,) * 8


def test_columns_out_of_order_are_not_nics_out_of_order(tmp_path):
    inside = matrix(
        {
            "GPU0": "X NV4 SYS PIX",
            "GPU1": "NV4 X PIX SYS",
            "mlx5_10": "SYS PIX X SYS",
            "mlx5_9": "PIX SYS SYS X",
        },
        tmp_path,
    )
    assert [inside.near_nics(gpu) for gpu in range(2)] == [(1,), (0,)]
    assert rules(inside) == []


def test_a_gpu_without_a_near_nic(tmp_path):
    inside = matrix({"GPU0": "X NV4 PIX", "GPU1": "NV4 X NODE", "mlx5_0": "PIX NODE X"}, tmp_path)
    (finding,) = check(inside)
    assert (finding.rule, finding.severity) == ("gpu-without-near-nic", "warning")
    assert finding.message.startswith("GPU1 has no NIC")


def test_a_hidden_topology_and_one_that_is_so(tmp_path):
    assert rules(matrix({"GPU0": "X PHB PHB", "GPU1": "PHB X PHB", "mlx5_0": "PHB PHB X"}, tmp_path)) == [
        "topology-hidden"
    ]
    inside = matrix({"GPU0": "X SYS NODE", "GPU1": "SYS X SYS", "mlx5_0": "NODE SYS X"}, tmp_path)
    assert [(f.rule, f.severity) for f in check(inside)] == [("gpu-without-near-nic", "info")]


def test_of_superchips_the_matrix_does_not_tell_the_near_nic():
    inside = inside_of_matrix(nvidia_smi_topo.read(CAPTURED / "nvidia-smi-topo" / "tray-of-four-blanks.txt"))
    assert (inside.own_memory, inside.links, rules(inside)) == (True, (18,) * 4, ["gpu-without-near-nic"])


def test_a_gpu_with_fewer_nvlinks(tmp_path):
    inside = matrix({"GPU0": "X NV4 NV4", "GPU1": "NV4 X NV2", "GPU2": "NV4 NV2 X"}, tmp_path)
    assert inside.links == (8, 6, 6)
    assert rules(inside) == ["gpu-links-missing", "gpu-links-missing"]


def test_nics_that_share_an_uplink(tmp_path):
    pci = '<pci busid="0000:0{}:00.0" class="0x0{}" link_speed="16.0 GT/s PCIe" link_width="16">'
    net = '<nic><net name="mlx5_{}" dev="{}" speed="{}" port="1"/></nic></pci>'
    text = f'<system version="1"><cpu numaid="0">{pci.format(1, "60400")}\n'
    text += pci.format(2, "30200") + '<gpu dev="0" sm="80" rank="0"/></pci>\n'
    text += (
        pci.format(3, "20700") + net.format(0, 0, 200000) + pci.format(4, "20700") + net.format(1, 1, "{}")
    )
    path = tmp_path / "topo.xml"
    for speed, expected in ((200000, ["nics-share-uplink"]), (50000, [])):
        path.write_text(text.replace("{}", str(speed)) + "</pci></cpu></system>\n")
        inside = inside_of_topology(nccl_topology_xml.read(path))
        assert inside.near_nics(0) == (0, 1)
        assert rules(inside) == expected


def test_a_file_without_gpus_has_no_inside():
    assert (
        inside_of_topology(nccl_topology_xml.read(CAPTURED / "nccl-topology-xml" / "partial-no-classes.xml"))
        is None
    )
