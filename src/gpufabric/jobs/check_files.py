"""A design, or none, and files of any kind → one report: wiring as built, counters of links, logs as measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from gpufabric.catalog.presets import preset_ids
from gpufabric.errors import InputError, printable
from gpufabric.formats import recognise
from gpufabric.formats.cluster_yaml import PRESET_PREFIX
from gpufabric.formats.found_merge import merge_found
from gpufabric.formats.recognise_counters import read_counters
from gpufabric.formats.recognise_fabric import recognise_fabric
from gpufabric.jobs.built_designs import (
    InferredWiring,
    described_design,
    designed_by_file,
    inferred_design,
)
from gpufabric.jobs.check import CheckResult, check
from gpufabric.jobs.check_wiring import CheckedWiring, WiringDesign, check_wiring
from gpufabric.jobs.mark_faults import marks_of
from gpufabric.jobs.sort_files import SortedFiles
from gpufabric.recognition.compare_scheduler import compare_scheduler
from gpufabric.recognition.infer_design import InferredDesign
from gpufabric.records.as_built import FaultCost, Repair, WiringMatch
from gpufabric.records.calibration import Calibration
from gpufabric.records.cluster import Cluster
from gpufabric.records.cluster_spec import ClusterSpec
from gpufabric.records.findings import Finding
from gpufabric.records.found_fabric import FoundFabric
from gpufabric.records.tiers import link_fabrics
from gpufabric.records.verdicts import Verdict
from gpufabric.report.fault_marks_svg import FaultMarks
from gpufabric.report.logical_fabric_svg import draw_logical_fabric
from gpufabric.rules import link_health

_DESCRIPTION_ENDS = (".yaml", ".yml")


@dataclass(frozen=True, slots=True)
class FilesCheck:
    """What all files say together.

    ``match`` and ``inferred`` are None where no file tells of the wiring; ``inferred`` are facts of a fabric without a design.
    ``drawing`` is an SVG document of the design with the faults marked, empty without files about the wiring.
    """

    verdicts: tuple[Verdict, ...]
    findings: tuple[Finding, ...]
    repairs: tuple[Repair, ...]
    match: WiringMatch | None
    inferred: tuple[tuple[str, str], ...]
    certainty: float | None
    costs: tuple[FaultCost, ...]
    assumptions: tuple[str, ...]
    notes: tuple[str, ...]
    coverage: dict[str, Any]
    drawing: str

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain JSON values."""
        return {
            "verdicts": [verdict.to_dict() for verdict in self.verdicts],
            "findings": [finding.to_dict() for finding in self.findings],
            "repairs": [asdict(repair) for repair in self.repairs],
            "match": None if self.match is None else asdict(self.match),
            "inferred": None
            if self.certainty is None
            else {"facts": [{"name": n, "text": t} for n, t in self.inferred], "certainty": self.certainty},
            "costs": [asdict(cost) for cost in self.costs],
            "coverage": self.coverage,
            "assumptions": [*self.assumptions, *self.notes],
        }


def check_files(
    files: SortedFiles,
    spec: ClusterSpec | None,
    design_file: str | None = None,
    calibration: Calibration | None = None,
    columns: Mapping[str, str] | None = None,
) -> FilesCheck:
    """Check files against a description, another cabling file, or what the fabric itself seems to be meant as.

    Parameters
    ----------
    files
    spec
        None: there is no description.
    design_file
        Path of a cabling file that says how it was meant; with a description too, it is the wiring and that gives the parts.
    calibration
        None: the shipped one.
    columns
        Titles of the columns of *design_file* by field, where their words do not tell.

    Raises
    ------
    InputError
        If a log is to be judged without a description, or the cabling file is none.
    UnbuildableError, PartError, SpecError
        As of the description.
    """
    measured = _measured(files, spec, calibration)
    checked: CheckedWiring | None = None
    inferred: InferredDesign | None = None
    drawing = ""
    design, match = _design(files, spec, design_file, columns), None
    if isinstance(design, InferredWiring):
        inferred, match, design = design.inferred, design.match, design.design
    if files.fabrics and design is not None:
        checked = check_wiring(design, files.fabrics, calibration, match)
        marks = marks_of(design.cluster, checked.faults)
        drawing = _drawn(design.cluster, marks, np.flatnonzero(checked.match.in_scope))
    health = link_health.check(files.counters)
    findings = (
        *((checked.check.findings) if checked else ()),
        *(inferred.findings if inferred else ()),
        *_scheduled(files, design, checked),
        *health,
        *(finding for counters in files.counters for finding in counters.findings),
        *(measured.findings if measured else ()),
    )
    return FilesCheck(
        verdicts=measured.verdicts if measured else (),
        findings=findings,
        repairs=checked.check.repairs if checked else (),
        match=checked.check.match if checked and inferred is None else None,
        inferred=inferred.facts if inferred else (),
        certainty=inferred.certainty if inferred else None,
        costs=checked.check.costs if checked else (),
        assumptions=(
            *(checked.check.assumptions if checked else ()),
            *(measured.assumptions if measured else ()),
        ),
        notes=measured.notes if measured else (),
        coverage=_coverage(files, measured),
        drawing=drawing,
    )


def _design(
    files: SortedFiles, spec: ClusterSpec | None, design_file: str | None, columns: Mapping[str, str] | None
) -> WiringDesign | InferredWiring | None:
    """Return the design that the files about the wiring are compared with; None where there are none."""
    if not (files.fabrics or files.schedulers):
        return None
    if design_file is not None:
        return designed_by_file(design_file, spec, columns)
    if spec is not None:
        return described_design(spec)
    return inferred_design(merge_found(files.fabrics)) if files.fabrics else None


def _scheduled(
    files: SortedFiles, design: WiringDesign | None, checked: CheckedWiring | None
) -> tuple[Finding, ...]:
    """Return what is odd about files of a scheduler, and where they differ from the design."""
    aliases = {}
    if checked is not None:
        names = checked.found.cluster.devices.names or ()
        aliases = {
            name: row for name, row in zip(names, checked.match.device.tolist(), strict=True) if row >= 0
        }
    return tuple(
        finding
        for told in files.schedulers
        for finding in (
            *told.findings,
            *(compare_scheduler(design.cluster, told, aliases) if design is not None else ()),
        )
    )


def split_spec(arguments: Sequence[str], design: str | None) -> tuple[str | None, list[str]]:
    """Return what of the arguments is the description, None where there is none, and the files.

    The first argument is a description unless it is a file about the wiring or counters itself; with ``--design`` only where it
    is a preset or a YAML file.

    Raises
    ------
    InputError
        When no file is left, standard input is to be read twice, or a file can't be opened.
    """
    if [*arguments, design].count("-") > 1:
        raise InputError("-: standard input can be read once; name files for the others")
    first = Path(arguments[0])
    has_spec = design is None
    if has_spec and arguments[0] != "-" and first.is_file():
        has_spec = not recognise_fabric(first) and read_counters(first) is None
    # With --design the first argument is a description only where it can be nothing else.
    has_spec = has_spec or (len(arguments) > 1 and _is_description(arguments[0]))
    if has_spec and len(arguments) < 2:
        raise InputError(
            f"check {printable(arguments[0])}: names no file to check; write a description and files, or only files about "
            "a fabric"
        )
    return (arguments[0], list(arguments[1:])) if has_spec else (None, list(arguments))


def _is_description(argument: str) -> bool:
    """Say whether an argument is a preset, or a YAML file that is not about the wiring: it was not meant as a file to check."""
    if argument == "-":
        return False
    path = Path(argument)
    if not path.is_file():
        return not path.exists() and (argument in preset_ids() or argument.startswith(PRESET_PREFIX))
    if path.suffix.lower() not in _DESCRIPTION_ENDS:
        return False
    return not recognise_fabric(path) and not recognise.read(path).parts


def _measured(
    files: SortedFiles, spec: ClusterSpec | None, calibration: Calibration | None
) -> CheckResult | None:
    if files.logs and spec is None:
        raise InputError(
            f"{printable(_name(files.logs[0]))}: tells of no wiring that is known; a log of a test is judged by a description "
            "only; name one as the first argument"
        )
    if spec is None or not (files.logs or not (files.fabrics or files.counters or files.schedulers)):
        return None
    return check(spec, files.logs, calibration, files.counters)


def _name(log: str | Path | BinaryIO) -> str:
    return log if isinstance(log, str) else "standard input"


def _drawn(cluster: Cluster, marks: FaultMarks, told: NDArray[np.int64]) -> str:
    """Return the drawing of the fabric with most faults; without faults, of the one that the files tell most of."""
    rows = np.array(marks.links, np.int64) if marks.links else told
    fabrics = link_fabrics(cluster)[rows]
    fabric = int(np.bincount(fabrics[fabrics >= 0], minlength=1).argmax())
    try:
        return draw_logical_fabric(cluster, fabric, marks=marks)
    except InputError:
        return ""


def _coverage(files: SortedFiles, measured: CheckResult | None) -> dict[str, Any]:
    base: dict[str, Any] = (
        measured.coverage if measured else {"files": 0, "lines_read": 0, "lines_not_understood": 0}
    )
    others: list[FoundFabric | Any] = [*files.fabrics, *files.counters, *files.schedulers]
    not_checked = list(base.get("not_checked", ("bandwidth, because no log of a test is given",)))
    if files.fabrics:
        not_checked = [text for text in not_checked if not text.startswith("wiring as built")]
    return {
        **base,
        "files": base["files"] + len(others),
        "lines_read": base["lines_read"] + sum(one.lines_read for one in others),
        "lines_not_understood": base["lines_not_understood"]
        + sum(one.lines_not_understood for one in others),
        "fabric_files": len(files.fabrics),
        "counter_files": len(files.counters),
        "not_checked": not_checked,
    }
