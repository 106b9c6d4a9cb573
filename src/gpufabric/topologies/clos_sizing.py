"""A number of leaves → tiers, spines, pods and cores of one plane of a folded Clos.

The rules are those that reproduce the published reference designs: every leaf has equally many links to every spine of its
pod, and every spine equally many to every core of its group, because a subnet manager's fat-tree routing needs equal groups
(OpenSM, current-routing.txt) and ECMP spreads best over them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from gpufabric.errors import UnbuildableError


@dataclass(frozen=True, slots=True)
class Radix:
    """Ports that sizing may use: of a spine facing down only (two tiers), of a spine with cores above it, of a core."""

    spine_alone: int
    spine_down: int
    core: int


@dataclass(frozen=True, slots=True)
class ClosSizes:
    """One plane, fully grown.

    ``spines`` are per pod, ``cores`` per group (spine position in the pod); two tiers are one pod without cores. A plane that is
    not fully grown has the first of the leaves and pods only, and ports held for the others.
    """

    tiers: int
    leaves: int
    leaf_up: int
    pods: int
    pod_leaves: int
    spines: int
    spine_up: int
    cores: int


def smallest_divisor(number: int, at_least: float) -> int | None:
    """Return the smallest divisor of *number* that is not below *at_least*, or None."""
    return next((d for d in range(1, number + 1) if number % d == 0 and d >= at_least), None)


def size_two_tiers(leaves: int, leaf_up: int, radix: Radix, spines: int | None) -> ClosSizes:
    """Return the sizes of leaves and spines.

    Raises
    ------
    UnbuildableError
        If a spine can't reach every leaf, or the spines asked for have too few ports.
    """
    if leaves > radix.spine_alone:
        raise UnbuildableError(
            f"two tiers end at {radix.spine_alone:,} leaves, because every spine must reach every leaf "
            f"and has {radix.spine_alone:,} ports; this needs {leaves:,}",
            "three tiers (topology fat-tree or rail-optimized with tiers: auto), more planes, or a switch with more ports",
        )
    needed = leaves * leaf_up / radix.spine_alone
    count = spines or smallest_divisor(leaf_up, needed)
    if count is None or count * radix.spine_alone < leaves * leaf_up or count > leaf_up:
        raise UnbuildableError(
            f"{count or leaf_up:,} spines of {radix.spine_alone:,} ports can't take {leaves:,} leaves "
            f"with {leaf_up:,} uplinks each",
            f"{smallest_divisor(leaf_up, needed) or leaf_up} spines",
        )
    return ClosSizes(2, leaves, leaf_up, 1, leaves, count, 0, 0)


def size_three_tiers(
    leaves: int,
    leaf_up: int,
    radix: Radix,
    pod_leaves: int,
    spine_up_of: Callable[[int], int],
    counts: tuple[int | None, int | None],
) -> ClosSizes:
    """Return the sizes of leaves in pods of *pod_leaves*, spines and cores.

    Parameters
    ----------
    spine_up_of
        Gives the up ports of a spine from the down ports that it uses.
    counts
        Spines per pod and cores per group, where the description fixes them.

    Raises
    ------
    UnbuildableError
        If the pods outnumber the ports of a core or the counts asked for have too few ports.
    """
    pods = -(-leaves // pod_leaves)
    spines = counts[0] or smallest_divisor(leaf_up, pod_leaves * leaf_up / radix.spine_down)
    if spines is None or spines > leaf_up or spines * radix.spine_down < pod_leaves * leaf_up:
        raise UnbuildableError(
            f"{spines or leaf_up:,} spines with {radix.spine_down:,} down ports can't take a pod of {pod_leaves:,} leaves "
            f"with {leaf_up:,} uplinks each",
            f"pods of {radix.spine_down:,} leaves or fewer",
        )
    spine_up = spine_up_of(-(-pod_leaves * leaf_up // spines))
    cores = counts[1] or smallest_divisor(spine_up, pods * spine_up / radix.core)
    if pods > radix.core or cores is None:
        raise UnbuildableError(
            f"three tiers end at {radix.core:,} pods, because every core must reach every pod "
            f"and has {radix.core:,} ports; this needs {pods:,}",
            f"{radix.core * pod_leaves:,} leaves, more planes, or a switch with more ports",
        )
    if cores > spine_up or cores * radix.core < pods * spine_up:
        raise UnbuildableError(
            f"{cores:,} cores of {radix.core:,} ports can't take {pods:,} pods with {spine_up} uplinks a spine",
            f"{smallest_divisor(spine_up, pods * spine_up / radix.core)} cores a group",
        )
    return ClosSizes(3, leaves, leaf_up, pods, pod_leaves, spines, spine_up, cores)
