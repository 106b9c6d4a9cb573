"""The commands' own help → docs/reference/commands.md; a test fails when the page is stale."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer.main

from gpufabric.cli.app import COMMANDS, app

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "commands.md"
WIDTH = 100

HEAD = """# Commands

Written by `scripts/write_command_reference.py` from the commands' own help; do not edit.

Every command takes `--json`, which prints one document with `"format": "gpufabric/1"` on stdout. Results
go to stdout, progress and notes to stderr. Message sizes follow nccl-tests: `8G` is 2³³ bytes.

| exit status | meaning |
|---|---|
| 0 | fine |
| 1 | findings of severity error |
| 2 | input that can't be used: one line on stderr says where, what is wrong, what is allowed and what to do |
| 70 | a bug, with a traceback |
| 130 | interrupted; no half-written file is left |
| 141 | whoever read stdout went away |

`--debug`, anywhere on the line, adds the traceback of an error.
"""


def sections(command: Any, path: str, parent: Any) -> Iterator[tuple[str, str]]:
    """Yield the words and the help of a command and of its subcommands."""
    context = command.context_class(
        command, info_name=path.rpartition(" ")[2], parent=parent, terminal_width=WIDTH
    )
    yield path, command.get_help(context)
    for name in command.list_commands(context) if hasattr(command, "list_commands") else ():
        yield from sections(command.get_command(context, name), f"{path} {name}", context)


def command_reference() -> str:
    """Return the text of the page."""
    root = typer.main.get_command(app)
    context = root.context_class(root, info_name="gpufabric", terminal_width=WIDTH)
    blocks = [HEAD]
    for name in COMMANDS:
        for path, text in sections(root.get_command(context, name), f"gpufabric {name}", context):
            level = "##" if path == f"gpufabric {name}" else "###"
            lines = "\n".join(line.rstrip() for line in text.splitlines())
            blocks.append(f"{level} {path}\n\n```text\n{lines}\n```\n")
    return "\n".join(blocks)


if __name__ == "__main__":
    PAGE.write_text(command_reference(), encoding="utf-8")
