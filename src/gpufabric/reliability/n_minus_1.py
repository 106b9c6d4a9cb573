"""Cluster → the N−1 table: what the loss of one cable, optic, NIC, switch, plane or rail costs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gpufabric.graphs.bisection import bisection_of_links
from gpufabric.graphs.device_classes import device_classes
from gpufabric.graphs.equal_bundles import has_equal_bundles
from gpufabric.graphs.fabric_links import FabricLinks, fabric_links
from gpufabric.graphs.usable_rates import switch_parts, usable_rates
from gpufabric.records.cluster import Cluster
from gpufabric.records.part_lookup import PartLookup
from gpufabric.records.resilience import COLLECTIVES, LossCost, LossRow
from gpufabric.reliability.loss_kinds import LossClasses, LossKind, loss_classes, loss_kinds
from gpufabric.reliability.loss_names import loss_names

Metrics = dict[str, float | int | None]
PriceLoss = Callable[[NDArray[np.int64]], Metrics]
# Links looked at over all classes of one kind; classes beyond that are not tried.
_LINKS_A_KIND = 5_000_000
_LEAST_CLASSES = 6


@dataclass(frozen=True, slots=True)
class WholeFabric:
    """A fabric without faults, and what does not depend on the loss."""

    links: FabricLinks
    parts: NDArray[np.int64]
    rates: NDArray[np.float64]
    has_equal_bundles: bool
    bisection_bytes_per_s: float | None


def cost_n_minus_1(
    cluster: Cluster, parts: PartLookup, collectives: Mapping[int, PriceLoss] | None = None
) -> tuple[LossRow, ...]:
    """Return one row for each fabric and kind of thing that can be lost.

    One member of each class of equally wired things is taken out, and what is left is counted on the wiring: equal members cost
    the same, so that is all of them.

    Parameters
    ----------
    cluster
    parts
        Parts by id, for names.
    collectives : mapping of fabric to function, optional
        From rows of ``cluster.links`` that are lost to the metrics ``COLLECTIVES``; those of other fabrics stay unknown.
    """
    found = collectives or {}
    return tuple(
        row
        for index in range(len(cluster.fabrics))
        for row in _fabric_rows(cluster, parts, index, found.get(index, _unknown))
    )


def _unknown(lost: NDArray[np.int64]) -> Metrics:
    return dict.fromkeys(COLLECTIVES)


def whole_fabric(cluster: Cluster, fabric: int) -> WholeFabric:
    """Return what every loss of a fabric is compared with."""
    links = fabric_links(cluster, fabric)
    component = switch_parts(links)
    rates = usable_rates(links, np.zeros(len(links), bool), component)
    equal = has_equal_bundles(links)
    return WholeFabric(links, component, rates, equal, bisection_of_links(links, equal))


def cost_of_loss(whole: WholeFabric, lost: NDArray[np.bool_]) -> Metrics:
    """Return what the loss of some links costs; see :class:`gpufabric.records.resilience.LossCost` for the metrics.

    Parameters
    ----------
    whole : WholeFabric
    lost : bool array, one a link of ``whole.links``
    """
    links = whole.links
    left = usable_rates(links, lost, whole.parts)
    served = whole.rates > 0
    share = np.divide(left, whole.rates, out=np.ones(len(left)), where=served)
    off, less = served & (left == 0), served & (left > 0) & (share < 1)
    bisection = (
        None
        if whole.bisection_bytes_per_s is None
        else bisection_of_links(links.take(~lost), whole.has_equal_bundles)
    )
    return {
        "gpus_cut_off": round(float(links.gpus[off].sum())),
        "gpus_degraded": round(float(links.gpus[less].sum())),
        "least_share_left": float(share[less].min()) if less.any() else None,
        "injection_left": _ratio(float(left.sum()), float(whole.rates.sum())),
        "bisection_left": None
        if bisection is None
        else _ratio(bisection, whole.bisection_bytes_per_s or 0.0),
    }


def badness(metrics: Metrics) -> tuple[float, ...]:
    """Return a key that is greater for a worse loss: GPUs cut off, then bisection, injection and GPUs degraded."""
    gone = [
        1.0 - (1.0 if metrics[key] is None else float(metrics[key] or 0.0))
        for key in ("bisection_left", "injection_left")
    ]
    return (
        float(metrics["gpus_cut_off"] or 0),
        *(round(x, 12) for x in gone),
        float(metrics["gpus_degraded"] or 0),
    )


def _ratio(left: float, whole: float) -> float | None:
    return left / whole if whole > 0 else None


def _fabric_rows(cluster: Cluster, parts: PartLookup, fabric: int, price: PriceLoss) -> Iterator[LossRow]:
    whole = whole_fabric(cluster, fabric)
    if not len(whole.links):
        return
    classes_of_devices = device_classes(whole.links, cluster.devices.part)
    found, known = [], dict[int, Metrics]()
    for kind in loss_kinds(cluster, whole.links):
        classes = loss_classes(kind, whole.links, classes_of_devices)
        costs = _costs(whole, kind, classes, known)
        bad = [badness(cost) for cost, _ in costs]
        worst = bad.index(max(bad))
        found.append((kind, classes, costs, worst))
    wanted = [
        (kind.lost, int(classes.first[i]), costs[i][1])
        for kind, classes, costs, worst in found
        for i in (0, worst)
    ]
    wanted = [(lost, item, int(whole.links.row[link])) for lost, item, link in wanted]
    names = iter(loss_names(cluster, parts, wanted))
    priced = dict[int, Metrics]()
    for kind, classes, costs, worst in found:
        for i in (0, worst):
            key = int(classes.key[i])
            if key not in priced:
                priced[key] = price(whole.links.row[kind.link[kind.item == classes.first[i]]])
        typical, worse = (
            LossCost(next(names), int(classes.count[i]), {**costs[i][0], **priced[int(classes.key[i])]})
            for i in (0, worst)
        )
        yield LossRow(
            fabric=cluster.fabrics[fabric].name,
            lost=kind.lost,
            place=kind.place,
            count=int(classes.count.sum()),
            classes=len(classes.count),
            classes_tried=len(costs),
            typical=typical,
            worst=worse,
        )


def _costs(
    whole: WholeFabric, kind: LossKind, classes: LossClasses, known: dict[int, Metrics]
) -> list[tuple[Metrics, int]]:
    """Return what the first item of each class costs, and one of the links that it takes along; ``known`` grows."""
    costs = []
    most = max(_LEAST_CLASSES, _LINKS_A_KIND // len(whole.links))
    for key, item in zip(classes.key[:most].tolist(), classes.first[:most].tolist(), strict=True):
        taken = kind.link[kind.item == item]
        if key not in known:
            lost = np.zeros(len(whole.links), bool)
            lost[taken] = True
            known[key] = cost_of_loss(whole, lost)
        costs.append((known[key], int(taken[0])))
    return costs
