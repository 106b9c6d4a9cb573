"""A description → the wired cluster, its parts and what is wrong with it; and the files that people get."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from gpufabric.jobs.load_parts import catalog_for
from gpufabric.jobs.racked_cluster import racked_cluster
from gpufabric.records.cluster import Cluster
from gpufabric.records.cluster_spec import ClusterSpec, FabricSpec
from gpufabric.records.findings import Finding
from gpufabric.records.floor_plan import FloorPlan
from gpufabric.records.part_set import PartSet
from gpufabric.reliability.n_minus_1 import cost_n_minus_1
from gpufabric.report.bill_csv import bill_csv
from gpufabric.report.bill_of_materials import bill_of_materials
from gpufabric.report.cabling_plan import cabling_table, write_cabling_csv, write_cabling_parquet
from gpufabric.report.design_json import design_document
from gpufabric.report.json_text import json_document, json_text
from gpufabric.report.logical_fabric_svg import draw_logical_fabric
from gpufabric.report.write_files import folder_beside, write_text
from gpufabric.rules import FLOOR_RULES, RULES


@dataclass(frozen=True)
class Design:
    """A designed cluster.

    ``assumptions`` names the keys of the description that were stored and not acted on, and what the floor plan assumes.
    """

    spec: ClusterSpec
    cluster: Cluster
    floor_plan: FloorPlan
    parts: PartSet
    findings: tuple[Finding, ...]
    assumptions: tuple[str, ...]

    @cached_property
    def document(self) -> dict[str, Any]:
        """The design as plain JSON values; see :func:`gpufabric.report.design_json.design_document`."""
        losses = cost_n_minus_1(self.cluster, self.parts)
        document = design_document(self.cluster, self.parts.by_id, self.findings, losses)
        return {**document, "assumptions": list(self.assumptions), "notes": list(self.spec.notes)}


def design(spec: ClusterSpec) -> Design:
    """Wire the cluster that *spec* describes, rack and cable it, and check it against every rule.

    Raises
    ------
    SpecError, PartError
        If the description names what does not exist.
    UnbuildableError
        If the fabric can't be wired.
    """
    racked = racked_cluster(spec, catalog_for(spec))
    cluster, plan, parts = racked.cluster, racked.floor_plan, racked.parts
    findings = [finding for check in RULES.values() for finding in check(cluster, parts, spec)]
    findings += [finding for check in FLOOR_RULES.values() for finding in check(cluster, parts, spec, plan)]
    return Design(spec, cluster, plan, parts, tuple(findings), (*_not_acted_on(spec), *plan.assumptions))


def write_design(result: Design, folder: Path) -> list[Path]:
    """Write the design's files into *folder*, all or none, and return their paths.

    ``design.json`` the whole design, ``bill-of-materials.csv``, ``cabling-plan.csv`` and ``.parquet`` with one row a link, and
    ``fabric-NAME.svg`` for each fabric.
    """
    table = cabling_table(result.cluster, result.parts.by_id, result.floor_plan)
    with folder_beside(folder) as beside:
        write_text(beside / "design.json", json_text(json_document("design", result.document)))
        write_text(
            beside / "bill-of-materials.csv", bill_csv(bill_of_materials(result.cluster, result.parts.by_id))
        )
        write_cabling_csv(table, beside / "cabling-plan.csv")
        write_cabling_parquet(table, beside / "cabling-plan.parquet")
        for index, fabric in enumerate(result.cluster.fabrics):
            write_text(beside / f"fabric-{fabric.name}.svg", draw_logical_fabric(result.cluster, index))
        names = sorted(path.name for path in beside.iterdir())
    return [folder / name for name in names]


_NOT_YET = ("faults", "prices")
_NOT_YET_OF_FABRIC = ("torus", "dragonfly", "in_network_reduction")


def _not_acted_on(spec: ClusterSpec) -> tuple[str, ...]:
    """Say which keys of the description this command stores without acting on them."""
    silent = [key for key in _NOT_YET if getattr(spec, key) != ClusterSpec.model_fields[key].default]
    silent += [
        f"fabrics.{fabric.name}.{key}"
        for fabric in spec.fabrics
        for key in _NOT_YET_OF_FABRIC
        if getattr(fabric, key) != FabricSpec.model_fields[key].default
    ]
    return tuple(f"{key}: stored, and not acted on by this command" for key in silent)
