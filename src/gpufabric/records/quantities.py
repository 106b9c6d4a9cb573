"""Pydantic field types: text with a unit at the edge, an SI float inside (see :mod:`gpufabric.units`)."""

from __future__ import annotations

from typing import Annotated

from pydantic import BeforeValidator, WithJsonSchema

from gpufabric import units


def _text(example: str, what: str) -> WithJsonSchema:
    return WithJsonSchema({"type": "string", "description": f"{what} with its unit", "examples": [example]})


Rate = Annotated[float, BeforeValidator(units.parse_rate), _text("400 Gb/s", "rate per direction")]
Bytes = Annotated[float, BeforeValidator(units.parse_bytes), _text("80 GiB", "size")]
Power = Annotated[float, BeforeValidator(units.parse_power), _text("14.3 kW", "power")]
Length = Annotated[float, BeforeValidator(units.parse_length), _text("3 m", "length")]
Time = Annotated[float, BeforeValidator(units.parse_time), _text("130 ns", "time")]
Flops = Annotated[float, BeforeValidator(units.parse_flops), _text("989 TFLOP/s", "dense compute rate")]
