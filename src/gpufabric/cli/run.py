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
from gpufabric.errors import GpufabricError, InputError, printable

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
        # The interpreter flushes stdout once more on its way out; give it something that takes the bytes.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return EXIT_BROKEN_PIPE
    except Exception:  # noqa: BLE001
        traceback.print_exc()
        sys.stderr.write("gpufabric: this is a bug; please report it with the lines above\n")
        return EXIT_BUG


def _without_debug(arguments: Sequence[str]) -> tuple[list[str], bool]:
    words = list(arguments)
    end = words.index("--") if "--" in words else len(words)
    kept = [word for word in words[:end] if word != "--debug"]
    return kept + words[end:], len(kept) < end


def _invoke(words: list[str]) -> int:
    command = typer.main.get_command(app)
    try:
        with command.make_context("gpufabric", words) as context:
            command.invoke(context)
    except typer.Exit as leaving:
        _flush()
        return leaving.exit_code
    _flush()
    return EXIT_FINE


def _flush() -> None:
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        raise InputError(
            f"standard output: can't be written ({error.strerror}); free some space or write elsewhere"
        ) from error


def _one_line(error: GpufabricError | typer.TyperException) -> str:
    """Return the error's text made safe for a terminal: one line, or one each when there are several errors."""
    if isinstance(error, GpufabricError):
        lines = [printable(line, _MESSAGE_LIMIT) for line in str(error).split("\n")]
        return "\ngpufabric: ".join(lines)
    text = " ".join(error.format_message().split()).removesuffix(".")
    context = getattr(error, "ctx", None)
    hint = f"; see {context.command_path} --help" if context is not None else ""
    return printable(text[:1].lower() + text[1:], _MESSAGE_LIMIT) + hint
