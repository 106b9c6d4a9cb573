"""A described cluster and a collective → what the usual changes of fabric and job do to it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from gpufabric.errors import GpufabricError
from gpufabric.jobs.collective import CollectiveOptions, predict_collective
from gpufabric.jobs.described_collective import with_description
from gpufabric.jobs.faulty_cluster import apply_faults
from gpufabric.jobs.known_op import known_op
from gpufabric.jobs.load_parts import catalog_for
from gpufabric.jobs.racked_cluster import RackedCluster, racked_cluster
from gpufabric.libraries.choose import FREE, Forced
from gpufabric.records.cluster import Cluster, Role
from gpufabric.records.cluster_spec import ClusterSpec, FabricSpec, Fault, Tier
from gpufabric.records.part_set import PartSet
from gpufabric.records.results import CollectiveResult
from gpufabric.records.what_if import WhatIf

AS_ASKED = "as asked"
_RATIO = 2.0
_ALWAYS = ("all_reduce", "all_to_all")


@dataclass(frozen=True, slots=True)
class _Change:
    """A change: a description, what is broken besides, and options; ``free``: the library sees the change and chooses anew."""

    name: str
    spec: ClusterSpec | None
    options: CollectiveOptions
    free: bool = False
    reason: str = ""
    faults: tuple[Fault, ...] = ()


def collective_what_if(
    spec: ClusterSpec, op: str, size: int, options: CollectiveOptions, racked: RackedCluster | None = None
) -> list[WhatIf]:
    """Return what 2:1 oversubscription, plain ECMP, shuffled ranks and the loss of a rail do.

    Operations are the one asked for, all_reduce and all_to_all. A library sees neither the order of the ranks nor switches, so it
    keeps its algorithm; only the loss of a rail makes it choose anew.

    Parameters
    ----------
    spec : ClusterSpec
    op : str
    size : int
        Bytes.
    options : CollectiveOptions
    racked : RackedCluster, optional
        The cluster that *spec* describes, where it is wired already.

    Returns
    -------
    list of WhatIf
        Change by change, in each the operations in one order; the first change is none.

    Raises
    ------
    InputError, PartError, UnbuildableError
        If the collective asked for can't be predicted without a change.
    """
    asked = replace(with_description(spec, options), compare_shuffled=False)
    ops = list(dict.fromkeys((known_op(op), *_ALWAYS)))
    base: dict[str, CollectiveResult] = {}
    found: list[WhatIf] = []
    wired: dict[int, tuple[Cluster, PartSet]] = {}
    if racked is not None:
        wired[id(spec)] = _with_faults(spec, racked)
    for change in _changes(spec, asked, _wired(spec, wired)[0]):
        if change.spec is None:
            found += [WhatIf(change.name, name, None, None, change.reason) for name in ops]
            continue
        cluster, parts = _wired(change.spec, wired)
        for name in ops:
            chosen = change.options if name == ops[0] else replace(change.options, forced=FREE)
            try:
                result = _predicted(
                    replace(change, options=chosen), (cluster, parts), name, size, base.get(name)
                )
            except GpufabricError as error:
                if change.name == AS_ASKED and name == ops[0]:
                    raise
                found.append(WhatIf(change.name, name, None, None, str(error)))
                continue
            if change.name == AS_ASKED:
                base[name] = result
            left = result.busbw_bytes_per_s / base[name].busbw_bytes_per_s if name in base else None
            found.append(WhatIf(change.name, name, result, left))
    return found


def _wired(spec: ClusterSpec, known: dict[int, tuple[Cluster, PartSet]]) -> tuple[Cluster, PartSet]:
    """Return the cluster of a description with its own faults; *known* keeps those that were wired before."""
    if id(spec) not in known:
        known[id(spec)] = _with_faults(spec, racked_cluster(spec, catalog_for(spec)))
    return known[id(spec)]


def _with_faults(spec: ClusterSpec, racked: RackedCluster) -> tuple[Cluster, PartSet]:
    return apply_faults(racked.cluster, spec.faults, racked.parts)[0], racked.parts


def _predicted(
    change: _Change, wired: tuple[Cluster, PartSet], op: str, size: int, base: CollectiveResult | None
) -> CollectiveResult:
    """Return the prediction; *base* is that without the change, whose algorithm is kept where the library does not see it."""
    (cluster, parts), options = wired, change.options
    if change.faults:
        cluster = apply_faults(cluster, change.faults, parts)[0]
    if base is not None and not change.free:
        options = replace(options, forced=Forced(base.algorithm, base.protocol, only=True))
    return predict_collective(cluster, parts, op, [size], options)[0]


def _changes(spec: ClusterSpec, options: CollectiveOptions, cluster: Cluster) -> Iterator[_Change]:
    index = _fabric(spec, options)
    fabric = spec.fabrics[index]
    routing = options.routing or fabric.routing
    shuffled = replace(options, order="shuffled", places=None)
    now = fabric.leaf.oversubscription or fabric.oversubscription
    ratio = _RATIO if now < _RATIO else 1.0
    name = f"{ratio:g}:1 oversubscription"
    spines = (cluster.devices.role == Role.SPINE) & (cluster.devices.fabric == index)
    other = _with_fabric(spec, index, _with_ratio(fabric, ratio)) if spines.any() else None
    reason = "" if spines.any() else "leaves have no uplinks to spines"
    yield _Change(AS_ASKED, spec, options)
    yield _Change(name, other, options, reason=reason)
    if routing == "ecmp":
        yield _Change("adaptive routing", spec, replace(options, routing="adaptive"))
    else:
        yield _Change("plain ECMP", spec, replace(options, routing="ecmp"))
    if options.order != "shuffled":
        yield _Change("shuffled ranks", spec, shuffled)
        yield _Change(f"shuffled ranks, {name}", other, shuffled, reason=reason)
        if routing != "ecmp":
            yield _Change("shuffled ranks, plain ECMP", spec, replace(shuffled, routing="ecmp"))
    lost = (Fault(kind="rail-down", where="rail:1"),)
    yield _Change("one rail down", spec, options, free=options.forced == FREE, faults=lost)


def _fabric(spec: ClusterSpec, options: CollectiveOptions) -> int:
    names = [fabric.name for fabric in spec.fabrics]
    return names.index(options.fabric) if options.fabric in names else 0


def _with_ratio(fabric: FabricSpec, ratio: float) -> FabricSpec:
    """Return the fabric with so many times fewer uplinks than downlinks of the leaves, and spines as many as that needs."""
    free = {"oversubscription": None, "count": None, "ports_up": None}
    leaf = {"oversubscription": ratio, "ports_up": None}
    tiers: dict[str, Tier] = {
        "leaf": fabric.leaf.model_copy(update=leaf),
        "spine": fabric.spine.model_copy(update=free),
        "core": fabric.core.model_copy(update=free),
    }
    return fabric.model_copy(update={**tiers, "oversubscription": 1.0})


def _with_fabric(spec: ClusterSpec, index: int, fabric: FabricSpec) -> ClusterSpec:
    fabrics = tuple(fabric if i == index else old for i, old in enumerate(spec.fabrics))
    return spec.model_copy(update={"fabrics": fabrics})
