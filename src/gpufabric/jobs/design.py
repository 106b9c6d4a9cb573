"""A description → the wired cluster, its racks, its parts, their prices and what is wrong with it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from gpufabric.catalog.load import Catalog
from gpufabric.formats.price_list import read_price_list
from gpufabric.jobs.collective_losses import collective_losses
from gpufabric.jobs.load_parts import catalog_for
from gpufabric.jobs.racked_cluster import racked_cluster
from gpufabric.jobs.unused_keys import DESIGN, unused_keys
from gpufabric.records.cluster import Cluster
from gpufabric.records.cluster_spec import ClusterSpec
from gpufabric.records.findings import Finding
from gpufabric.records.floor_plan import FloorPlan
from gpufabric.records.part_set import PartSet
from gpufabric.records.prices import PriceList
from gpufabric.reliability.n_minus_1 import cost_n_minus_1
from gpufabric.report.design_json import design_document
from gpufabric.report.rack_groups import RackGroup, rack_groups
from gpufabric.report.rack_supply import RackSupply, rack_supply
from gpufabric.rules import FLOOR_RULES, RULES
from gpufabric.rules.fold_alike import fold_alike


@dataclass(frozen=True)
class Design:
    """A designed cluster.

    ``assumptions`` names the shipped parts that the user's own replace, the keys of the description that are not acted on, and
    what the floor plan assumes.
    """

    spec: ClusterSpec
    cluster: Cluster
    floor_plan: FloorPlan
    parts: PartSet
    findings: tuple[Finding, ...]
    assumptions: tuple[str, ...]
    prices: PriceList

    @cached_property
    def rack_groups(self) -> tuple[RackGroup, ...]:
        """The kinds of rack."""
        return rack_groups(self.cluster, self.floor_plan)

    @cached_property
    def supply(self) -> RackSupply:
        """What the room must bring to the racks."""
        return rack_supply(self.cluster, self.floor_plan, self.parts.by_id, self.rack_groups)

    @cached_property
    def document(self) -> dict[str, Any]:
        """The design as plain JSON values; see :func:`gpufabric.report.design_json.design_document`."""
        document = design_document(self.cluster, self.parts.by_id, self.findings, self.prices, self.supply)
        compute = [i for i, fabric in enumerate(self.spec.fabrics) if fabric.purpose == "compute"]
        adding = [i for i in compute if self.spec.fabrics[i].in_network_reduction]
        collectives, untold = collective_losses(self.cluster, self.parts, compute, self.spec.library, adding)
        losses = [row.to_dict() for row in cost_n_minus_1(self.cluster, self.parts, collectives)]
        said = {"assumptions": [*self.assumptions, *untold], "notes": list(self.spec.notes)}
        return {**document, "n_minus_1": losses, **said}


def design(spec: ClusterSpec, prices: Path | str | None = None) -> Design:
    """Wire the cluster that *spec* describes, rack and cable it, and check it against every rule.

    Parameters
    ----------
    spec
    prices
        A price list (docs/reference/prices.md) that stands before the one that *spec* names.

    Raises
    ------
    SpecError, PartError
        If the description names what does not exist.
    InputError
        If the price list is wrong.
    UnbuildableError
        If the fabric can't be wired.
    """
    catalog = catalog_for(spec)
    racked = racked_cluster(spec, catalog)
    cluster, plan, parts = racked.cluster, racked.floor_plan, racked.parts
    findings = [finding for check in RULES.values() for finding in check(cluster, parts, spec)]
    findings += [finding for check in FLOOR_RULES.values() for finding in check(cluster, parts, spec, plan)]
    findings = fold_alike(findings)
    priced = prices or spec.prices
    price_list = _price_list(priced, catalog, parts) if priced else PriceList()
    assumptions = (*racked.assumptions, *unused_keys(spec, DESIGN, cluster), *plan.assumptions)
    return Design(spec, cluster, plan, parts, tuple(findings), assumptions, price_list)


def _price_list(path: Path | str, catalog: Catalog, parts: PartSet) -> PriceList:
    """Return the prices in a file, for parts of the catalogue and for those that the description gives inline."""
    own = parts.by_id
    return read_price_list(path, lambda name: name if name in own else catalog.get(name).id)
