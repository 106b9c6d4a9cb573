"""What a measurement says of its library, in its own words → the library, its version and its settings.

``NCCL_ALGO=Ring NCCL_MIN_CTAS=24`` are settings; ``RING/LL128`` or ``Ring`` name what ran, which is as good as asked for;
``default (NCCL picks NVLS)`` tells of a default, which stays one. What is neither is named.
"""

from __future__ import annotations

import re

from pydantic import ValidationError

from gpufabric.errors import printable
from gpufabric.records.measured_collective import ONE_PROCESS, TORCH
from gpufabric.records.spec_fields import Library

_VERSION = re.compile(r"(?<![\w.])v?(\d{1,4}(?:\.\d{1,6}){1,3})")
_REMARK = re.compile(r"\(([^()]*)\)")
_SETTING = re.compile(r"([A-Za-z][A-Za-z0-9_]{0,63})=(\S{1,200})")
_TUNER = re.compile(r"\b(ring|tree|nvls|nvlstree)\b chosen by .*\btuner\b", re.IGNORECASE)
# What tables of measurements write in short for the variable that is meant.
_SHORT = {"QPS": "NCCL_IB_QPS_PER_CONNECTION", "ADAPTIVEROUTING": "NCCL_IB_ADAPTIVE_ROUTING"}
_ALGORITHMS = {
    "ring": "Ring",
    "tree": "Tree",
    "nvls": "NVLS",
    "nvlstree": "NVLSTree",
    "collnet": "CollnetDirect",
    "pat": "PAT",
}
_PROTOCOLS = {"ll": "LL", "ll128": "LL128", "simple": "Simple"}
_SWITCHES = {"nvls on": {"NCCL_NVLS_ENABLE": "1"}, "nvls off": {"NCCL_NVLS_ENABLE": "0"}}
_DEFAULTS = {"default", "defaults", "nvls default", "default settings"}
_COLLNET = {"sharp/collnet", "sharp", "collnet"}
_TOOLS = {
    TORCH: re.compile(r"\btorch"),
    ONE_PROCESS: re.compile(r"\b(?:single|one) process\b"),
}


def read_library_text(version_text: str, settings_text: str) -> tuple[Library, tuple[str, ...]]:
    """Return the library that two cells of a table of measurements mean, and what of them says nothing to it.

    Parameters
    ----------
    version_text
        Such as ``2.21.5`` or ``RCCL 2.22.3 (ROCm 6.4.2)``; empty: not said.
    settings_text
        Such as ``NCCL_ALGO=Ring NCCL_MIN_CTAS=24``, ``RING/LL128`` or ``default (NCCL picks NVLS)``.

    Returns
    -------
    Library
        Only what was said is set.
    tuple of str
        One note for each piece of text that is no setting.
    """
    found = _VERSION.search(_REMARK.sub(" ", version_text))
    said = {"name": "rccl"} if "rccl" in version_text.lower() else {}
    said |= {"version": found.group(1)} if found else {}
    settings: dict[str, str] = {}
    notes: list[str] = []
    if version_text and found is None:
        notes.append(f'version "{printable(version_text)}" is no version number')
    for piece in re.split(r"\s*;\s*", settings_text):
        chosen = _TUNER.search(piece)
        if chosen:
            settings["NCCL_ALGO"] = _ALGORITHMS[chosen.group(1).lower()]
            continue
        _add_piece(_REMARK.sub(" ", piece).strip(), settings, notes)
    try:
        library = Library.model_validate({**said, "settings": settings})
    except ValidationError:
        notes.append("settings: not understood, so not acted on")
        library = Library.model_validate(said)
    return library, tuple(notes)


def read_tool(tool_text: str, settings_text: str) -> str:
    """Return what measured: ``torch.distributed``, ``one process`` (all ranks in it), or empty for nccl-tests and the rest."""
    said = f"{tool_text}; {settings_text}".lower()
    return next((tool for tool, pattern in _TOOLS.items() if pattern.search(said)), "")


def _add_piece(piece: str, settings: dict[str, str], notes: list[str]) -> None:
    if not piece or piece.lower() in _DEFAULTS or read_tool("", piece):
        return
    for key, value in _SETTING.findall(piece):
        settings[_SHORT.get(key.upper(), key.upper())] = value
    rest = " ".join(_SETTING.sub(" ", piece).split())
    if not rest:
        return
    lower = rest.lower()
    if lower in _SWITCHES:
        settings |= _SWITCHES[lower]
    elif lower in _COLLNET:
        settings["NCCL_COLLNET_ENABLE"] = "1"
    elif not _add_names(lower, settings):
        notes.append(f'"{printable(rest, 80)}" is no setting of a library, so not acted on')


def _add_names(text: str, settings: dict[str, str]) -> bool:
    """Add what ``ring``, ``tree/simple`` or ``ring / other words`` names; say whether its first word is an algorithm."""
    algorithm, _, protocol = (part.strip() for part in text.partition("/"))
    if algorithm not in _ALGORITHMS:
        return False
    settings["NCCL_ALGO"] = _ALGORITHMS[algorithm]
    if protocol in _PROTOCOLS:
        settings["NCCL_PROTO"] = _PROTOCOLS[protocol]
    return True
