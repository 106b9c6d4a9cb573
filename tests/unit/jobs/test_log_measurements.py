from pathlib import Path

import pytest

from gpufabric.formats.cluster_yaml import parse_cluster_spec, preset_spec
from gpufabric.jobs.log_measurements import log_measurements
from gpufabric.jobs.measured_runs import wire_spec

ROOT = Path(__file__).parents[3]
LOG = ROOT / "examples" / "logs" / "b200-128r-healthy.txt"


@pytest.fixture(scope="module")
def superpod():
    return wire_spec(preset_spec("superpod-b200"))


def test_every_row_of_a_log_is_a_measurement(superpod):
    rows, left_out = log_measurements([LOG], superpod)
    assert left_out == ()
    assert {(row.op, row.nodes, row.gpus) for row in rows} == {("all_reduce", 16, 128)}
    assert all(
        row.busbw_bytes_per_s == pytest.approx(row.size_bytes / row.time_s * 2 * 127 / 128) for row in rows
    )
    assert len({row.id for row in rows}) == len(rows)


def test_a_log_of_other_gpus_is_left_out():
    other = wire_spec(preset_spec("superpod-h100"))
    rows, left_out = log_measurements([LOG], other)
    assert rows == ()
    assert "the description has h100-sxm" in left_out[0].reason


def test_a_log_of_another_library_is_left_out(superpod):
    rows, left_out = log_measurements([ROOT / "tests/captured/nccl-tests/device-list-cut.txt"], superpod)
    assert rows == ()
    assert left_out[0].reason == "the log is of rccl, and the GPUs of the description run nccl"


def test_more_ranks_than_gpus_are_left_out():
    small = parse_cluster_spec(
        "servers: {model: dgx-b200, count: 2}\nfabrics: {topology: single-switch, switch: qm9790}\n", "x.yaml"
    )
    rows, left_out = log_measurements([LOG], wire_spec(small))
    assert rows == ()
    assert "128 ranks are more than the 16 GPUs" in left_out[0].reason


def test_a_file_without_a_table_is_left_out(superpod, tmp_path):
    (tmp_path / "x.txt").write_text("hello\n")
    rows, left_out = log_measurements([tmp_path / "x.txt"], superpod)
    assert rows == ()
    assert left_out[0].reason == "no table of nccl-tests is in it"


def cut(text: str, keep: int) -> str:
    """Return a log with the first *keep* of its device lines."""
    lines = text.splitlines(keepends=True)
    devices = [number for number, line in enumerate(lines) if " Rank " in line]
    return "".join(line for number, line in enumerate(lines) if number not in devices[keep:])


@pytest.mark.parametrize(("keep", "nodes"), [(128, 16), (11, 16), (0, 16)])
def test_a_cut_list_of_devices_does_not_say_the_number_of_servers(superpod, tmp_path, keep, nodes):
    (tmp_path / "x.txt").write_text(cut(LOG.read_text(), keep))
    rows, _ = log_measurements([tmp_path / "x.txt"], superpod)
    assert {(row.nodes, row.gpus) for row in rows} == {(nodes, 128)}


def test_a_cut_list_with_more_hosts_than_the_ranks_fill_is_left_out(superpod, tmp_path):
    text = LOG.read_text()
    for rank in range(24):
        text = text.replace(f" Rank {rank:2d} Group  0", f" Rank {rank:2d} Group 0 ").replace(
            "on su1-node01 device", "on a device", 1
        )
    for name in "bcdefghijklmnopq":
        text = text.replace("on su1-node02 device", f"on {name} device", 1)
    (tmp_path / "x.txt").write_text(cut(text, 127))
    rows, left_out = log_measurements([tmp_path / "x.txt"], superpod)
    assert rows == ()
    assert left_out[0].reason == "its list of devices is cut, and shows more hosts than the ranks fill"


def test_a_thread_that_drives_all_gpus_of_a_server_is_told(superpod, tmp_path):
    (tmp_path / "x.txt").write_text(LOG.read_text().replace("nGpus 1", "nGpus 8"))
    assert {row.tool for row in log_measurements([tmp_path / "x.txt"], superpod)[0]} == {"one process"}
    assert {row.tool for row in log_measurements([LOG], superpod)[0]} == {""}
