"""perftest, lspci, ibstat and show_gids."""

from pathlib import Path

import pytest

from gpufabric.formats import ibstat_text, lspci_text, perftest_text, show_gids_text

CAPTURED = Path(__file__).parents[2] / "captured"


def rules(record) -> list[str]:
    return [finding.rule for finding in record.findings]


def test_two_runs_in_two_units():
    read = perftest_text.read(CAPTURED / "perftest" / "gpu-gbits-then-mib.txt")
    first, second = read.runs
    assert (first.test, first.device, first.queue_pairs, first.mtu_bytes, first.gid_index) == (
        "rdma_write",
        "mlx5_7",
        4,
        4096,
        3,
    )
    assert (first.gpu, first.bidirectional, second.gpu, second.bidirectional) == (True, False, False, True)
    assert first.rows[0].average_bytes_per_s == pytest.approx(386.51e9 / 8)
    assert first.rows[0].peak_bytes_per_s == 0.0
    row = second.rows[0]
    assert row.average_bytes_per_s == pytest.approx(row.messages_per_s * row.size_bytes, rel=1e-5)
    assert len(second.rows) == 1
    assert (rules(read), read.lines_not_understood) == (["input-lines"], 1)


def test_a_narrow_nic_an_idle_gpu_and_acs():
    read = lspci_text.read(CAPTURED / "lspci" / "gpu-nic-acs.txt")
    assert [(one.kind, one.lanes, one.acs_redirects, one.numa_node) for one in read.functions] == [
        ("bridge", 16, True, 0),
        ("gpu", 16, False, 0),
        ("nic", 8, None, 1),
        ("nic", 0, None, -1),
        ("other", 0, None, -1),
    ]
    assert read.functions[1].transfers_per_s == 2.5e9
    assert read.access_denied
    assert [(f.rule, f.severity) for f in read.findings] == [
        ("input-cut", "warning"),
        ("pcie-link-reduced", "info"),
        ("pcie-link-reduced", "warning"),
        ("acs-on", "warning"),
    ]
    assert "width x8 of x16" in read.findings[2].message
    assert read.lines_not_understood == 0


def test_a_port_without_signal():
    read = ibstat_text.read(CAPTURED / "ibstat" / "two-adapters.txt")
    assert [(p.device, p.port, p.active, p.bytes_per_s, p.lid) for p in read.ports] == [
        ("mlx5_1", 1, True, 50e9, 71),
        ("mlx5_4", 1, False, 5e9, 0),
    ]
    assert (read.ports[0].link_layer, read.ports[0].firmware) == ("InfiniBand", "28.39.1002")
    assert (rules(read), read.lines_not_understood) == (["rdma-port-down"], 0)


def test_gids_that_speak_roce_v2():
    read = show_gids_text.read(CAPTURED / "show-gids" / "two-devices.txt")
    assert len(read.gids) == read.count_said == 5
    assert (read.roce_v2("mlx5_2"), read.roce_v2("mlx5_9")) == ((3,), ())
    assert (read.gids[3].ipv4, read.gids[4].interface) == ("192.0.2.7", "")
    assert (read.findings, read.lines_not_understood) == ((), 0)


def test_gids_that_are_cut_are_said(tmp_path):
    text = (CAPTURED / "show-gids" / "two-devices.txt").read_text()
    path = tmp_path / "gids"
    path.write_text(text.replace("=5", "=9"))
    assert rules(show_gids_text.read(path)) == ["input-cut"]
    path.write_text(text.rsplit("\n", 2)[0])
    assert rules(show_gids_text.read(path)) == ["input-cut"]
