"""A fault as the command line writes it, ``KIND:WHERE[=RATE]`` → :class:`~gpufabric.records.cluster_spec.Fault`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import get_args

from pydantic import ValidationError

from gpufabric.errors import InputError, did_you_mean, printable
from gpufabric.records.cluster_spec import ClusterSpec, Fault

KINDS: tuple[str, ...] = get_args(Fault.model_fields["kind"].annotation)
MAX_FAULTS = 10_000
_EXAMPLES = "such as link-down:leaf-01:1, link-slow:srv01:cage1/2=200 Gb/s or rail-down:rail:3"


def parse_fault(text: str) -> Fault:
    """Return the fault that *text* describes.

    Raises
    ------
    InputError
        If it can't be understood.
    """
    kind, colon, rest = text.partition(":")
    if kind not in KINDS:
        raise InputError(
            f'fault "{printable(text)}": kind "{printable(kind)}" is unknown; known: {", ".join(KINDS)}.'
            f"{did_you_mean(kind[:80], KINDS)}"
        )
    where, equals, rate = rest.rpartition("=") if kind == "link-slow" else (rest, "", "")
    if not colon or not where.strip():
        raise InputError(
            f'fault "{printable(text)}" is not complete; write KIND:WHERE, of link-slow KIND:WHERE=RATE, {_EXAMPLES}'
        )
    said = {"kind": kind, "where": where.strip()}
    try:
        return Fault.model_validate({**said, "rate": rate.strip()} if equals else said)
    except ValidationError as error:
        reason = str(error.errors()[0]["msg"]).removeprefix("Value error, ")
        raise InputError(f'fault "{printable(text)}": {printable(reason, 300)}') from None


def with_faults(spec: ClusterSpec, texts: Sequence[str]) -> ClusterSpec:
    """Return *spec* with further faults after its own.

    Raises
    ------
    InputError
        If one can't be understood or there are more than ``MAX_FAULTS``.
    """
    faults = (*spec.faults, *map(parse_fault, texts))
    if len(faults) > MAX_FAULTS:
        raise InputError(f"faults: {len(faults):,} are given; allowed are {MAX_FAULTS:,}; leave some out")
    return spec.model_copy(update={"faults": faults}) if texts else spec
