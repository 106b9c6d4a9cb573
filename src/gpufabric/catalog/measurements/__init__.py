"""Published measurements, each row with its source, and a description of every cluster that collectives were measured on.

``collectives.csv`` has one row a measurement; its column ``cluster_spec`` names a file of ``clusters/``. A blank cell is what
nobody published. ``training_memory.csv`` has the peak memory of training runs. ``folds.toml`` says which clusters of several
tables are one.
"""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path

COLLECTIVES = Path(__file__).parent / "collectives.csv"
TRAINING_MEMORY = Path(__file__).parent / "training_memory.csv"
CLUSTERS = Path(__file__).parent / "clusters"
_FOLDS = Path(__file__).parent / "folds.toml"


def fold_of(table: str, cluster: str) -> str:
    """Return the fold of a cluster of a table (``collectives`` or ``training``): what is left out of a fit together with it."""
    return _folds().get((table, cluster), cluster)


@cache
def _folds() -> dict[tuple[str, str], str]:
    folds = tomllib.loads(_FOLDS.read_text(encoding="utf-8"))
    return {
        (table, cluster): fold
        for fold, tables in folds.items()
        for table, clusters in tables.items()
        for cluster in clusters
    }
