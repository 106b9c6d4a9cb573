"""Files of any format are sorted by what they hold; nothing is lost."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest

from gpufabric.errors import InputError
from gpufabric.formats.nccl_tests_write import write_nccl_tests
from gpufabric.jobs.gather_files import gather_files

CAPTURED = Path(__file__).parents[2] / "captured"
LOG = write_nccl_tests("all_reduce", [("a", 8), ("b", 8)], "NVIDIA H100", [(1 << 33, 5e-2)])


@pytest.mark.parametrize(
    ("file", "field"),
    [
        ("nccl-debug/two-nodes-srun.txt", "logs"),
        ("nvidia-smi-topo/hopper-ten-nics.txt", "insides"),
        ("lspci/gpu-nic-acs.txt", "pci"),
        ("link-counters/ibqueryerrors.txt", "counters"),
        ("link-counters/perfquery.txt", "counters"),
        ("link-counters/basalt-n01-ethtool.txt", "counters"),
        ("link-counters/basalt-n01-mlxlink.txt", "counters"),
        ("link-counters/basalt-leaf1-counters.txt", "counters"),
        ("ibstat/two-adapters.txt", "ports"),
        ("perftest/gpu-gbits-then-mib.txt", "perftests"),
        ("nvlink-status/three-gpus-errors.txt", "nvlinks"),
    ],
)
def test_each_output_goes_where_it_belongs(file, field):
    read = gather_files([CAPTURED / file])
    assert len(getattr(read.evidence, field)) >= 1
    assert read.tests == ()
    assert read.others >= 1


def test_tests_and_other_outputs_in_one_call():
    read = gather_files(
        [io.BytesIO(LOG.encode()), CAPTURED / "lspci/gpu-nic-acs.txt", io.BytesIO(LOG.encode())]
    )
    assert len(read.tests) == 2
    assert read.origins == (0, 2)
    assert (read.files, read.others) == (3, 1)


def test_settings_are_those_of_files_before_those_of_the_description():
    text = "mpirun -x NCCL_ALGO=Tree all_reduce_perf\n" + LOG
    read = gather_files([io.BytesIO(text.encode())], {"NCCL_ALGO": "Ring", "NCCL_PROTO": "LL"})
    assert read.evidence.settings == {"NCCL_ALGO": ("Tree", "stream:1"), "NCCL_PROTO": ("LL", "description")}


def test_a_test_is_not_explained_by_the_file_of_another(tmp_path):
    for name, algorithm in (("one", "Tree"), ("two", "Ring")):
        (tmp_path / name).write_text(f"NCCL_ALGO={algorithm}\n{LOG}")
    (tmp_path / "env").write_text("n1:1:2 [0] NCCL INFO NCCL_IB_HCA set by environment to mlx5_0.\n")
    read = gather_files([tmp_path / name for name in ("one", "two", "env")])
    tests = frozenset(log.file for log in read.tests)
    for log, algorithm in zip(read.tests, ("Tree", "Ring"), strict=True):
        own = read.evidence.beside(log.file, tests).settings
        assert own["NCCL_ALGO"][0] == algorithm
        assert own["NCCL_IB_HCA"][0] == "mlx5_0"


def test_standard_input_is_read_like_a_file(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(LOG.encode())))
    read = gather_files(["-"])
    assert read.tests[0].tables[0].ranks == 16


@pytest.mark.parametrize("content", [b"hello\nworld\n", b"", b"\x00\xff\n"])
def test_a_text_of_no_known_format_is_called_so(content):
    read = gather_files([io.BytesIO(content)])
    (finding,) = read.evidence.findings
    assert finding.severity == "error"
    assert finding.message.startswith("format not recognised")
    assert all(
        name in finding.message for name in ("nccl-tests", "ibnetdiscover", "perfquery", "slurm-topology")
    )


def test_a_file_of_settings_alone_is_no_error():
    read = gather_files([io.BytesIO(b"NCCL_DEBUG=INFO\nexport NCCL_ALGO=Ring\n")])
    assert read.evidence.findings == ()
    assert read.evidence.settings["NCCL_ALGO"][0] == "Ring"


def test_an_unknown_text_is_a_test_without_tables():
    read = gather_files([io.BytesIO(b"hello\nworld\n")])
    assert len(read.tests) == 1
    assert read.tests[0].tables == ()
    assert read.lines_not_understood > 0


def test_a_file_that_is_not_there_is_one_line():
    with pytest.raises(InputError) as error:
        gather_files(["absent.txt"])
    assert str(error.value).count("\n") == 0
