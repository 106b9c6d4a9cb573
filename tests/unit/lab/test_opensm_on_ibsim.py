"""What the driver refuses before it starts anything; runs of the real programs are in tests/real."""

from pathlib import Path

import numpy as np
import pytest

from gpufabric.errors import InputError
from gpufabric.graphs.cluster_subnet import LaidSubnet
from gpufabric.lab import opensm_on_ibsim
from gpufabric.records.subnet import Subnet

TINY = LaidSubnet(
    Subnet(
        ("box:1", "leaf"),
        np.array([False, True]),
        np.array([1, 4], np.int16),
        np.array([0x10, 0x20]),
        np.array([[0, 1]], np.int32),
        np.array([[1, 2]], np.int16),
    ),
    np.array([0, 1], np.int32),
    np.array([1]),
)


def test_an_unknown_engine_gets_a_suggestion(tmp_path: Path):
    with pytest.raises(
        InputError, match=r'"ftre" is unknown; known: ftree, updn, minhop. Did you mean "ftree"\?'
    ):
        opensm_on_ibsim.run_opensm(TINY, "ftre", tmp_path)


def test_missing_programs_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("gpufabric.lab.run_program._PATH", str(tmp_path))
    with pytest.raises(InputError, match=r"ibsim: is not installed; .*apt install ibsim-utils"):
        opensm_on_ibsim.run_opensm(TINY, "ftree", tmp_path)
