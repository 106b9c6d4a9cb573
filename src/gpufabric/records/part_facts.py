"""What every part says of itself: who makes it, what it is called, where each figure was read, what it costs.

``source_of[field]`` names a key of ``sources``; fields that are not listed there come from ``default_source``.
``assumed[field]`` says why a value is assumed rather than published; ``secondary`` lists the fields known only from a secondary
source.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

Network = Literal["infiniband", "ethernet"]
Connector = Literal[
    "osfp-finned",  # IHS: closed or finned top, what air-cooled switch cages take
    "osfp-flat",  # RHS / -FLT: flat top, what NICs and DGX cages take
    "qsfp112",
    "qsfp56",
    "qsfp28",
    "qsfp-dd",
    "sfp28",
    "rj45",
    "mpo-12-apc",
    "mpo-12-upc",
    "mpo-16-apc",
    "mmc-12",
    "lc-duplex",
]
Count = Annotated[int, Field(ge=1, le=1_000_000)]
CageCount = Annotated[int, Field(ge=1, le=4096)]
Amount = Annotated[float, Field(ge=0)]


class StrictRecord(BaseModel):
    """A frozen record that refuses fields that it does not know, infinity and NaN."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class Source(StrictRecord):
    """Where a figure was read: a public document, its address, and the date it was read."""

    title: str
    url: str = Field(pattern=r"^https?://[^\s<>\"]+$", max_length=2000)
    read: str = Field(pattern=r"^\d{4}(-\d{2}(-\d{2})?)?$", description="date read, YYYY-MM-DD")
    note: str = ""


class Price(StrictRecord):
    """A price that was quoted in another currency than US dollars. It is not converted, so no total in US dollars has it."""

    amount: Amount
    currency: str = Field(pattern=r"^[A-Z]{3}$", description="ISO 4217 code")

    @model_validator(mode="after")
    def _is_not_dollars(self) -> Price:
        if self.currency == "USD":
            raise ValueError("is in US dollars; price is for other currencies; write it as price_usd")
        return self


class Part(StrictRecord):
    """Fields that every part has. ``id`` equals the file's name."""

    id: str = Field(pattern=r"^[a-z0-9][a-z0-9.\-]*$", max_length=64)
    vendor: str
    model: str
    part_number: str = ""
    status: Literal["shipping", "announced", "generic"] = "shipping"
    aliases: tuple[str, ...] = ()
    description: str = ""
    sources: dict[str, Source] = {}
    default_source: str = ""
    source_of: dict[str, str] = {}
    secondary: tuple[str, ...] = ()
    assumed: dict[str, str] = {}

    @model_validator(mode="after")
    def _sources_resolve(self) -> Part:
        if self.status != "generic" and not self.sources:
            raise ValueError(
                "a part needs at least one source; add a [sources.KEY] table with title, url and read"
            )
        used = {**({"default_source": self.default_source} if self.default_source else {}), **self.source_of}
        for field, key in used.items():
            if key not in self.sources:
                raise ValueError(
                    f'{field} names source "{key}", which is not in [sources]; known: {", ".join(self.sources)}'
                )
        if self.status != "generic" and not self.default_source:
            raise ValueError("default_source is missing; name one key of [sources]")
        for field in (*self.source_of, *self.secondary, *self.assumed):
            if field.split(".")[0] not in type(self).model_fields:
                raise ValueError(f'"{field}" is marked but is not a field of this kind of part')
        return self
