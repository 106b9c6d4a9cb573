"""A design → the files that people get: report, drawings, bill of materials, cabling plan, labels."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from gpufabric.errors import printable
from gpufabric.jobs.design import Design
from gpufabric.report.arrow_files import write_table_csv, write_table_parquet
from gpufabric.report.bill_csv import bill_csv
from gpufabric.report.bill_of_materials import bill_of_materials
from gpufabric.report.cabling_plan import cabling_table
from gpufabric.report.floor_plan_svg import draw_floor_plan
from gpufabric.report.html_report import Pictures, html_report
from gpufabric.report.json_text import json_document, json_text
from gpufabric.report.labels_sheet import MOST_SHEET_LABELS, labels_for, labels_sheet
from gpufabric.report.labels_table import labels_table
from gpufabric.report.logical_fabric_svg import draw_logical_fabric
from gpufabric.report.rack_elevation_svg import draw_rack_elevations
from gpufabric.report.report_sources import part_references
from gpufabric.report.write_files import folder_beside, write_text

_FILES = {
    "bill-of-materials.csv": "everything that is bought, by part and length",
    "cabling-plan.csv": "one row a link, for spreadsheets",
    "cabling-plan.parquet": "the same for programs",
    "labels.csv": "one row a label, for label printers",
    "labels.parquet": "the same for programs",
    "labels.html": "labels to print on A4 and cut",
    "design.json": "the whole design for programs",
    "floor-plan.svg": "the room from above",
    "racks.svg": "each kind of rack from the front",
}


@dataclass(frozen=True)
class WrittenDesign:
    """Paths of the files, and what was left out."""

    paths: tuple[Path, ...]
    notes: tuple[str, ...]


def write_design(result: Design, folder: Path, label_place: str | None = None) -> WrittenDesign:
    """Write the design's files into *folder*, all or none.

    Parameters
    ----------
    result
    folder
    label_place
        Rack, device or unit whose labels the printable sheet holds; None: all, unless these are too many to print.

    Raises
    ------
    InputError
        If the folder can't be written, or no cable ends at *label_place*, or too many do.
    """
    cluster, plan, parts = result.cluster, result.floor_plan, result.parts.by_id
    cabling = cabling_table(cluster, parts, plan)
    labels = labels_table(cluster, plan, parts)
    sheet, notes = _sheet(labels, cluster.name, label_place)
    pictures = Pictures(
        fabrics=tuple((f.name, draw_logical_fabric(cluster, i)) for i, f in enumerate(cluster.fabrics)),
        floor_plan=draw_floor_plan(cluster, plan, result.rack_groups),
        racks=draw_rack_elevations(cluster, plan, result.rack_groups),
    )
    older = _files_of_a_run(folder)
    with folder_beside(folder) as beside:
        write_text(beside / "design.json", json_text(json_document("design", result.document)))
        bill = bill_of_materials(cluster, parts, prices=result.prices, supply=result.supply)
        write_text(beside / "bill-of-materials.csv", bill_csv(bill))
        for name, table in (("cabling-plan", cabling), ("labels", labels)):
            write_table_parquet(table, beside / f"{name}.parquet")
            write_table_csv(table, beside / f"{name}.csv")
        if sheet:
            write_text(beside / "labels.html", sheet)
        _write_pictures(pictures, beside)
        names = [path.name for path in beside.iterdir()]
        files = {name: what for name, what in _FILES.items() if name in names}
        files |= {f"fabric-{name}.svg": f"the {name} fabric" for name, _ in pictures.fabrics}
        references = part_references(cluster.parts, parts)
        write_text(beside / "report.html", html_report(result.document, pictures, cabling, references, files))
        names = sorted([*names, "report.html"])
    stale = sorted(older - set(names))
    if stale:
        notes = (
            *notes,
            f"of an earlier run, not of this design: {', '.join(map(printable, stale))} in {printable(str(folder))}",
        )
    return WrittenDesign(tuple(folder / name for name in names), notes)


def _files_of_a_run(folder: Path) -> set[str]:
    """Return the names in *folder* that an earlier run may have written."""
    patterns = (*_FILES, "report.html", "fabric-*.svg")
    return {path.name for pattern in patterns for path in folder.glob(pattern)}


def _write_pictures(pictures: Pictures, folder: Path) -> None:
    for name, svg in pictures.fabrics:
        write_text(folder / f"fabric-{name}.svg", svg)
    write_text(folder / "floor-plan.svg", pictures.floor_plan)
    write_text(folder / "racks.svg", pictures.racks)


def _sheet(labels: pa.Table, name: str, place: str | None) -> tuple[str, tuple[str, ...]]:
    """Return the printable sheet, empty with a note when nobody chose among too many labels."""
    if place is not None:
        return labels_sheet(labels_for(labels, place), name), ()
    if labels.num_rows <= MOST_SHEET_LABELS:
        return labels_sheet(labels, name), ()
    note = (
        f"labels.html is left out: {labels.num_rows:,} labels are more than the {MOST_SHEET_LABELS:,} of one sheet; "
        "--labels-for RACK, DEVICE or UNIT prints a part, and labels.csv has all of them"
    )
    return "", (note,)
