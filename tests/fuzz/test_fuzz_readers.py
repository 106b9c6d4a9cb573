"""The fuzzer itself: a few of its mutations in every run of the tests, many in the slow ones."""

import importlib.util
import sys
from pathlib import Path

import pytest

from gpufabric.jobs import explain

SCRIPT = Path(__file__).parents[2] / "scripts" / "fuzz_readers.py"


@pytest.fixture
def fuzzer(monkeypatch):
    # The script puts predictions aside; other tests want them back.
    monkeypatch.setattr(explain, "expect_of_server", explain.expect_of_server)
    spec = importlib.util.spec_from_file_location("fuzz_readers", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    sys.modules["fuzz_readers"] = module
    spec.loader.exec_module(module)
    return module


def test_mutations_are_read(fuzzer):
    files = fuzzer.seeds(["nvlink-status", "nvidia-smi-p2p", "lldp", "show-gids"])
    assert len(files) > 10
    assert fuzzer.run_random(files, 0.5, seed=7) > 0


def test_what_breaks_a_reader_is_kept(fuzzer, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def breaks(raw):
        raise RecursionError

    with pytest.raises(RecursionError):
        fuzzer.run_random([b"GPU0 X"], 1.0, 1, breaks)
    assert (tmp_path / "fuzz-finding.bin").exists()


@pytest.mark.slow
def test_many_mutations_of_all_formats_are_read(fuzzer):
    assert fuzzer.run_random(fuzzer.seeds([]), 20.0, seed=11) > 20
