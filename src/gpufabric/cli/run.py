"""Arguments → exit status: runs a command and turns what it raises into one line and a number."""

from __future__ import annotations

import io
import os
import signal
import sys
import traceback
from collections.abc import Sequence

import typer
import typer.main

from gpufabric.cli.app import app
from gpufabric.errors import GpufabricError, printable

EXIT_FINE, EXIT_FINDINGS, EXIT_BAD_INPUT = 0, 1, 2
EXIT_BUG = 70  # EX_SOFTWARE of sysexits.h: never to be mistaken for findings
EXIT_INTERRUPTED = 128 + signal.SIGINT
EXIT_BROKEN_PIPE = 128 + 13  # what a shell reports for a program that SIGPIPE ends
_MESSAGE_LIMIT = 2000


def run(arguments: Sequence[str]) -> int:
    """Run one command.

    Parameters
    ----------
    arguments
        The words after ``gpufabric``. ``--debug`` may stand anywhere before ``--``.

    Returns
    -------
    int
        0 fine, 1 findings of severity error, 2 bad input, 70 a bug, 130 interrupted, 141 stdout was closed.
    """
    words, debug = _without_debug(arguments)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    try:
        return _invoke(words)
    except (GpufabricError, typer.TyperException) as error:
        if debug:
            traceback.print_exc()
        sys.stderr.write(f"gpufabric: {_one_line(error)}\n")
        return EXIT_BAD_INPUT
    except (KeyboardInterrupt, typer.Abort):
        sys.stderr.write("gpufabric: interrupted\n")
        return EXIT_INTERRUPTED
    except BrokenPipeError:
        _drop_stdout()
        return EXIT_BROKEN_PIPE
    except OSError as error:
        if error.strerror is None:
            return _report_bug()
        if debug:
            traceback.print_exc()
        if error.filename is None:
            _drop_stdout()
        where = "standard output" if error.filename is None else printable(str(error.filename))
        sys.stderr.write(f"gpufabric: {where}: can't be used ({error.strerror}); choose another place\n")
        return EXIT_BAD_INPUT
    except Exception:  # noqa: BLE001
        return _report_bug()


def _report_bug() -> int:
    traceback.print_exc()
    sys.stderr.write("gpufabric: this is a bug; please report it with the lines above\n")
    return EXIT_BUG


def _drop_stdout() -> None:
    """Send what is still buffered nowhere, so that the interpreter's last flush does not fail once more."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _without_debug(arguments: Sequence[str]) -> tuple[list[str], bool]:
    words = list(arguments)
    end = words.index("--") if "--" in words else len(words)
    kept = [word for word in words[:end] if word != "--debug"]
    return kept + words[end:], len(kept) < end


def _invoke(words: list[str]) -> int:
    command = typer.main.get_command(app)
    status = EXIT_FINE
    try:
        with command.make_context("gpufabric", words) as context:
            command.invoke(context)
    except typer.Exit as leaving:
        status = leaving.exit_code
    sys.stdout.flush()
    return status


def _one_line(error: GpufabricError | typer.TyperException) -> str:
    """Return the error's text made safe for a terminal; several errors have a line each."""
    if isinstance(error, GpufabricError):
        lines = [printable(line, _MESSAGE_LIMIT) for line in str(error).split("\n")]
        return "\ngpufabric: ".join(lines)
    text = " ".join(error.format_message().split()).removesuffix(".").replace("Value error, ", "")
    context = getattr(error, "ctx", None)
    hint = f"; see {context.command_path} --help" if context is not None else ""
    return printable(text[:1].lower() + text[1:], _MESSAGE_LIMIT) + hint
