"""What ``nvidia-smi topo -m`` says, however it was copied."""

from pathlib import Path

import pytest

from gpufabric.formats import nvidia_smi_topo

CAPTURED = Path(__file__).parents[2] / "captured" / "nvidia-smi-topo"


def near(topology) -> dict[str, list[str]]:
    """Return the real names of the NICs nearest to each GPU."""
    return {
        topology.devices[gpu].name: [topology.devices[nic].real_name for nic in topology.nearest_nics(gpu)]
        for gpu in topology.rows_of("gpu")
    }


def rules(topology) -> list[str]:
    return [finding.rule for finding in topology.findings]


def test_nics_may_stand_against_the_order_of_the_gpus():
    topology = nvidia_smi_topo.read(CAPTURED / "hopper-ten-nics.txt")
    assert len(topology.rows_of("gpu")) == 8
    assert len(topology.rows_of("nic")) == 10
    assert {topology.nvlinks(a, b) for a in range(8) for b in range(a)} == {18}
    order = [11, 10, 9, 8, 6, 5, 4, 3]
    assert near(topology) == {f"GPU{i}": [f"mlx5_{n}"] for i, n in enumerate(order)}
    assert [d.numa_node for d in topology.devices[:8]] == [0, 0, 0, 0, 1, 1, 1, 1]
    assert topology.devices[4].cpu_affinity == "48-95,144-191"
    assert topology.nics_hidden == 2
    assert (topology.cut, topology.lines_not_understood) == (False, 0)


def test_blanks_for_tabs_and_a_list_of_numa_nodes():
    topology = nvidia_smi_topo.read(CAPTURED / "tray-of-four-blanks.txt")
    assert [d.gpu_numa_id for d in topology.devices] == [1, 6, 8, 13, -1, -1, -1, -1]
    assert topology.devices[2].numa_affinity == "7,9-12"
    assert topology.devices[2].numa_node == 7
    assert near(topology) == {"GPU0": [], "GPU1": [], "GPU2": [], "GPU3": []}
    assert topology.path(6, 7) == "PIX"
    assert topology.findings == ()


def test_a_lost_header_is_said_and_names_come_from_the_rows():
    topology = nvidia_smi_topo.read(CAPTURED / "old-header-lost-cut.txt")
    assert [d.name for d in topology.devices] == ["GPU0", "GPU1", "GPU2", "GPU3", "mlx5_1", "mlx5_0"]
    assert topology.path(0, 2) == "NV1"
    assert topology.path(1, 2) == "SYS"
    assert near(topology)["GPU3"] == ["mlx5_1"]
    assert topology.cells[5] == ("PIX", "", "", "", "", "")
    assert topology.path(5, 1) == "PIX"
    assert (topology.cut, rules(topology)) == (True, ["input-cut", "input-cut"])


def test_wrapped_rows_are_joined():
    wrapped = nvidia_smi_topo.read(CAPTURED / "wrapped-ansi-marks.txt")
    whole = nvidia_smi_topo.read(CAPTURED / "hopper-ten-nics.txt")
    assert [d.real_name for d in wrapped.devices] == [d.real_name for d in whole.devices]
    assert [[c.replace("NV12", "NV18") for c in row] for row in wrapped.cells] == [
        list(r) for r in whole.cells
    ]
    assert wrapped.lines_not_understood == 0


@pytest.mark.parametrize(
    ("old", "new", "rule"),
    [
        ("GPU2\tNV18\tNV18\t X ", "GPU2\tNV12\tNV18\t X ", "input-contradiction"),
        ("GPU2\tNV18\tNV18\t X ", "GPU2\tNV18\tNV18\tNV18", "input-contradiction"),
        ("NIC9\tPXB", "NIC77\tPXB", "input-contradiction"),
        ("Legend:", "token=abcd\nLegend:", "input-lines"),
    ],
)
def test_what_contradicts_itself_or_is_foreign_is_said(tmp_path, old, new, rule):
    text = (CAPTURED / "hopper-ten-nics.txt").read_text()
    assert old in text
    path = tmp_path / "topo.txt"
    path.write_text(text.replace(old, new, 1))
    topology = nvidia_smi_topo.read(path)
    assert rule in rules(topology)
    assert "abcd" not in str(topology.findings)


def test_an_empty_file_says_so(tmp_path):
    path = tmp_path / "topo.txt"
    path.touch()
    topology = nvidia_smi_topo.read(path)
    assert (topology.devices, topology.cut, rules(topology)) == ((), True, ["input-cut"])
