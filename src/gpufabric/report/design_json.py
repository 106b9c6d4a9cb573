"""Cluster → the design document: the JSON fields that other programs rely on, counted from the wiring."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from gpufabric.graphs.bisection import bisection_bytes_per_s, injection_bytes_per_s
from gpufabric.records.cluster import Cluster, Role
from gpufabric.records.findings import Finding
from gpufabric.records.part_lookup import PartLookup
from gpufabric.records.prices import PriceList
from gpufabric.report.bill_of_materials import bill_of_materials
from gpufabric.report.fabric_counts import link_counts, switch_counts, tier_counts
from gpufabric.report.rack_supply import RackSupply

_NO_PRICES = PriceList()


def design_document(
    cluster: Cluster,
    parts: PartLookup,
    findings: Iterable[Finding] = (),
    prices: PriceList = _NO_PRICES,
    supply: RackSupply | None = None,
) -> dict[str, Any]:
    """Return the design as plain JSON values.

    Counts are over all planes. ``bisection_bytes_per_s`` is null where it is not known how to compute it
    (:func:`gpufabric.graphs.bisection.bisection_bytes_per_s`). Power and price are sums of what is known:
    with ``unknown_power_parts`` above 0 a sum is a lower bound, and it is null when nothing is known.

    Parameters
    ----------
    cluster
    parts
        Parts by id.
    findings
        What is wrong with the design.
    prices
        Prices that stand before those of the catalogue.
    supply
        Racks with their feeds, PDUs and cooling air; None: ``racks`` is null and neither is in the bill.
    """
    bill = bill_of_materials(cluster, parts, prices=prices, supply=supply)
    return {
        "name": cluster.name,
        "gpus": len(cluster.gpus),
        "servers": int(np.count_nonzero(cluster.devices.role == Role.SERVER)),
        "fabrics": [_fabric(cluster, parts, index, prices) for index in range(len(cluster.fabrics))],
        "assemblies": len(cluster.assemblies),
        "racks": None if supply is None else supply.to_dict(),
        "bill_of_materials": [row.to_dict() for row in bill.rows],
        "power_w": bill.power_w,
        "unknown_power_parts": bill.unknown_power_parts,
        "price_usd": bill.price_usd,
        "unknown_price_parts": bill.unknown_price_parts,
        "findings": [finding.to_dict() for finding in findings],
    }


def _fabric(cluster: Cluster, parts: PartLookup, index: int, prices: PriceList) -> dict[str, Any]:
    fabric = cluster.fabrics[index]
    bill = bill_of_materials(cluster, parts, index, prices)
    return {
        "name": fabric.name,
        "topology": fabric.topology,
        "network": fabric.network,
        "planes": fabric.planes,
        "routing": fabric.routing,
        "switches": switch_counts(cluster, index),
        "links": link_counts(cluster, index),
        "tiers": [tier.to_dict() for tier in tier_counts(cluster, index, parts)],
        "injection_bytes_per_s": injection_bytes_per_s(cluster, index),
        "bisection_bytes_per_s": bisection_bytes_per_s(cluster, index),
        "bill_of_materials": [row.to_dict() for row in bill.rows],
        "power_w": bill.power_w,
        "unknown_power_parts": bill.unknown_power_parts,
        "price_usd": bill.price_usd,
        "unknown_price_parts": bill.unknown_price_parts,
    }
