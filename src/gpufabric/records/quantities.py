"""Pydantic field types: text with a unit at the edge, an SI float inside (see :mod:`gpufabric.units`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

from pydantic import BeforeValidator, WithJsonSchema

from gpufabric import units
from gpufabric.errors import InputError


def _reader(parse: Callable[[object], float]) -> BeforeValidator:
    def read(value: Any) -> float:
        # Only a ValueError makes pydantic say at which field it happened.
        if isinstance(value, dict | list | tuple | None):
            raise ValueError("is not a number with its unit")
        try:
            return parse(value)
        except InputError as error:
            raise ValueError(str(error)) from None

    return BeforeValidator(read)


def _text(example: str, what: str) -> WithJsonSchema:
    return WithJsonSchema({"type": "string", "description": f"{what} with its unit", "examples": [example]})


Rate = Annotated[float, _reader(units.parse_rate), _text("400 Gb/s", "rate per direction")]
Bytes = Annotated[float, _reader(units.parse_bytes), _text("80 GiB", "size")]
Power = Annotated[float, _reader(units.parse_power), _text("14.3 kW", "power")]
Length = Annotated[float, _reader(units.parse_length), _text("3 m", "length")]
Time = Annotated[float, _reader(units.parse_time), _text("130 ns", "time")]
Flops = Annotated[float, _reader(units.parse_flops), _text("989 TFLOP/s", "dense compute rate")]
