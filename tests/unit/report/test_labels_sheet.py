"""The sheet of labels to print: what it holds, and what it refuses."""

from __future__ import annotations

from collections.abc import Callable
from html import unescape

import pyarrow as pa
import pytest

from gpufabric.errors import InputError
from gpufabric.jobs.design import Design
from gpufabric.report.labels_sheet import MOST_SHEET_LABELS, labels_for, labels_sheet
from gpufabric.report.labels_table import labels_table


@pytest.fixture
def labels(designed: Callable[..., Design]) -> pa.Table:
    result = designed(33, topology="rail-optimized", switch="qm9790", tiers=2, unit_servers=32)
    return labels_table(result.cluster, result.floor_plan, result.parts.by_id)


@pytest.mark.parametrize(
    ("place", "column", "value"),
    [("a01", "near_rack", "A01"), ("su02-srv01", "near_device", "su02-srv01"), ("A02", "near_rack", "A02")],
)
def test_labels_of_a_rack_or_device(labels: pa.Table, place: str, column: str, value: str) -> None:
    found = labels_for(labels, place).to_pylist()
    assert found
    assert {row[column] for row in found} == {value}


def test_labels_of_a_unit_are_those_of_its_devices(labels: pa.Table) -> None:
    found = labels_for(labels, "su02").to_pylist()
    assert {row["near_device"][:5] for row in found} == {"su02-"}


@pytest.mark.parametrize("place", ["A99", "", "su", "\x1b[31m", "x" * 5000])
def test_a_place_without_cables_is_refused_in_one_line(labels: pa.Table, place: str) -> None:
    with pytest.raises(InputError, match="no cable ends there; name a rack") as caught:
        labels_for(labels, place)
    assert str(caught.value).isprintable()


def test_every_flag_has_two_equal_halves(labels: pa.Table) -> None:
    some = labels.slice(0, 10)
    text = labels_sheet(some, "<script>alert(1)</script>")
    for row in some.to_pylist():
        assert text.count(f">{row['label']}<") == 2
    assert "<script" not in text
    assert "<script>alert(1)</script>" in unescape(text)
    assert "default-src 'none'" in unescape(text)


def test_a_cord_is_printed_for_both_of_its_plugs(designed: Callable[..., Design]) -> None:
    cables = {"leaf_spine": {"trunk_fibres": 144}}
    result = designed(32, topology="rail-optimized", switch="qm9790", tiers=2, cables=cables)
    table = labels_table(result.cluster, result.floor_plan, result.parts.by_id)
    cord = next(row["label"] for row in table.to_pylist() if row["kind"] == "cord")
    assert labels_sheet(table, "x").count(f">{cord}<") == 4


def test_too_many_labels_are_refused(labels: pa.Table) -> None:
    many = pa.concat_tables([labels] * (MOST_SHEET_LABELS // labels.num_rows + 1))
    with pytest.raises(InputError, match="at most 5,000 are allowed; choose a rack"):
        labels_sheet(many, "x")
