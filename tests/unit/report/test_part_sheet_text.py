"""The sheet of a part as a page of text."""

import pytest

from gpufabric.catalog.load import load_catalog
from gpufabric.jobs.parts import show_part
from gpufabric.records.part_sheet import PartSheet
from gpufabric.report.part_sheet_text import part_sheet_text

CATALOG = load_catalog()


@pytest.mark.parametrize("part_id", CATALOG.ids())
def test_every_figure_and_every_source_is_on_the_page(part_id: str) -> None:
    sheet = show_part(CATALOG, part_id)
    page = part_sheet_text(sheet)
    assert page.startswith(f"{part_id}: {sheet.vendor} {sheet.model} ({sheet.kind}")
    for figure in sheet.figures:
        assert f"\n{figure.field} " in page
        assert figure.text in page
        assert figure.url in page
        assert figure.assumed in page
    assert all(line in page for line in sheet.picture)


def test_a_source_is_printed_once_and_cited_by_number() -> None:
    page = part_sheet_text(show_part(CATALOG, "qm9700")).splitlines()
    assert "also known as MQM9700-NS2F" in page[1]
    line = next(line for line in page if line.startswith("max_power_w"))
    assert line.split() == ["max_power_w", "1.72", "kW", "[1]", "secondary", "source"]
    assert sum("qm97x0hw" in line for line in page) == 1


def test_a_part_of_which_nothing_is_known() -> None:
    sheet = PartSheet("x", "gpu", "V", "M", "generic", "", (), "", ())
    assert part_sheet_text(sheet).strip() == "x: V M (gpu, generic)"
