"""Environment variables as text → what they change in a prediction."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches
from typing import Any

from gpufabric.errors import InputError, did_you_mean, printable
from gpufabric.records.library_model import LibraryModel, LibrarySettings, SettingRule

# What NCCL's lists call the operations that have a choice of algorithms, without underscores and in lower case.
_LIST_OPS = ("all_reduce", "all_gather", "reduce_scatter", "broadcast", "reduce")
# As descriptions may have them (records/spec_fields.py).
_NAME, _MOST_VALUE = re.compile("[A-Z][A-Z0-9_]{0,63}"), 1024


def read_settings(model: LibraryModel, given: Mapping[str, str]) -> LibrarySettings:
    """Return what *given* says, by the rules of the library's version.

    Parameters
    ----------
    model : LibraryModel
    given : mapping of str to str
        Names and values as in the environment.

    Raises
    ------
    InputError
        If a value is none that the variable may have.
    """
    rules = {rule.name: rule for rule in model.settings}
    settings, notes = LibrarySettings(given=dict(given)), []
    for name, text in given.items():
        rule = rules.get(name)
        if rule is None:
            close = get_close_matches(name, rules, n=1, cutoff=0.8)
            hint = f' Did you mean "{close[0]}"?' if close else ""
            notes.append(
                f"{printable(name)}: not known for {model.name} {model.version}, so not acted on.{hint}"
            )
            continue
        change = _change(rule, text, model, settings)
        settings = replace(settings, **change)
        if not change:
            notes.append(f"{name}: not acted on{': ' if rule.note else ''}{rule.note}")
        elif rule.note:
            notes.append(f"{name}: {rule.note}")
    least, most = settings.least_channels, settings.most_channels
    if least is not None and most is not None and least > most:
        raise InputError(
            f"{model.name} settings: at least {least} channels and at most {most} contradict each other; "
            "allowed is a minimum up to the maximum; change one of them"
        )
    return replace(settings, notes=tuple(notes))


def _change(rule: SettingRule, text: str, model: LibraryModel, sofar: LibrarySettings) -> dict[str, Any]:
    """Return the fields of :class:`LibrarySettings` that a value changes."""
    if rule.kind == "lists":
        algorithms = rule.acts == "algorithms"
        known = {
            r.spelling: r.name for r in (model.algorithms if algorithms else model.protocols) if r.spelling
        }
        return {str(rule.acts): _lists(rule.name, text, known, model.lists_by_op_since is not None)}
    if rule.kind == "names":
        named = _named_exactly(text)
        return {} if named is None else {"nics": named}
    if rule.kind == "text":
        return {}
    count = _count(rule, text)
    # Of two variables for the same bound NCCL takes the tighter one.
    least, most = sofar.least_channels or count, sofar.most_channels or count
    changes: dict[str | None, dict[str, Any]] = {
        "least-channels": {"least_channels": max(least, count)},
        "most-channels": {"most_channels": min(most, count)},
        "queue-pairs": {"queue_pairs": count},
        "nvls": {"nvls": count != 0},
        "collnet": {"collnet": count != 0},
        "collnet-nodes": {"collnet_nodes": count},
        "pxn-off": {"pxn": count == 0 and sofar.pxn},
        "pxn-level": {"pxn": count != 0 and sofar.pxn},
        "peer-to-peer-off": {"peer_to_peer": count == 0},
        "domain": {"domain": count != 0},
    }
    return changes.get(rule.acts, {})


def _count(rule: SettingRule, text: str) -> int:
    stripped = text.strip()
    if not (stripped.isascii() and stripped.isdigit() and len(stripped) <= 10) or not (
        rule.least <= int(stripped) <= rule.most
    ):
        upper = f" to {rule.most:,}" if rule.most < 2**31 - 1 else " or more"
        raise InputError(
            f'{rule.name}: "{printable(text)}" is out of range; allowed is a number, {rule.least}{upper}; change it'
        )
    return int(stripped)


def _named_exactly(text: str) -> int | None:
    """Return how many adapters an include list names, None where it excludes or gives prefixes such as ``mlx5``."""
    names = {name.split(":")[0] for name in text.removeprefix("=").split(",") if name}
    whole = text.startswith("=") or all("_" in name and name[-1].isdigit() for name in names)
    return len(names) if names and whole and not text.startswith("^") else None


def _lists(name: str, text: str, known: Mapping[str, str], by_op: bool) -> dict[str, frozenset[str]]:
    """Read ``ring,tree`` or, by operation, ``ring;allreduce:^tree``."""
    found: dict[str, frozenset[str]] = {}
    for number, part in enumerate(text.split(";")):
        before, colon, listed = part.partition(":")
        if colon and not by_op:
            raise InputError(
                f'{name}: "{printable(text)}" names an operation; this version allows one list for all; remove the operation'
            )
        if not colon and number:
            raise InputError(
                f'{name}: "{printable(part)}" names no operation; allowed is that in the first list only; write OP:LIST'
            )
        ops = (_list_op(name, before),) if colon else _LIST_OPS
        allowed = _names(name, listed if colon else before, known)
        found.update(dict.fromkeys(ops, allowed))
    return found


def _list_op(name: str, text: str) -> str:
    plain = {op.replace("_", ""): op for op in _LIST_OPS}
    word = text.strip().lower().replace("_", "")
    if word not in plain:
        raise InputError(
            f'{name}: operation "{printable(text)}" is unknown; known: {", ".join(plain)}.{did_you_mean(word, plain)}'
        )
    return plain[word]


def _names(name: str, text: str, known: Mapping[str, str]) -> frozenset[str]:
    inverted = text.strip().startswith("^")
    lower = {spelling.lower(): ours for spelling, ours in known.items()}
    words = [word.strip().lower() for word in text.strip().removeprefix("^").split(",")]
    for word in words:
        if word not in lower:
            raise InputError(
                f'{name}: "{printable(word)}" is unknown; known: {", ".join(known)}.{did_you_mean(word, lower)}'
            )
    chosen = frozenset(lower[word] for word in words)
    return frozenset(lower.values()) - chosen if inverted else chosen


def read_assignments(texts: Sequence[str]) -> dict[str, str]:
    """Return what ``NAME=VALUE`` texts of the command line set; later ones win.

    Raises
    ------
    InputError
        If a text is no assignment.
    """
    found = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or _NAME.fullmatch(name) is None:
            raise InputError(
                f'setting "{printable(text)}" is no assignment; allowed is NAME=VALUE such as NCCL_ALGO=Ring, NAME of at most '
                "64 capitals, digits and _; write it so"
            )
        if len(value) > _MOST_VALUE:
            raise InputError(
                f"{name}: its value is too long ({len(value):,} characters); allowed are {_MOST_VALUE:,}; shorten it"
            )
        found[name] = value
    return found
