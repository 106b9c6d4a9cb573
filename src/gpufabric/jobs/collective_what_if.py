"""A described cluster and a collective → what the usual changes of fabric and job do to it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from gpufabric.errors import GpufabricError
from gpufabric.jobs.collective import CollectiveOptions
from gpufabric.jobs.described_collective import predict_described
from gpufabric.jobs.known_op import known_op
from gpufabric.libraries.choose import Forced
from gpufabric.records.cluster_spec import ClusterSpec, FabricSpec, Fault, Tier
from gpufabric.records.results import CollectiveResult
from gpufabric.records.what_if import WhatIf

AS_ASKED = "as asked"
_RATIO = 2.0
_WITH_UPLINKS = ("leaf-spine", "fat-tree", "rail-optimized", "multi-plane")
_ALWAYS = ("all_reduce", "all_to_all")


@dataclass(frozen=True, slots=True)
class _Change:
    """A changed description and options; ``free``: the library sees the change and chooses anew."""

    name: str
    spec: ClusterSpec | None
    options: CollectiveOptions
    free: bool = False
    reason: str = ""


def collective_what_if(spec: ClusterSpec, op: str, size: int, options: CollectiveOptions) -> list[WhatIf]:
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

    Returns
    -------
    list of WhatIf
        Change by change, in each the operations in one order; the first change is none.

    Raises
    ------
    InputError, PartError, UnbuildableError
        If the collective asked for can't be predicted without a change.
    """
    asked = replace(options, compare_shuffled=False)
    ops = dict.fromkeys((known_op(op), *_ALWAYS))
    base: dict[str, CollectiveResult] = {}
    found = []
    for name in ops:
        if name == known_op(op):
            base[name] = predict_described(spec, name, [size], asked)[0]
            found.append(WhatIf(AS_ASKED, name, base[name], 1.0))
        else:
            one = _predicted(
                _Change(AS_ASKED, spec, replace(asked, forced=Forced()), free=True), name, size, None
            )
            found.append(one)
            if one.result is not None:
                base[name] = one.result
    for change in _changes(spec, asked):
        found += [_predicted(change, name, size, base.get(name)) for name in ops]
    return found


def _predicted(change: _Change, op: str, size: int, base: CollectiveResult | None) -> WhatIf:
    if change.spec is None:
        return WhatIf(change.name, op, None, None, change.reason)
    options = change.options
    if not change.free:
        if base is None:
            return WhatIf(change.name, op, None, None, "not predicted without the change either")
        options = replace(options, forced=Forced(base.algorithm, base.protocol, only=True))
    try:
        result = predict_described(change.spec, op, [size], options)[0]
    except GpufabricError as error:
        return WhatIf(change.name, op, None, None, str(error))
    left = result.busbw_bytes_per_s / base.busbw_bytes_per_s if base is not None else None
    return WhatIf(change.name, op, result, 1.0 if base is None else left)


def _changes(spec: ClusterSpec, options: CollectiveOptions) -> Iterator[_Change]:
    index = _fabric(spec, options)
    fabric = spec.fabrics[index]
    routing = options.routing or fabric.routing
    shuffled = replace(options, order="shuffled", places=None)
    thinner, reason = _oversubscribed(spec, index)
    ratio = f"{_RATIO:g}:1 oversubscription"
    yield _Change(ratio, thinner, options, reason=reason)
    if routing == "ecmp":
        yield _Change("adaptive routing", spec, replace(options, routing="adaptive"))
    else:
        yield _Change("plain ECMP", spec, replace(options, routing="ecmp"))
    if options.order != "shuffled":
        yield _Change("shuffled ranks", spec, shuffled)
        yield _Change(f"shuffled ranks, {ratio}", thinner, shuffled, reason=reason)
        if routing != "ecmp":
            yield _Change("shuffled ranks, plain ECMP", spec, replace(shuffled, routing="ecmp"))
    down = spec.model_copy(update={"faults": (*spec.faults, Fault(kind="rail-down", where="rail:1"))})
    yield _Change("one rail down", down, options, free=options.forced == Forced())


def _fabric(spec: ClusterSpec, options: CollectiveOptions) -> int:
    names = [fabric.name for fabric in spec.fabrics]
    return names.index(options.fabric) if options.fabric in names else 0


def _oversubscribed(spec: ClusterSpec, index: int) -> tuple[ClusterSpec | None, str]:
    """Return the description with half as many uplinks of the leaves, or None and why there is none."""
    fabric = spec.fabrics[index]
    if fabric.topology not in _WITH_UPLINKS:
        return None, f"{fabric.topology} has no uplinks of leaves"
    now = fabric.leaf.oversubscription or fabric.oversubscription
    if now >= _RATIO:
        return None, f"it is {now:g}:1 already"
    return _with_fabric(spec, index, _thinned(fabric)), ""


def _thinned(fabric: FabricSpec) -> FabricSpec:
    free = {"oversubscription": None, "count": None, "ports_up": None}
    tiers: dict[str, Tier] = {
        "leaf": fabric.leaf.model_copy(
            update={**free, "oversubscription": _RATIO, "count": fabric.leaf.count}
        ),
        "spine": fabric.spine.model_copy(update=free),
        "core": fabric.core.model_copy(update=free),
    }
    return fabric.model_copy(update={**tiers, "oversubscription": 1.0})


def _with_fabric(spec: ClusterSpec, index: int, fabric: FabricSpec) -> ClusterSpec:
    fabrics = tuple(fabric if i == index else old for i, old in enumerate(spec.fabrics))
    return spec.model_copy(update={"fabrics": fabrics})
