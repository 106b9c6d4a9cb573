"""Parts as tables of text."""

import pytest

from gpufabric.catalog.load import load_catalog
from gpufabric.jobs.parts import list_parts, show_part
from gpufabric.records.part_sheet import PartList, PartSummary
from gpufabric.report.parts_table import parts_table, sheet_table

CATALOG = load_catalog()


@pytest.mark.parametrize("part_id", CATALOG.ids())
def test_every_row_of_a_sheet_has_every_column(part_id: str) -> None:
    sheet = show_part(CATALOG, part_id)
    table = sheet_table(sheet)
    assert {len(row) for row in table.rows} == {len(table.columns)}
    assert [row[0] for row in table.rows] == [figure.field for figure in sheet.figures]


def test_a_list_of_parts() -> None:
    table = parts_table(list_parts(CATALOG, "switch"))
    rows = {row[0]: row for row in table.rows}
    assert table.columns == ("id", "kind", "vendor", "model", "what", "notes")
    assert rows["qm9790"] == ("qm9790", "switch", "NVIDIA", "Quantum-2 QM9790", "64 × 400 Gb/s", "")
    assert rows["sn6600"][-1] == "announced"


def test_notes_say_what_is_the_users() -> None:
    own = PartSummary("x", "gpu", "v", "m", "w", "generic", own=True)
    both = PartSummary("y", "gpu", "v", "m", "w", "shipping", own=True, replaces=True)
    table = parts_table(PartList((own, both)))
    assert [row[-1] for row in table.rows] == ["generic, own", "own, replaces the shipped part"]


def test_marks_of_a_sheet() -> None:
    rows = {row[0]: row for row in sheet_table(show_part(CATALOG, "dgx-b200")).rows}
    assert rows["nics.ports"][-1].startswith("assumed: the cage map of the DGX B200 was not published")
    assert rows["airflow_cfm"][-1] == "secondary source"
    assert rows["rack_units"][2:] == (
        "DGX B200 user guide, introduction (read 2026-11)",
        "https://docs.nvidia.com/dgx/dgxb200-user-guide/introduction-to-dgxb200.html",
        "",
    )
