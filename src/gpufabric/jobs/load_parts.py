"""A description → the catalogue it is built from: the shipped one and the user's own parts folder."""

from __future__ import annotations

from pathlib import Path

from gpufabric.catalog.load import Catalog, load_catalog
from gpufabric.records.cluster_spec import ClusterSpec


def catalog_for(spec: ClusterSpec) -> Catalog:
    """Return the catalogue with the parts folder that *spec* names on top.

    Raises
    ------
    PartError
        If the folder or a file in it is wrong.
    """
    return load_catalog(Path(spec.parts) if spec.parts else None)
