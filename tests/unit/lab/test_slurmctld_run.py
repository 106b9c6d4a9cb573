"""The driver of slurmctld with programs that stand in for the real ones."""

import pytest

from gpufabric.errors import InputError
from gpufabric.lab.slurmctld_run import ShownSwitch, show_topology

CONF = "SwitchName=su01 Nodes=n[1-2]\nSwitchName=root Switches=su01\n"
SHOWN = """\
SwitchName=su01 Level=0 LinkSpeed=1 Nodes=n[1-2]
SwitchName=root Level=1 LinkSpeed=1 Nodes=n[1-2] Switches=su01
"""


@pytest.fixture
def programs(tmp_path, monkeypatch):
    """Return a function that puts programs into the path, each a shell script."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")

    def put(**scripts: str) -> None:
        for name, text in scripts.items():
            (folder / name).write_text(f"#!/bin/sh\n{text}\n")
            (folder / name).chmod(0o755)

    return put


def test_what_scontrol_shows_is_read(programs, tmp_path):
    programs(slurmctld="sleep 20", scontrol=f"cat <<'END'\n{SHOWN}END")
    assert show_topology(CONF, ["n1", "n2"], tmp_path) == (
        ShownSwitch("su01", 0, ("n1", "n2"), ()),
        ShownSwitch("root", 1, ("n1", "n2"), ("su01",)),
    )
    settings = (tmp_path / "slurm.conf").read_text()
    assert "AuthType=auth/none" in settings
    assert "NodeName=n[1-2] NodeHostname=localhost" in settings
    assert (tmp_path / "topology.conf").read_text() == CONF


def test_a_controller_that_ends_is_said(programs, tmp_path):
    programs(slurmctld="echo fatal: no such thing; exit 1", scontrol="sleep 5; exit 1")
    with pytest.raises(InputError, match=r"slurmctld: ended too early .*no such thing"):
        show_topology(CONF, ["n1", "n2"], tmp_path)


def test_a_controller_that_never_answers_is_stopped(programs, tmp_path):
    programs(slurmctld="echo starting; sleep 20", scontrol="exit 1")
    with pytest.raises(InputError, match=r"slurmctld: gave no topology within 0 s \(starting\)"):
        show_topology(CONF, ["n1"], tmp_path, timeout_s=0.05)


def test_a_missing_program_is_named_with_its_package(programs, tmp_path, monkeypatch):
    monkeypatch.setattr("gpufabric.lab.run_program.shutil.which", lambda name, path=None: None)
    with pytest.raises(InputError, match="apt install slurmctld"):
        show_topology(CONF, ["n1"], tmp_path)
