"""Exit statuses, one-line errors and what happens when the outside world goes away."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import ModuleType

import pytest

from gpufabric import __version__
from gpufabric.cli import app as root
from gpufabric.cli.options import command_app
from gpufabric.cli.output import finish, print_document
from gpufabric.cli.run import run
from gpufabric.errors import SpecError, UnbuildableError
from gpufabric.records.findings import Finding

ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}


@pytest.fixture
def command(monkeypatch):
    """Register a command named ``probe`` that runs the function handed in."""

    def register(function):
        module = ModuleType("gpufabric_probe")
        module.app = command_app()
        module.app.command()(function)
        monkeypatch.setitem(sys.modules, "gpufabric_probe", module)
        monkeypatch.setitem(
            root.COMMANDS, "probe", root.CommandEntry("gpufabric_probe", "Probe the framework.")
        )

    return register


def test_version_is_printed_on_stdout(capsys):
    assert run(["--version"]) == 0
    assert capsys.readouterr().out == f"gpufabric {__version__}\n"


@pytest.mark.parametrize("words", [["--help"], []])
def test_help_lists_every_command_with_its_summary(words, capsys):
    assert run(words) == 0
    text = " ".join(capsys.readouterr().out.split())
    for name, entry in root.COMMANDS.items():
        assert f"{name} {entry.summary}" in text


@pytest.mark.parametrize("name", root.COMMANDS)
def test_summary_of_the_registry_is_the_first_line_of_the_commands_help(name, capsys):
    assert run([name, "--help"]) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert root.COMMANDS[name].summary in text
    assert "--json" in text


def test_unknown_command_suggests_the_nearest(capsys):
    assert run(["prats"]) == 2
    caught = capsys.readouterr()
    assert caught.out == ""
    assert caught.err.startswith('gpufabric: command "prats" is unknown; known: ')
    assert caught.err.endswith('Did you mean "parts"?\n')


def test_unknown_subcommand_and_option_are_one_line_with_status_2(capsys):
    for words in (["parts", "shwo", "x"], ["parts", "--knid", "switch"], ["parts", "show"], ["--nonsense"]):
        assert run(words) == 2
        error = capsys.readouterr().err
        assert error.startswith("gpufabric: ")
        assert error.count("\n") == 1


def test_bad_input_is_one_line_and_a_traceback_only_with_debug(command, capsys):
    def probe() -> None:
        raise UnbuildableError("8 servers need 64 ports; a leaf has 32", "4 servers")

    command(probe)
    assert run(["probe"]) == 2
    expected = "gpufabric: 8 servers need 64 ports; a leaf has 32; nearest that can be built: 4 servers\n"
    assert capsys.readouterr().err == expected
    assert run(["probe", "--debug"]) == 2
    error = capsys.readouterr().err
    assert error.startswith("Traceback")
    assert error.endswith(expected)


def test_control_characters_of_foreign_text_never_reach_the_terminal(command, capsys):
    def probe() -> None:
        raise SpecError("a.yaml:1: \x1b[2Jbad\x07\na.yaml:2: also bad")

    command(probe)
    assert run(["probe"]) == 2
    assert capsys.readouterr().err == "gpufabric: a.yaml:1: \\x1b[2Jbad\\x07\ngpufabric: a.yaml:2: also bad\n"


def test_findings_of_severity_error_end_with_status_1(command, capsys):
    severities: list[str] = []

    def probe() -> None:
        findings = [Finding("r", severity, "here", "text") for severity in severities]
        print_document("probe", {"findings": [f.to_dict() for f in findings]})
        finish(findings)

    command(probe)
    assert run(["probe"]) == 0
    severities += ["info", "warning"]
    assert run(["probe"]) == 0
    severities.append("error")
    assert run(["probe"]) == 1
    assert '"format": "gpufabric/1"' in capsys.readouterr().out


def test_a_bug_is_a_traceback_with_a_status_of_its_own(command, capsys):
    def probe() -> None:
        raise KeyError("leaf")

    command(probe)
    assert run(["probe"]) == 70
    assert "KeyError" in capsys.readouterr().err


def test_interrupt_is_status_130(command, capsys):
    def probe() -> None:
        raise KeyboardInterrupt

    command(probe)
    assert run(["probe"]) == 130
    assert capsys.readouterr().err == "gpufabric: interrupted\n"


SLOW_WRITER = """
import sys, time, types
from pathlib import Path
from gpufabric.cli import app, options, run
from gpufabric.report.write_files import folder_beside

module = types.ModuleType("probe_module")
module.app = options.command_app()

@module.app.command()
def probe() -> None:
    with folder_beside(Path(sys.argv[1])) as folder:
        (folder / "half.csv").write_text("half")
        print("writing", flush=True)
        time.sleep(20)

sys.modules["probe_module"] = module
app.COMMANDS["probe"] = app.CommandEntry("probe_module", "Probe.")
sys.exit(run.run(["probe"]))
"""


def test_ctrl_c_leaves_no_half_file(tmp_path: Path):
    script = tmp_path / "script.py"
    script.write_text(SLOW_WRITER)
    target = tmp_path / "out"
    with subprocess.Popen(
        [sys.executable, script, target],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=ENVIRONMENT,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "writing\n"
        process.send_signal(signal.SIGINT)
        _, error = process.communicate(timeout=20)
    assert process.returncode == 130
    assert error == "gpufabric: interrupted\n"
    assert [p.name for p in tmp_path.iterdir()] == ["script.py"]


def test_a_closed_pipe_is_quiet():
    with subprocess.Popen(
        [sys.executable, "-m", "gpufabric", "--help"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=ENVIRONMENT,
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        error = process.stderr.read()
    assert error == b""
    assert process.returncode == 141


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full on this system")
def test_a_full_disk_on_stdout_is_one_line():
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [sys.executable, "-m", "gpufabric", "--help"],
            stdout=full,
            stderr=subprocess.PIPE,
            env=ENVIRONMENT,
            check=False,
            timeout=20,
        )
    assert done.returncode == 2
    assert done.stderr.decode().startswith("gpufabric: standard output: can't be used")
    assert done.stderr.count(b"\n") == 1


def test_help_imports_nothing_heavy():
    code = (
        "import sys; sys.argv = ['gpufabric', '--help']\n"
        "from gpufabric.__main__ import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "heavy = {'numpy', 'pyarrow', 'pydantic', 'rich', 'ruamel', 'jinja2'}\n"
        "sys.stderr.write(','.join(sorted(heavy & {name.split('.')[0] for name in sys.modules})))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, env=ENVIRONMENT, check=True, text=True, timeout=20
    )
    assert done.stderr == ""
    assert done.stdout.startswith("Usage: gpufabric")


@pytest.mark.slow
@pytest.mark.parametrize("name", root.COMMANDS)
def test_help_of_a_command_imports_no_job(name):
    code = (
        "import sys\n"
        "from gpufabric.cli.run import run\n"
        f"run([{name!r}, '--help'])\n"
        "sys.stderr.write(','.join(m for m in sys.modules if m in ('numpy', 'pyarrow') or '.jobs.' in m))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, env=ENVIRONMENT, check=True, text=True, timeout=20
    )
    assert done.stderr == ""


def test_progress_appears_only_after_two_seconds(monkeypatch, capsys):
    from gpufabric.cli import progress

    monkeypatch.setattr(progress, "QUIET_S", 0.05)
    with progress.working("wiring 8 servers"):
        pass
    assert capsys.readouterr().err == ""
    with progress.working("wiring 8 servers"):
        time.sleep(0.3)
    assert capsys.readouterr().err == "wiring 8 servers …\n"
