"""What the documents show is what the commands print.

A page that begins with ``<!-- tested -->`` has its ```console blocks run: a line ``$ gpufabric …`` is a command, what follows is
its output, stdout and stderr as they come. ``…`` stands for any text within a line, and alone on a line for any lines. How many
spaces and rules stand side by side is not compared: a table grows with its widest cell. A block ```yaml FILE or
```toml FILE or ```text FILE is a file that the commands find, beside the folder ``examples``. ``console slow`` marks what takes
more than two seconds.
"""

import io
import re
import shlex
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import pytest

from gpufabric.cli import progress
from gpufabric.cli.run import run

ROOT = Path(__file__).parents[2]
MARK = "<!-- tested -->"
FILE = re.compile(r"^```(?:yaml|toml|text) (\S+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
BLOCK = re.compile(r"^```console( slow)?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PROMPT = "$ gpufabric "


def pages():
    """Return the pages whose commands are run."""
    found = (
        path for folder in ("tutorials", "how-to") for path in sorted((ROOT / "docs" / folder).glob("*.md"))
    )
    return [path for path in found if path.read_text(encoding="utf-8").startswith(MARK)]


def blocks(text):
    """Yield (line number, slow, text) of each console block."""
    for block in BLOCK.finditer(text):
        yield text.count("\n", 0, block.start()) + 1, bool(block.group(1)), block.group(2)


def commands(block):
    """Return (command, expected output) of each command of a block."""
    found = []
    for line in block.splitlines():
        if line.startswith("$ "):
            assert line.startswith(PROMPT), f"only gpufabric is run: {line}"
            found.append((line.removeprefix(PROMPT), []))
        else:
            found[-1][1].append(line)
    return found


def pattern_of(lines):
    """Return the pattern of an output in which … stands for what is not said."""
    parts = [
        r"(?:[^\n]*\n)*?"
        if line == "…"
        else " ?.*? ?".join(re.escape(p.strip()) for p in line.split("…")) + r"\n"
        for line in lines
    ]
    return "".join(parts)


def squeezed(text):
    """Return *text* without blank ends, runs of spaces and of rules as one."""
    lines = (re.sub("─+", "─", re.sub(" +", " ", line)).strip() for line in text.strip("\n").splitlines())
    return "\n".join(lines) + "\n"


def matches(expected, printed):
    return re.fullmatch(pattern_of(squeezed("\n".join(expected)).splitlines()), squeezed(printed))


def cases():
    for page in pages():
        for number, slow, block in blocks(page.read_text(encoding="utf-8")):
            marks = pytest.mark.slow if slow else ()
            yield pytest.param(page, block, id=f"{page.stem}:{number}", marks=marks)


@pytest.mark.parametrize(("page", "block"), list(cases()))
def test_a_page_shows_what_the_commands_print(page, block, tmp_path, monkeypatch):
    for name, text in FILE.findall(page.read_text(encoding="utf-8")):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(progress, "QUIET_S", 600.0)
    for command, expected in commands(block):
        out = io.StringIO()
        with redirect_stdout(out), redirect_stderr(out):
            run(shlex.split(command))
        assert matches(expected, out.getvalue()), f"gpufabric {command} prints:\n{out.getvalue()}"


def test_the_long_tutorial_is_among_the_pages():
    assert "from-one-gpu-to-200000" in {page.stem for page in pages()}


@pytest.mark.parametrize(
    ("expected", "printed", "same"),
    [
        (["a"], "a\n", True),
        (["a"], "b\n", False),
        (["a … c"], "a b b c\n", True),
        (["a … c"], "a b\nc\n", False),
        (["a", "…", "d"], "a\nb\nc\nd\n", True),
        (["a", "…", "d"], "a\nd\n", True),
        (["a", "…"], "a\nb\nc\n", True),
        (["a", "…", "d"], "a\nb\nc\n", False),
        (["a.c"], "abc\n", False),
        (["a"], "a\nb\n", False),
        (["", "a   "], "\n\na\n\n", True),
        (["a  b", "──"], "a   b\n────\n", True),
        (["a b"], "ab\n", False),
        (["a …"], "a\n", True),
    ],
)
def test_an_ellipsis_stands_for_what_is_not_said(expected, printed, same):
    assert bool(matches(expected, printed)) == same
