"""The ladder of tests that accepts a cluster: what is run where, and what it should reach."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from gpufabric.records.verdicts import Expectation

PLAN_FORMAT = "gpufabric-acceptance/1"
STEPS = ("server", "pair", "unit", "bisection", "all")
Step = Literal["server", "pair", "unit", "bisection", "all"]
MAX_TESTS = 200_000
_Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._\-]*$", max_length=255)]
_Amount = Annotated[float, Field(ge=0)]


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class ExpectedRate(_Frozen):
    """What one size should reach, as bus bandwidth in bytes/s; the fields are those of ``Expectation``."""

    size_bytes: Annotated[int, Field(ge=1)]
    busbw_bytes_per_s: _Amount
    low_bytes_per_s: _Amount
    high_bytes_per_s: _Amount
    limit_low_bytes_per_s: _Amount
    limit_high_bytes_per_s: _Amount
    ceiling_bytes_per_s: _Amount
    ceiling_name: Annotated[str, Field(max_length=255)]

    def expectation(self) -> Expectation:
        """Return it as rules take it."""
        return Expectation(**self.model_dump())


class AcceptanceTest(_Frozen):
    """One test: ``devices`` are servers of the description, ``hosts`` their names where it runs, ``ranks`` those on each.

    ``shape`` names the expectation in the plan: tests of one step over equally many ranks share it.
    """

    id: _Name
    step: Step
    devices: tuple[_Name, ...] = Field(min_length=1)
    hosts: tuple[_Name, ...]
    ranks: tuple[Annotated[int, Field(ge=1, le=4096)], ...]
    shape: _Name

    @model_validator(mode="after")
    def _as_many_of_each(self) -> AcceptanceTest:
        if not len(self.devices) == len(self.hosts) == len(self.ranks):
            raise ValueError("devices, hosts and ranks must be equally many")
        return self


class AcceptancePlan(_Frozen):
    """All tests in the order in which they are run, and what each shape of them should reach."""

    format: Literal["gpufabric-acceptance/1"] = "gpufabric-acceptance/1"
    name: Annotated[str, Field(max_length=255)]
    op: Annotated[str, Field(max_length=64)]
    gpu: Annotated[str, Field(max_length=255)]
    tests: tuple[AcceptanceTest, ...] = Field(max_length=MAX_TESTS)
    expected: dict[str, tuple[ExpectedRate, ...]]
    assumptions: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _shapes_are_expected(self) -> AcceptancePlan:
        unknown = next((test for test in self.tests if test.shape not in self.expected), None)
        if unknown is not None:
            raise ValueError(
                f'test {unknown.id} has the shape "{unknown.shape}", which expected does not have'
            )
        if len({test.id for test in self.tests}) < len(self.tests):
            raise ValueError("two tests have the same id")
        return self
