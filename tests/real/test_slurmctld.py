"""A real slurmctld starts with the exported tree, and shows exactly it."""

from __future__ import annotations

import io
import os

import pytest

from gpufabric.formats.cluster_yaml import resolve_spec
from gpufabric.formats.slurm_topology import read_slurm_topology
from gpufabric.jobs.export import ExportOptions, export
from gpufabric.lab.slurmctld_run import show_topology

pytestmark = [pytest.mark.real, pytest.mark.slow]


@pytest.fixture(autouse=True)
def programs(require_program, monkeypatch):
    # Debian puts the daemon where only root looks.
    monkeypatch.setenv("PATH", f"{os.environ['PATH']}:/usr/sbin:/sbin")
    require_program("slurmctld")
    require_program("scontrol")


def tree_of(spec: str):
    """Return the text of the exported tree, and what our own reader finds in it."""
    exported = export(resolve_spec(spec), ExportOptions(("slurm-tree",)))
    (file,) = exported.exports[0].files
    text = b"".join(file.pieces).decode()
    return text, read_slurm_topology(io.BytesIO(text.encode()), "topology.conf")


def below(switches, name):
    """Return all nodes below a switch."""
    one = next(s for s in switches if s.name == name)
    return set(one.nodes).union(*(below(switches, child) for child in one.switches))


@pytest.mark.parametrize("spec", ["superpod-b200", "nvl72-gb200", "rail-only-h100", "hpn-dual-tor"])
def test_slurm_shows_the_exported_tree(spec, tmp_path):
    text, written = tree_of(spec)
    nodes = [node for switch in written.switches for node in switch.nodes]
    shown = show_topology(text, nodes, tmp_path)
    assert [(s.name, s.switches) for s in shown] == [(s.name, s.switches) for s in written.switches]
    for switch in shown:
        assert set(switch.nodes) == below(written.switches, switch.name)
        assert (switch.level == 0) == (not switch.switches)
