"""Prices, cords and trunks in the bill of materials."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from gpufabric.jobs.design import Design
from gpufabric.records.prices import ListedPrice, PriceList
from gpufabric.report.bill_csv import bill_csv
from gpufabric.report.bill_of_materials import BillOfMaterials, bill_of_materials
from gpufabric.report.design_text import bill_section, design_sections

RAILS = {"topology": "rail-optimized", "switch": "qm9790", "tiers": 2}


def priced(result: Design, **prices: float) -> BillOfMaterials:
    listed = {part.replace("_", "-"): ListedPrice(usd, "", "prices.csv:2") for part, usd in prices.items()}
    return bill_of_materials(result.cluster, result.parts, prices=PriceList("", listed), supply=result.supply)


def test_a_price_counts_for_every_piece_and_the_rest_is_unknown(designed: Callable[..., Design]) -> None:
    result = designed(8, **RAILS)
    bill = priced(result, qm9790=30_000.0, mfp7e10=100.0, rack=0.0)
    switches = sum(row.count for row in bill.rows if row.kind == "switch")
    cables = sum(row.count for row in bill.rows if row.part == "mfp7e10")
    assert bill.price_usd == 30_000 * switches + 100 * cables
    unknown = [row for row in bill.rows if row.price_usd is None and not row.included]
    assert bill.unknown_price_parts == len(unknown) > 0
    assert {row.price_source for row in bill.rows if row.kind == "switch"} == {"prices.csv:2"}
    assert next(row for row in bill.rows if row.kind == "rack").price_usd == 0.0


def test_a_given_price_stands_before_that_of_the_catalogue(designed: Callable[..., Design]) -> None:
    result = designed(8, **RAILS)
    part = result.parts.switches["qm9790"].model_copy(update={"price_usd": 5.0})
    parts = result.parts.by_id | {"qm9790": part}
    row = next(r for r in bill_of_materials(result.cluster, parts).rows if r.part == "qm9790")
    assert row.price_usd == 5.0 * row.count
    assert row.price_source == part.sources[part.source_of.get("price_usd", part.default_source)].title
    given = PriceList("", {"qm9790": ListedPrice(7.0, "quote", "x:2")})
    row = next(r for r in bill_of_materials(result.cluster, parts, prices=given).rows if r.part == "qm9790")
    assert (row.price_usd, row.price_source) == (7.0 * row.count, "quote")


def test_without_any_price_the_total_is_unknown_and_never_zero(designed: Callable[..., Design]) -> None:
    result = designed(8, **RAILS)
    bill = priced(result)
    assert bill.price_usd is None
    assert bill.unknown_price_parts == len([row for row in bill.rows if not row.included])


def test_cords_and_trunks_have_lines_of_their_own(designed: Callable[..., Design]) -> None:
    result = designed(32, **RAILS, cables={"leaf_spine": {"trunk_fibres": 144}})
    bill = priced(result)
    counts: dict[str, int] = {}
    for row in bill.rows:
        counts[row.kind] = counts.get(row.kind, 0) + row.count
    assert counts["jumper"] == len(result.cluster.jumpers)
    assert counts["cable"] + counts["trunk"] == len(result.cluster.assemblies)
    assert all(row.power_w == 0.0 for row in bill.rows if row.kind in {"jumper", "trunk"})


@pytest.mark.slow
def test_the_text_says_at_least_and_describes_a_part_once(designed: Callable[..., Design]) -> None:
    result = designed(32, **RAILS)
    sections = {section.title: section for section in design_sections(result.document)}
    whole = dict(sections["Cluster example"].rows)
    assert whole["power"].startswith("at least ")
    assert whole["racks"] == str(result.supply.racks)
    bill = bill_section(result.document["bill_of_materials"])
    remarks = [row[-1] for row in bill.rows if row[0] == "mfp7e10"]
    assert remarks[0].startswith("NVIDIA ")
    assert len(remarks) > 1
    assert set(remarks[1:]) == {""}


@pytest.mark.parametrize("column", ["model", "part_number", "price_source"])
def test_the_csv_has_what_purchasing_needs(designed: Callable[..., Design], column: str) -> None:
    head, *rows = bill_csv(priced(designed(8, **RAILS), qm9790=1.0)).split("\r\n")
    at = head.split(",").index(column)
    assert any(row.split(",")[at] for row in rows if row)
