"""Bill of materials of the four-unit DGX H100 SuperPOD against NVIDIA's.

NVIDIA DGX SuperPOD reference architecture, DGX H100, RA-11333-001 V11 (2023-09-22), table 8:
https://docs.nvidia.com/dgx-superpod/reference-architecture-scalable-infrastructure-h100/latest/ (values as read 2026-11-30).
"""

from __future__ import annotations

from gpufabric.catalog.load import load_catalog
from gpufabric.formats.cluster_yaml import resolve_spec
from gpufabric.records.parts import CablePart, TransceiverPart
from gpufabric.report.bill_of_materials import bill_of_materials
from gpufabric.topologies import build_cluster, resolve_parts, with_cables


def test_compute_fibres_and_transceivers_of_four_units_are_as_printed() -> None:
    spec = resolve_spec("preset:superpod-h100")
    catalog = load_catalog()
    cluster = build_cluster(spec, catalog)
    parts = with_cables(resolve_parts(spec, catalog), cluster, catalog)
    fibres = on_switches = on_servers = 0
    for row in bill_of_materials(cluster, parts).rows:
        part = parts.get(row.part or "")
        if isinstance(part, CablePart) and part.technology == "fibre":
            fibres += row.count
        if isinstance(part, TransceiverPart) and part.connector == "osfp-finned":
            on_switches += row.count
        if isinstance(part, TransceiverPart) and part.connector == "osfp-flat":
            on_servers += row.count
    # 8 × 127 + 1,024; (1,024 + 2 × 1,024) / 2; 4 × 127: two ports share the twin-port module of a cage.
    assert (fibres, on_switches, on_servers) == (2040, 1536, 508)
