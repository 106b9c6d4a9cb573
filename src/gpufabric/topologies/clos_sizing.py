"""A number of leaves → tiers, spines, pods and cores of one plane of a folded Clos.

The rules are those that reproduce the published reference designs: every leaf has equally many links to every spine of its
pod, and every spine equally many to every core of its group, because a subnet manager's fat-tree routing needs equal groups
(OpenSM, current-routing.txt) and ECMP spreads best over them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from gpufabric.errors import UnbuildableError
from gpufabric.units import counted


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
            f"two tiers end at {counted(radix.spine_alone, 'leaf', 'leaves')}, because every spine must reach every leaf "
            f"and has {counted(radix.spine_alone, 'port')}; this needs {leaves:,}",
            "three tiers (topology fat-tree or rail-optimized with tiers: auto), more planes, or a switch with more ports",
        )
    needed = leaves * leaf_up / radix.spine_alone
    count = spines or smallest_divisor(leaf_up, needed)
    if count is None or count * radix.spine_alone < leaves * leaf_up or count > leaf_up:
        raise UnbuildableError(
            f"{counted(count or leaf_up, 'spine')} of {counted(radix.spine_alone, 'port')} can't "
            f"take {counted(leaves, 'leaf', 'leaves')} with {counted(leaf_up, 'uplink')} each",
            counted(smallest_divisor(leaf_up, needed) or leaf_up, "spine"),
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
            f"{counted(spines or leaf_up, 'spine')} with {radix.spine_down:,} down "
            f"ports can't take a pod of {counted(pod_leaves, 'leaf', 'leaves')} "
            f"with {counted(leaf_up, 'uplink')} each",
            f"pods of {counted(radix.spine_down, 'leaf', 'leaves')} or fewer",
        )
    spine_up = spine_up_of(-(-pod_leaves * leaf_up // spines))
    cores = counts[1] or smallest_divisor(spine_up, pods * spine_up / radix.core)
    if pods > radix.core or cores is None:
        raise UnbuildableError(
            f"three tiers end at {counted(radix.core, 'pod')}, because every core must reach every pod "
            f"and has {counted(radix.core, 'port')}; this needs {pods:,}",
            f"{counted(radix.core * pod_leaves, 'leaf', 'leaves')}, more planes, or a switch with more ports",
        )
    if cores > spine_up or cores * radix.core < pods * spine_up:
        raise UnbuildableError(
            f"{counted(cores, 'core')} of {counted(radix.core, 'port')} can't take "
            f"{counted(pods, 'pod')} with {counted(spine_up, 'uplink')} a spine",
            f"{counted(smallest_divisor(spine_up, pods * spine_up / radix.core) or spine_up, 'core')} a group",
        )
    return ClosSizes(3, leaves, leaf_up, pods, pod_leaves, spines, spine_up, cores)
