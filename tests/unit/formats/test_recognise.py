"""Formats are known by content, also when several outputs stand in one file."""

import gzip
from pathlib import Path

import pytest

from gpufabric.formats import clean_text, recognise

CAPTURED = Path(__file__).parents[2] / "captured"
FOLDERS = {
    "nvidia-smi-topo": "nvidia-smi-topo",
    "nccl-topology-xml": "nccl-topology-xml",
    "nccl-graph-xml": "nccl-graph-xml",
    "nccl-debug": "nccl-debug",
    "nvlink-status": "nvlink-status",
    "nccl-tests-json": "nccl-tests-json",
    "nccl-tests": "nccl-tests",
    "perftest": "perftest",
    "lspci": "lspci",
    "ibstat": "ibstat",
    "show-gids": "show-gids",
    "slurm-topology": "slurm-topology",
    "ethtool-module": "ethtool-module",
    "amd-topology": "amd-topology",
}
FILES = [(path, name) for folder, name in FOLDERS.items() for path in sorted((CAPTURED / folder).iterdir())]


def formats(read) -> list[str]:
    return [part.format for part in read.parts]


@pytest.mark.parametrize(("path", "name"), FILES, ids=[path.name for path, _ in FILES])
def test_each_captured_file_is_known(path, name):
    read = recognise.read(path)
    found = {
        format_name.removesuffix("-json") if name == "amd-topology" else format_name
        for format_name in formats(read)
    }
    assert name in found
    assert found <= {name, "nccl-debug", "nccl-tests"}
    assert read.lines_unclaimed == 0


def test_every_format_has_a_captured_file():
    assert set(recognise.READERS) == set(FOLDERS.values()) | {"amd-topology-json"}


def test_outputs_of_one_server_in_one_file(tmp_path):
    names = [
        "nvidia-smi-topo/hopper-ten-nics.txt",
        "nvlink-status/three-gpus-errors.txt",
        "lspci/gpu-nic-acs.txt",
    ]
    names += ["ibstat/two-adapters.txt", "show-gids/two-devices.txt", "amd-topology/rocm-smi-altered.txt"]
    names += ["nccl-topology-xml/four-gpu-one-link-short.xml", "perftest/gpu-gbits-then-mib.txt"]
    path = tmp_path / "all.txt.gz"
    path.write_bytes(gzip.compress("".join((CAPTURED / name).read_text() for name in names).encode()))
    read = recognise.read(path)
    assert formats(read) == [name.split("/")[0] for name in names]
    alone = [recognise.read(CAPTURED / name).parts[0].record for name in names]
    assert [p.record.lines_not_understood for p in read.parts] == [one.lines_not_understood for one in alone]
    assert [len(p.record.findings) for p in read.parts] == [len(one.findings) for one in alone]
    assert read.parts[1].record.gpus[1].links[1].line == 7 + read.parts[1].line - 1


def test_nodes_that_pdsh_mixes_are_parted():
    read = recognise.read(CAPTURED / "nvidia-smi-topo" / "two-nodes-pdsh.txt")
    assert [part.node for part in read.parts] == ["rack1-n1", "rack1-n2"]
    assert [len(part.record.rows_of("gpu")) for part in read.parts] == [8, 4]
    alone = recognise.read(CAPTURED / "nvidia-smi-topo" / "hopper-ten-nics.txt")
    assert read.parts[0].record.cells == alone.parts[0].record.cells


def test_a_log_of_many_tasks_is_one_log():
    read = recognise.read(CAPTURED / "nccl-debug" / "two-nodes-srun.txt")
    (part,) = read.parts
    assert len(part.record.communicators[0].ranks) == 4


def test_a_log_of_nccl_with_a_test_in_it_goes_to_both_readers():
    debug, tests = recognise.read(CAPTURED / "nccl-tests" / "statistics-then-all-gather.txt").parts
    assert (debug.format, tests.format) == ("nccl-debug", "nccl-tests")
    assert [table.op for table in tests.record.tables][-1] == "all_gather"


def test_bus_ids_are_no_prefixes_of_srun(tmp_path):
    text = (CAPTURED / "lspci" / "gpu-nic-acs.txt").read_text()
    path = tmp_path / "lspci"
    path.write_text("".join(f"3: {line}\n" for line in text.splitlines()))
    (part,) = recognise.read(path).parts
    assert [one.bus_id for one in part.record.functions][:2] == ["0000:14:01.0", "0000:15:00.0"]
    assert part.node == "3"


def test_an_unknown_file_has_no_parts(tmp_path):
    path = tmp_path / "x"
    path.write_text("hello\n\nworld\n")
    read = recognise.read(path)
    assert (read.parts, read.lines_unclaimed) == ((), 2)


def test_a_log_too_long_to_be_held_is_streamed_to_its_end(tmp_path, monkeypatch):
    monkeypatch.setattr(clean_text, "MAX_TEXT_LINES", 30)
    path = tmp_path / "job.log"
    path.write_text((CAPTURED / "nccl-debug" / "two-nodes-srun.txt").read_text())
    (part,) = recognise.read(path).parts
    assert len(part.record.communicators[0].connections) == 12
    assert part.record.lines_read == 65
    assert "input-cut" not in {finding.rule for finding in part.record.findings}
