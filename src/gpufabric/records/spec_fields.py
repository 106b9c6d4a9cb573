"""Field types that cluster and job descriptions share."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema

_RATIO = re.compile(r"^\s*(\d{1,9}(?:\.\d{1,9})?)\s*:\s*(\d{1,9}(?:\.\d{1,9})?)\s*$")


def _ratio(value: Any) -> float:
    if isinstance(value, str):
        found = _RATIO.match(value)
        if found is None or float(found.group(2)) == 0:
            raise ValueError('is not a ratio; write it as "2:1" or a number such as 2')
        value = float(found.group(1)) / float(found.group(2))
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError('is not a ratio; write it as "2:1" or a number such as 2')
    if not 0.01 <= value <= 100:
        raise ValueError('is out of range; allowed is 0.01 to 100; write it as "2:1" or a number such as 2')
    return float(value)


Ratio = Annotated[
    float,
    BeforeValidator(_ratio),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "string", "pattern": r"^\s*\d{1,9}(\.\d{1,9})?\s*:\s*\d{1,9}(\.\d{1,9})?\s*$"},
                {"type": "number", "minimum": 0.01, "maximum": 100},
            ],
            "description": 'capacity down : capacity up, such as "2:1" or 2',
            "examples": ["1:1", 2],
        }
    ),
]
Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._\-]*$", max_length=63)]
PartId = Annotated[str, Field(min_length=1, max_length=128)]
Text = Annotated[str, Field(min_length=1, max_length=4096)]
Int = Annotated[int, Field(strict=True)]
Float = Annotated[float, Field(strict=True)]
Flag = Annotated[bool, Field(strict=True)]


class Strict(BaseModel):
    """Base of every part of a description: unknown keys are errors."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


def _setting(value: Any) -> Any:
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


Setting = Annotated[
    str,
    BeforeValidator(_setting),
    Field(max_length=1024),
    WithJsonSchema({"anyOf": [{"type": "string", "maxLength": 1024}, {"type": "integer"}]}),
]


class Library(Strict):
    """The communication library that runs the collectives, and its settings."""

    name: Literal["nccl", "rccl", "gloo", "mpi"] = Field("nccl", description="which library")
    version: str | None = Field(
        None,
        pattern=r"^\d+(\.\d+){0,3}$",
        max_length=32,
        description="its version, as quoted text; default: the newest that is modelled",
    )
    settings: dict[Annotated[str, Field(pattern=r"^[A-Z][A-Z0-9_]*$", max_length=64)], Setting] = Field(
        {}, description="environment variables such as NCCL_MIN_NCHANNELS", max_length=256
    )
