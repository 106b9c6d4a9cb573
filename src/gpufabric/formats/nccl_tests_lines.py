"""A line of nccl-tests output → what kind of line it is: the patterns and words by which each kind is known."""

from __future__ import annotations

import re

OP_OF_PROGRAM = {
    "all_reduce": "all_reduce",
    "all_gather": "all_gather",
    "alltoallv": "all_to_all_v",
    "alltoall": "all_to_all",
    "broadcast": "broadcast",
    "reduce_scatter": "reduce_scatter",
    "reduce": "reduce",
    "sendrecv": "send_recv",
    "hypercube": "hypercube",
    "gather": "gather",
    "scatter": "scatter",
}
PROGRAM = re.compile(rf"(?<![A-Za-z_])({'|'.join(OP_OF_PROGRAM)})_perf(?:_mpi)?\b")
SETTINGS = re.compile(
    r"\bnThread\s++\d++\s++nGpus\s++(\d{1,7})\s++minBytes\s++\d++\s++maxBytes\s++(\d{1,19})\b"
)
VALIDATION_OFF = re.compile(r"\bvalidation:\s*0\b")
DEVICE = re.compile(
    r"\bRank\s++(\d{1,7})\s++(?:Group\s++(\d{1,7})\s++)?Pid\s++(\d{1,19})\s++on\s++(\S{1,255})\s++device\s++\d{1,4}"
    r"\s*+\[[0-9a-fA-Fx:.]{1,32}\](.*)"
)
VERSION = re.compile(r"\bN?R?CCL version\s*:?\s*(\d+(?:\.\d+){1,3}(?:[+-][\w.+-]{1,40})?)")
# rccl-tests prints the heading of nccl-tests, and RCCL the version of the NCCL that it follows: these words are beyond doubt.
_RCCL = re.compile(r"\brccl-tests\b|\bRCCL\b|\blibrccl\b|NCCL version\s*:?\s*[\d.]+\+hip", re.IGNORECASE)
_NCCL = re.compile(r"(?<![A-Za-z])NCCL version\s*:?\s*[\d.]+\+cuda")
VERSION_CODE = re.compile(r"\bnccl-library=(\d{5,6})\b")
START = re.compile(r"nccl-tests version |Collective test starting")
ENDED = re.compile(r"Collective test concluded")
OUT_OF_BOUNDS = re.compile(r"Out of bounds values\s*+:\s*+(\d{1,19})\s*+(OK|FAILED)?")
AVERAGE = re.compile(r"Avg bus bandwidth\s*+:\s*+(\d{1,12}(?:\.\d{0,12})?(?:e[+-]?\d{1,2})?|-?nan|inf)")
FAILED = re.compile(r"\bTest (?:NCCL |CUDA )?failure\b|\bNCCL failure\b|#\s*error:\s*\S")
INFO = re.compile(r"\bNCCL (?:INFO|TRACE|ABORT)\b")
WARN = re.compile(r"\bNCCL WARN\b")
_QUIET = re.compile(
    r"^\s*(?:#.*|\.{2,}|…|```.*|~~~.*|rccl-tests: Version .*"
    r"|(?:[RN]CCL|HIP|ROCm|HSA|[Ll]ibrccl)\s+(?:version|path)\b.*)?\s*$"
    r"|out-of-place\b.*\bin-place|\(B\)\s++\(elements\)"
)
# A line with none of these words is no row, no fact and no known noise; they spare most foreign lines the patterns.
WORDS_OF_ROWS = ("sum", "prod", "max", "min", "avg", "none")
WORDS_OF_STEPS = {
    "nccl": ("NCCL",),
    "failure": ("failure", "error:"),
    "device": ("Rank",),
    "header": ("redop",),
    "footer": ("Out of bounds", "Avg bus", "Collective test"),
    "start": ("nThread", "nccl-tests version", "Collective test"),
    "program": ("_perf",),
    "version": ("version", "Version", "ibrccl"),
}
_OF_QUIET = ("#", "..", "…", "```", "~~~", "-place", "(B)", "Version", "path")
_WORDS = tuple(
    dict.fromkeys([*WORDS_OF_ROWS, *(w for words in WORDS_OF_STEPS.values() for w in words), *_OF_QUIET])
)
_NOT_OF_LIBRARY = tuple(word for word in _WORDS if word not in {"NCCL", *_OF_QUIET})
# What launchers put in front of an empty line ends so, and so does an empty text.
_ENDS_OF_PREFIX = ":>]| \t"
# A comment that looks like one of the lines with facts, yet did not match it, is damaged: it must be counted.
_DAMAGED = re.compile(r"#.*(?:\bRank\s+\d|Out of bounds|Avg bus)")


def library_named(text: str) -> str:
    """Return ``rccl`` or ``nccl`` where *text* names the library beyond doubt, else an empty text."""
    if _RCCL.search(text):
        return "rccl"
    return "nccl" if _NCCL.search(text) else ""


def is_foreign(text: str) -> bool:
    """Say whether *text* has no word of an nccl-tests output and is not just what a launcher puts in front of a line."""
    if text[-1:] in _ENDS_OF_PREFIX:
        return False
    return not has_word(text, _WORDS)


def is_told_by_library(text: str) -> bool:
    """Say whether *text* is a line of NCCL's own with no word of a test in it, nor of a version: most lines of long logs are."""
    return " NCCL INFO " in text and not has_word(text, _NOT_OF_LIBRARY)


def has_word(text: str, words: tuple[str, ...]) -> bool:
    """Say whether *text* has one of the words."""
    for word in words:  # noqa: SIM110 - any() with a generator takes twice as long, and this runs for every line
        if word in text:
            return True
    return False


def is_quiet(text: str) -> bool:
    """Say whether *text* is noise that every nccl-tests output has: comments, rulers, column units, library versions."""
    return _DAMAGED.search(text) is None and _QUIET.search(text) is not None
