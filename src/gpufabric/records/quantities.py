"""Pydantic field types: text with a unit at the edge, an SI float inside (see :mod:`gpufabric.units`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

from pydantic import BeforeValidator, WithJsonSchema

from gpufabric import units


def _reader(parse: Callable[[object], float], example: str) -> BeforeValidator:
    def read(value: Any) -> float:
        if isinstance(value, dict | list | tuple | None):
            raise ValueError(f"is not a number with its unit; write it such as {example}")
        return parse(value)

    return BeforeValidator(read)


def _text(example: str, what: str) -> WithJsonSchema:
    return WithJsonSchema({"type": "string", "description": f"{what} with its unit", "examples": [example]})


Rate = Annotated[float, _reader(units.parse_rate, "400 Gb/s"), _text("400 Gb/s", "rate per direction")]
Bytes = Annotated[float, _reader(units.parse_bytes, "80 GiB"), _text("80 GiB", "size")]
Power = Annotated[float, _reader(units.parse_power, "14.3 kW"), _text("14.3 kW", "power")]
Length = Annotated[float, _reader(units.parse_length, "3 m"), _text("3 m", "length")]
Time = Annotated[float, _reader(units.parse_time, "130 ns"), _text("130 ns", "time")]
Flops = Annotated[
    float, _reader(units.parse_flops, "989 TFLOP/s"), _text("989 TFLOP/s", "dense compute rate")
]
