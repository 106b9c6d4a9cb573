"""A scratch folder is gone at the end; what killed runs have left behind is gone with the next one."""

import os
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

from gpufabric.lab.scratch_folder import clear_orphans, scratch_folder

linux = pytest.mark.skipif(
    not Path("/proc/self/stat").exists(), reason="owners are known where there is /proc"
)


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))


def test_it_is_gone_at_the_end():
    with pytest.raises(KeyboardInterrupt), scratch_folder() as folder:
        (folder / "link").symlink_to("/dev/null")
        raise KeyboardInterrupt
    assert not folder.exists()
    assert Path("/dev/null").exists()


@linux
def test_the_next_run_clears_what_a_killed_one_left(tmp_path: Path):
    orphan = tmp_path / f"gpufabric-lab-{os.getpid()}-1-abc"
    orphan.mkdir()
    (orphan / "opensm.log").write_text("half")
    with subprocess.Popen(["sleep", "60"], cwd=orphan) as left:
        with scratch_folder() as folder:
            assert [entry.name for entry in tmp_path.iterdir()] == [folder.name]
        assert left.wait(5) == -9
    assert list(tmp_path.iterdir()) == []


@linux
def test_what_is_somebody_elses_stays(tmp_path: Path):
    with scratch_folder() as folder:
        for name in ("gpufabric-lab-mine", "gpufabric-lab-x-1-abc", "gpufabric-other-1-1-abc"):
            (tmp_path / name).mkdir()
        (tmp_path / "gpufabric-lab-1-999-link").symlink_to(folder)
        assert clear_orphans(tmp_path) == []
        assert folder.is_dir()


def test_without_proc_nothing_is_cleared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("gpufabric.lab.scratch_folder._PROC", tmp_path / "nowhere")
    orphan = tmp_path / "gpufabric-lab-1-1-abc"
    orphan.mkdir()
    with scratch_folder():
        pass
    assert orphan.exists()


@linux
@pytest.mark.slow
@pytest.mark.parametrize("after_s", [0.0, 0.05, 0.2])
def test_a_run_killed_outright_is_cleared(tmp_path: Path, after_s: float):
    script = (
        "import sys, time, tempfile\n"
        "from pathlib import Path\n"
        "from gpufabric.lab.scratch_folder import scratch_folder\n"
        "from gpufabric.lab.run_program import started\n"
        "tempfile.tempdir = sys.argv[1]\n"
        "with scratch_folder() as folder, started(['/bin/sleep', '600'], folder, {}):\n"
        "    time.sleep(600)\n"
    )
    with subprocess.Popen([sys.executable, "-c", script, str(tmp_path)]) as run:
        while not (left := list(tmp_path.iterdir())):
            assert run.poll() is None
            time.sleep(0.002)
        time.sleep(after_s)
        run.kill()
    assert clear_orphans(tmp_path) == left
    assert list(tmp_path.iterdir()) == []
    until = time.monotonic() + 5  # what was killed takes a moment to end
    while (still := _processes_in(left[0])) and time.monotonic() < until:
        time.sleep(0.02)
    assert still == []


def _processes_in(folder: Path) -> list[str]:
    found = []
    for entry in Path("/proc").glob("[0-9]*/cwd"):
        with suppress(OSError):  # others end while we look
            found += [str(entry)] if str(entry.readlink()).startswith(str(folder)) else []
    return found
