"""A description → the catalogue it is built from, and which shipped parts the user's own folder replaces in a cluster."""

from __future__ import annotations

from pathlib import Path

from gpufabric.catalog.load import Catalog, load_catalog
from gpufabric.records.cluster_spec import ClusterSpec
from gpufabric.records.part_set import PartSet


def catalog_for(spec: ClusterSpec) -> Catalog:
    """Return the catalogue with the parts folder that *spec* names on top.

    Raises
    ------
    PartError
        If the folder or a file in it is wrong.
    """
    return load_catalog(Path(spec.parts) if spec.parts else None)


def replaced_parts(catalog: Catalog, parts: PartSet) -> tuple[str, ...]:
    """Return a line for each part of a cluster that stands for a shipped one of the same id, GPUs of its servers included."""
    used = {*parts.by_id, *(server.gpu for server in parts.servers.values())}
    return tuple(
        f"part {part_id}: figures of your parts folder, which replace those of the shipped part"
        for part_id in catalog.overridden
        if part_id in used
    )
