"""Errors of pydantic → lines a user can act on: *file:line: what is wrong; what is allowed; what to do*."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from types import UnionType
from typing import Annotated, Any, TypeVar, Union, get_args, get_origin

import annotated_types
from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo

from gpufabric.errors import SpecError, did_you_mean, printable
from gpufabric.formats.yaml_nodes import Node
from gpufabric.units import counted

MAX_ERRORS = 20
_NAME_START = "^[A-Za-z0-9]["
# How pydantic names a union member that has validators of its own.
_WITH_VALIDATOR = re.compile(r"^function-\w+\[.*, (\w+)\]+$")
_Model = TypeVar("_Model", bound=BaseModel)
_TYPE_WORDS = {
    "float_type": "is not a number; write a number",
    "bool_type": "is not true or false; write true or false",
    "dict_type": "is not a mapping; write its keys below it",
    "tuple_type": "is not a list; write it as [first, second]",
    "list_type": "is not a list; write it as [first, second]",
}


def validate_node(model: type[_Model], root: Node) -> _Model:
    """Return *root* as a *model*.

    Raises
    ------
    SpecError
        With one line an error, in the order of the file.
    """
    try:
        return model.model_validate(root.plain())
    except ValidationError as error:
        found = error.errors(include_url=False)
    spots = [(spot, details) for details in found if (spot := _spot(model, root, details)) is not None]
    problems = {(spot.rank, line) for spot, details in spots for line in spot.lines(details)}
    lines = [line for _, line in sorted(problems)]
    raise joined(lines or [f"{root.place}: is not a valid description; check it"])


def joined(lines: list[str]) -> SpecError:
    """Return one error that prints *lines*, at most 20 of them."""
    more = len(lines) - MAX_ERRORS
    return SpecError(
        "\n".join(lines[:MAX_ERRORS]) + (f"\n… and {counted(more, 'more error')}" if more > 0 else "")
    )


@dataclass(frozen=True, slots=True)
class _Spot:
    """Where an error is: the offending *node* (the parent, for a key), its key and what is allowed there."""

    node: Node
    key: str
    path: str
    line_node: Node
    annotation: Any
    rank: tuple[bool, int]

    def lines(self, details: Any) -> Iterator[str]:
        message = self.message(details["type"], details.get("ctx") or {}, str(details["msg"]))
        if message:
            yield f"{self.line_node.place}: {message}"

    def message(self, kind: str, context: dict[str, Any], text: str) -> str:
        if kind in {"missing", "extra_forbidden"}:
            return self.key_message(kind)
        if kind == "too_short" and _length(self.node) >= context.get("min_length", 0):
            return ""  # pydantic says so when the entries themselves are wrong
        if kind == "value_error":
            return self.value_message(str(context.get("error", text)))
        subject = f"{self.key} {shown(self.node)}"
        if self.node.value is None:
            return f"{self.key} is empty; give it a value or remove the key"
        if kind in {"string_too_long", "too_long"}:
            return f"{self.key} is too long; allowed are at most {context['max_length']:,}; shorten it"
        if kind in {"string_too_short", "too_short"}:
            return f"{self.key} is empty; give at least {context['min_length']:,}"
        if kind == "literal_error":
            known = ["".join(pair) for pair in re.findall(r"'([^']*)'|(\d+)", str(context["expected"]))]
            guess = did_you_mean(str(self.node.value)[:80], known)
            return f"{subject} is unknown; known: {', '.join(known)}.{guess}"
        return f"{subject} {self.type_message(kind, text)}"

    def type_message(self, kind: str, text: str) -> str:
        allowed = _allowed(self.annotation)
        if kind in {"greater_than_equal", "greater_than", "less_than_equal", "less_than"}:
            return f"is out of range; allowed is {allowed}; change it"
        if kind in {"int_type", "int_from_float", "int_parsing_size"}:
            return f"is not a whole number; allowed is {allowed}; write it without quotes and decimal point"
        if kind == "finite_number":
            return f"is not finite; allowed is {allowed}; change it"
        if kind == "string_type":
            plain = isinstance(self.node.value, int | float)
            return f"is not text; {'put it in quotes' if plain else 'write one word or quoted text'}"
        entries = _known_keys(_item(self.annotation)) if kind == "tuple_type" else []
        if kind == "model_type" or entries:
            known = ", ".join(entries or _known_keys(self.annotation))
            return f"is not a mapping; allowed keys: {known}; write them below it"
        if kind == "string_pattern_mismatch":
            pattern = _pattern(self.annotation)
            if pattern.startswith(_NAME_START):
                return (
                    "is not a name; allowed are letters, digits and . _ - after a letter or digit; rename it"
                )
            return f"does not fit the pattern {pattern}; change it"
        return _TYPE_WORDS.get(kind, f"is wrong ({printable(text)}); change it")

    def key_message(self, kind: str) -> str:
        place = self.path or "the description"
        known = _known_keys(self.annotation)
        if kind == "missing":
            field = _fields(self.annotation).get(self.key)
            return f'{place} has no key "{self.key}"; add {self.key}: {field.description if field else "…"}'
        guess = did_you_mean(self.key, known)
        return f'key "{self.key}" is unknown in {place}; known: {", ".join(known)}.{guess}'

    def value_message(self, text: str) -> str:
        text = printable(text, 400)
        if not self.path:
            return text
        if self.node.value is None:
            return f"{self.key} is empty; give it a value or remove the key"
        return f"{self.key} {shown(self.node)} {text}" if text.startswith("is ") else f"{self.key}: {text}"


def shown(node: Node) -> str:
    """Return the value of *node* for a message: bounded, on one line, quoted when it is text."""
    value = node.value
    if isinstance(value, dict):
        return "(a mapping)"
    if isinstance(value, list):
        return "(a list)"
    if isinstance(value, bool):
        return str(value).lower()
    return f'"{printable(value, 60)}"' if isinstance(value, str) else printable(str(value), 40)


def _spot(model: type[BaseModel], root: Node, details: Any) -> _Spot | None:
    """Walk the location of a pydantic error; None when the union member it is about was not meant."""
    location = list(details["loc"])
    about_key = details["type"] in {"missing", "extra_forbidden"}
    steps, last = (location[:-1], str(location[-1])) if about_key else (location, "")
    node, line_node, path = root, root, ""
    annotation: Any = model
    key, key_annotation = "", Any
    for step in steps:
        if isinstance(step, int):
            annotation = _item(annotation)
            if isinstance(node.value, list) and step < len(node.value):
                node = line_node = node.value[step]
                path, key = f"{path}[{step}]", f"{key}[{step}]"
            continue
        members = {member.__name__: member for member in _models(annotation)}
        member = _WITH_VALIDATOR.sub(r"\1", step)
        if _is_union(annotation) and member in members:
            if not isinstance(node.value, dict):
                return None
            annotation = members[member]
        elif isinstance(node.value, dict) and step in node.value:
            line_node = node.key_lines[step]
            node = node.value[step]
            key = printable(step, 60)
            key_annotation = _key(annotation)
            annotation = _child(annotation, step)
            path = f"{path}.{key}" if path else key
        elif step == "[key]":
            node, key, annotation = line_node, "key", key_annotation
        elif isinstance(node.value, dict) and members:
            return None
    if about_key:
        if details["type"] == "extra_forbidden" and last in node.key_lines:
            line_node = node.key_lines[last]
        key = printable(last, 60)
    rank = (line_node.where != root.where, line_node.line)
    return _Spot(node, key or "the description", path, line_node, annotation, rank)


def _is_union(annotation: Any) -> bool:
    return get_origin(annotation) in {Union, UnionType, Annotated}


def _parts(annotation: Any) -> Iterator[Any]:
    """Yield the members of a union, through Annotated, None left out."""
    origin = get_origin(annotation)
    if origin is Annotated:
        yield from _parts(get_args(annotation)[0])
    elif origin in {Union, UnionType}:
        for member in get_args(annotation):
            yield from _parts(member)
    elif annotation is not type(None):
        yield annotation


def _models(annotation: Any) -> list[type[BaseModel]]:
    return [p for p in _parts(annotation) if isinstance(p, type) and issubclass(p, BaseModel)]


def _fields(annotation: Any) -> dict[str, FieldInfo]:
    return {name: field for member in _models(annotation) for name, field in member.model_fields.items()}


def _known_keys(annotation: Any) -> list[str]:
    return list(_fields(annotation))


def _child(annotation: Any, key: str) -> Any:
    """Return the annotation under *key*, its constraints kept."""
    field = _fields(annotation).get(key)
    if field is not None:
        return Annotated[field.annotation, *field.metadata] if field.metadata else field.annotation
    for part in _parts(annotation):
        if get_origin(part) is dict:
            return get_args(part)[1]
    return Any


def _key(annotation: Any) -> Any:
    """Return the annotation of the keys of a mapping."""
    return next((get_args(part)[0] for part in _parts(annotation) if get_origin(part) is dict), Any)


def _item(annotation: Any) -> Any:
    for part in _parts(annotation):
        if get_origin(part) in {tuple, list}:
            return get_args(part)[0]
    return Any


def _constraints(annotation: Any) -> Iterator[Any]:
    origin = get_origin(annotation)
    if origin is Annotated:
        inner, *metadata = get_args(annotation)
        for item in metadata:
            yield from item.metadata if isinstance(item, FieldInfo) else [item]
        yield from _constraints(inner)
    elif origin in {Union, UnionType}:
        for member in get_args(annotation):
            yield from _constraints(member)


def _allowed(annotation: Any) -> str:
    low: Any = None
    high: Any = None
    words = "or more"
    for item in _constraints(annotation):
        if isinstance(item, annotated_types.Ge):
            low = item.ge
        elif isinstance(item, annotated_types.Gt):
            low, words = item.gt, "and above, itself not included"
        elif isinstance(item, annotated_types.Le):
            high = item.le
    if low is None:
        return "a finite number"
    return f"{low:,} {words}" if high is None else f"{low:,} to {high:,}"


def _pattern(annotation: Any) -> str:
    return next((p for item in _constraints(annotation) if (p := getattr(item, "pattern", None))), "")


def _length(node: Node) -> int:
    return len(node.value) if isinstance(node.value, str | list) else 1
