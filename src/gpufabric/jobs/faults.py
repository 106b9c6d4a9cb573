"""A description and kinds of mistakes → an as-built file with them: ``gpufabric faults``."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from gpufabric.errors import InputError, did_you_mean, printable
from gpufabric.jobs.built_file import HIDDEN, WRITERS, write_built
from gpufabric.jobs.inject_mistakes import KINDS, Mistake, inject_mistakes
from gpufabric.jobs.load_parts import catalog_for
from gpufabric.jobs.racked_cluster import racked_cluster
from gpufabric.records.cluster import Cluster
from gpufabric.records.cluster_spec import ClusterSpec
from gpufabric.records.tiers import joins_fabrics, link_fabrics


@dataclass(frozen=True, slots=True)
class FaultsOptions:
    """What to do wrong (``kind`` or ``kind:count``), which of many it is, in which form it shows, and in which fabric."""

    inject: tuple[str, ...] = ("random",)
    seed: int = 0
    form: str = "ibnetdiscover"
    fabric: str | None = None


@dataclass(frozen=True, slots=True)
class FaultsResult:
    """The file and what is wrong in it; ``hidden`` are kinds of mistakes that such a file can't show."""

    cluster: str
    fabric: str
    form: str
    seed: int
    text: str
    mistakes: tuple[Mistake, ...]
    hidden: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain JSON values, without the file."""
        return {
            "cluster": self.cluster,
            "fabric": self.fabric,
            "output": self.form,
            "seed": self.seed,
            "mistakes": [asdict(mistake) | {"links": len(mistake.links)} for mistake in self.mistakes],
            "hidden": list(self.hidden),
        }


def faults(spec: ClusterSpec, options: FaultsOptions) -> FaultsResult:
    """Build a cluster wrongly on purpose.

    Raises
    ------
    InputError
        If a kind, form or fabric is unknown, or there is no place for so many mistakes.
    UnbuildableError
        If the cluster can't be built.
    """
    if options.form not in WRITERS:
        raise InputError(
            f'--format: "{printable(options.form)}" is unknown; allowed are {", ".join(WRITERS)}.'
            f"{did_you_mean(options.form, WRITERS)}"
        )
    racked = racked_cluster(spec, catalog_for(spec))
    fabric = fabric_number(racked.cluster, options.fabric)
    rows = fabric_rows(racked.cluster, fabric)
    if not len(rows):
        raise InputError(
            f"fabric {printable(racked.cluster.fabrics[fabric].name)}: has no links to make mistakes at"
        )
    injected = inject_mistakes(
        racked.cluster, racked.parts, rows, options.inject, options.seed, HIDDEN[options.form]
    )
    built = injected.cluster
    text = write_built(
        injected.as_called(), fabric_rows(built, fabric), injected.cables, options.form, injected.dark
    )
    hidden = {mistake.kind for mistake in injected.mistakes} & HIDDEN[options.form]
    name = racked.cluster.fabrics[fabric].name
    kinds = tuple(kind for kind in KINDS if kind in hidden)
    return FaultsResult(spec.name, name, options.form, options.seed, text, injected.mistakes, kinds)


def fabric_number(cluster: Cluster, name: str | None) -> int:
    """Return the index of a fabric by its name; None: the first.

    Raises
    ------
    InputError
        If there is none of that name.
    """
    names = [fabric.name for fabric in cluster.fabrics]
    if name is None:
        return 0
    if name not in names:
        raise InputError(
            f'--fabric: "{printable(name)}" is not in the cluster; it has {", ".join(names)}.{did_you_mean(name, names)}'
        )
    return names.index(name)


def fabric_rows(cluster: Cluster, fabric: int) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Return the links of a fabric, without those of management ports and into other fabrics."""
    data = (cluster.ports.cage[cluster.links.port_a] != 0) & (cluster.ports.cage[cluster.links.port_b] != 0)
    return np.flatnonzero((link_fabrics(cluster) == fabric) & ~joins_fabrics(cluster) & data)
