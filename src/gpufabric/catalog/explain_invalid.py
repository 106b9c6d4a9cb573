"""A failed validation of a data file → one line a fault: field, what is wrong, what is allowed, what to do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from gpufabric.errors import did_you_mean, printable
from gpufabric.units import counted

MAX_FAULTS = 10


def explain_invalid(error: ValidationError, model: type[BaseModel]) -> list[str]:
    """Return the faults of *error*, one line each; of more than ``MAX_FAULTS`` the number of the others stands last.

    Parameters
    ----------
    error
        What pydantic raised.
    model
        The model that was validated; its fields are what unknown keys are compared with.

    Returns
    -------
    list of str
        ``field: what is wrong (what was found); what is allowed; what to do``. Unknown keys come first,
        because a misspelt key also shows as a missing one.
    """
    found = error.errors(include_url=False)
    # A list with a wrong item is also said to be too short: only the innermost place is what has to be mended.
    inner = [f for f in found if not any(_holds(f["loc"], other["loc"]) for other in found)]
    faults = sorted(inner, key=lambda fault: fault["type"] != "extra_forbidden")
    lines = [_explain_fault(fault, model) for fault in faults[:MAX_FAULTS]]
    more = len(faults) - len(lines)
    return [*lines, f"has {counted(more, 'more fault')}; mend these first"] if more else lines


def _holds(outer: tuple[int | str, ...], inner: tuple[int | str, ...]) -> bool:
    return 0 < len(outer) < len(inner) and inner[: len(outer)] == outer


def _explain_fault(fault: ErrorDetails, model: type[BaseModel]) -> str:
    place = field_path(fault["loc"])
    if fault["type"] == "extra_forbidden":
        return _explain_unknown_key(fault, model)
    if fault["type"] == "missing":
        return f"{place}: is missing; it is required; add it"
    message = fault["msg"].removeprefix("Value error, ")
    message = message[0].lower() + message[1:]
    if fault["type"] == "value_error":
        return f"{place}: {message}" if place else message
    return f"{place}: {message} (found {_shown(fault['input'])})"


def _explain_unknown_key(fault: ErrorDetails, model: type[BaseModel]) -> str:
    key = str(fault["loc"][-1])
    owner = _model_at(model, fault["loc"][:-1])
    known = list(owner.model_fields) if owner else []
    place = field_path(fault["loc"][:-1])
    prefix = f"{place}: " if place else ""
    hint = did_you_mean(key, known)
    return f'{prefix}key "{printable(key)}" is unknown; known: {", ".join(known)}.{hint}'


def field_path(place: Sequence[int | str]) -> str:
    """Return a place in a document as ``nics[2].ports[0].cage``."""
    text = ""
    for step in place:
        if isinstance(step, int):
            text += f"[{step}]"
        else:
            text += f"{'.' if text else ''}{printable(step, 60)}"
    return text


def _shown(value: Any) -> str:
    if isinstance(value, dict):
        return "a table"
    if isinstance(value, list | tuple):
        return f"a list of {len(value)}"
    return f'"{printable(str(value))}"'


def _model_at(model: type[BaseModel], place: Sequence[int | str]) -> type[BaseModel] | None:
    """Return the model that the keys at *place* belong to; list indices and table keys are stepped over."""
    found: type[BaseModel] | None = model
    for step in place:
        if isinstance(step, str) and found is not None and step in found.model_fields:
            found = _model_within(found.model_fields[step].annotation)
    return found


def _model_within(annotation: Any) -> type[BaseModel] | None:
    if get_origin(annotation) is None:
        return annotation if isinstance(annotation, type) and issubclass(annotation, BaseModel) else None
    inner = (_model_within(argument) for argument in get_args(annotation))
    return next((found for found in inner if found), None)
