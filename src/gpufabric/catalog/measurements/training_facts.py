"""``training_sources.toml`` and ``training_models.toml`` → what is known of measurements of training beyond their rows."""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

TRAINING = Path(__file__).parent / "training.csv"


class SourceFacts(BaseModel):
    """What a source says of all its runs, or what its library does by itself.

    ``library`` is the class of libraries of the calibration; ``eager`` a pattern of notes whose rows ran PyTorch without its
    compiler. ``practice`` names habits of :mod:`gpufabric.training.memory_practice`; ``reduction`` is the format of gradients on
    the network; ``overlap`` and ``overlap_tensor`` whether communication runs beside compute; ``interleaved`` that stages are,
    where there are several, though the row has no number; ``prediction`` whether multi-token-prediction modules are trained;
    ``power_w`` and ``hbm_bytes_per_s`` differ from the part's.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    title: str = ""
    url: str = ""
    read: str = ""
    note: str = ""
    practice: Literal["megatron", "megatron-2022", "fsdp"] = "megatron"
    library: Literal["megatron", "megatron-2021", "megatron-2022", "pytorch-compiled", "pytorch-eager"] = (
        "megatron"
    )
    eager: str = ""
    sequence_parallel: bool = True
    interleaved: bool = False
    prediction: bool = True
    overlap: bool = True
    overlap_tensor: bool = False
    reduction: Literal["fp32", "bf16"] = "fp32"
    power_w: Annotated[float, Field(gt=0)] | None = None
    hbm_bytes_per_s: Annotated[float, Field(gt=0)] | None = None


@cache
def source_facts(source: str) -> SourceFacts | None:
    """Return what is known of a source; None: nothing."""
    known = _read("training_sources.toml").get(source)
    return SourceFacts.model_validate(known) if known is not None else None


def known_sources() -> tuple[str, ...]:
    """Return the sources that something is known of."""
    return tuple(_read("training_sources.toml"))


def model_id_of(name: str) -> str:
    """Return the id of a model of the catalogue by the name that a table gives it; empty: unknown."""
    models = _read("training_models.toml")["models"]
    wanted = name.lower().strip()
    return str(models.get(wanted) or models.get(wanted.partition("(")[0].strip(), ""))


@cache
def _read(name: str) -> dict[str, dict[str, object]]:
    return tomllib.loads((Path(__file__).parent / name).read_text(encoding="utf-8"))
