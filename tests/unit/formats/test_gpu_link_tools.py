"""NVLink status and errors, and AMD's topology tables."""

import math
from pathlib import Path

import pytest

from gpufabric.formats import amd_topology, nvidia_smi_nvlink

CAPTURED = Path(__file__).parents[2] / "captured"


def rules(record) -> list[str]:
    return [finding.rule for finding in record.findings]


def test_inactive_links_missing_links_and_errors():
    status = nvidia_smi_nvlink.read(CAPTURED / "nvlink-status" / "three-gpus-errors.txt")
    assert [(gpu.index, gpu.active, gpu.inactive) for gpu in status.gpus] == [
        (0, 3, ()),
        (1, 2, (1,)),
        (2, 2, ()),
    ]
    assert status.gpus[0].links[0].bytes_per_s == pytest.approx(26.562e9)
    assert dict(status.gpus[2].links[1].errors) == {
        "Replay Errors": 12,
        "Recovery Errors": 1,
        "CRC Errors": 0,
    }
    assert [(f.rule, f.severity) for f in status.findings] == [
        ("gpu-links-missing", "error"),
        ("gpu-links-missing", "warning"),
        ("nvlink-errors", "warning"),
    ]
    assert status.findings[0].message == "GPU 1 has 2 of 3 NVLinks up; down: 1"
    assert status.lines_not_understood == 0


def test_errors_alone_tell_no_rate(tmp_path):
    path = tmp_path / "nvlink"
    path.write_text("GPU 0: A GPU\n\t Link 0: CRC Errors: 0\nGPU 1: A GPU\n")
    status = nvidia_smi_nvlink.read(path)
    assert math.isnan(status.gpus[0].links[0].bytes_per_s)
    assert status.gpus[0].inactive == ()
    assert status.findings == ()


def test_weights_tell_which_pairs_are_direct():
    read = amd_topology.read(CAPTURED / "amd-topology" / "amd-smi-square.txt")
    assert read.gpus == ("0000:11:00.0", "0000:2f:00.0", "0000:46:00.0", "0000:8b:00.0")
    assert [read.direct_xgmi(i) for i in range(4)] == [(1, 2), (0, 3), (0, 3), (1, 2)]
    assert {hop for row in read.hops for hop in row} == {0, 1}
    assert read.link_types[0] == ("SELF", "XGMI", "XGMI", "XGMI")
    assert sorted(read.other_tables) == ["access table", "numa bw table"]
    assert (read.findings, read.lines_not_understood) == ((), 0)


def test_a_table_that_is_not_symmetric_is_refused():
    read = amd_topology.read(CAPTURED / "amd-topology" / "rocm-smi-altered.txt")
    assert (read.weights, read.hops) == ((), ((0, 3), (3, 0)))
    assert (read.numa_nodes, read.direct_xgmi(0)) == ((1, 0), ())
    assert rules(read) == ["input-contradiction"]
    assert "GPU1–GPU0 is 40 one way and 72 the other" in read.findings[0].message


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("0000:2f:00.0 15           0 ", "0000:2f:00.0 15           15"),
        ("0000:2f:00.0 15           0 ", "0000:11:00.0 15           0 "),
        ("0000:2f:00.0 15           0 ", "0000:2f:00.0 ?            0 "),
    ],
    ids=["diagonal", "twice", "no number"],
)
def test_altered_weights_are_not_used(tmp_path, old, new):
    text = (CAPTURED / "amd-topology" / "amd-smi-square.txt").read_text()
    assert old in text
    path = tmp_path / "topology"
    path.write_text(text.replace(old, new, 1))
    read = amd_topology.read(path)
    assert read.weights == ()
    assert len(read.link_types) == 4
    assert rules(read)


def test_json_of_amd_smi():
    read = amd_topology.read(CAPTURED / "amd-topology" / "amd-smi.json")
    assert (read.weights, read.hops) == (((0, 15), (15, 0)), ((0, 1), (1, 0)))
    assert read.direct_xgmi(1) == (0,)
    assert read.findings == ()
