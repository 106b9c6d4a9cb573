"""Cluster → cabling plan: one row a link, as an Arrow table.

What the columns mean is in ``docs/reference/cabling-plan.md``. The same cluster gives the same bytes.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from gpufabric.errors import printable
from gpufabric.records.cluster import Cluster
from gpufabric.records.floor_plan import FloorPlan
from gpufabric.records.link_kinds import link_kinds
from gpufabric.records.names import device_names, port_names
from gpufabric.records.part_lookup import PartLookup
from gpufabric.records.port_cages import port_modules
from gpufabric.records.tiers import link_fabrics
from gpufabric.units import gbps

_MAX_TEXT = 1000


def cabling_table(
    cluster: Cluster, parts: PartLookup | None = None, plan: FloorPlan | None = None
) -> pa.Table:
    """Return the cabling plan, one row a link in the order of ``cluster.links``.

    Parameters
    ----------
    cluster
    parts
        Parts by id, for the labels on server chassis in the names of ports.
    plan
        Where the devices stand, for the names of racks and the rack units; without it racks are numbered from 1.

    Returns
    -------
    pyarrow.Table
        Repeated texts are dictionary-encoded. What is unknown is null. Planes and rails count from 1, as in
        names; links and assemblies from 0, as in the arrays. ``rate_gbps`` is Gb/s in each direction,
        ``length_m`` metres.
    """
    links, ports = cluster.links, cluster.ports
    kinds, kind_names = link_kinds(cluster)
    columns: dict[str, Any] = {
        "link": pa.array(np.arange(len(links), dtype=np.int32)),
        "fabric": _lookup([f.name for f in cluster.fabrics], link_fabrics(cluster)),
        "plane": _numbered(_either(ports.plane, cluster)),
        "rail": _numbered(_either(ports.rail, cluster)),
        "kind": _lookup(list(kind_names), kinds),
    }
    names = pa.array([printable(name, _MAX_TEXT) for name in device_names(cluster).tolist()], pa.string())
    for end, rows in (("a", links.port_a), ("b", links.port_b)):
        found = _end_columns(cluster, rows, names, parts) | _place_columns(cluster, rows, plan)
        columns |= {f"{end}_{name}": column for name, column in found.items()}
    assembly = links.assembly
    columns |= {
        "rate_gbps": pa.array(gbps(1.0) * links.bytes_per_s, from_pandas=True),
        "assembly": _nullable(assembly),
        "cable_part": _lookup(list(cluster.parts), _taken(cluster.assemblies.part, assembly, -1)),
        "a_transceiver": _lookup(list(cluster.parts), port_modules(cluster, links.port_a)),
        "b_transceiver": _lookup(list(cluster.parts), port_modules(cluster, links.port_b)),
        "length_m": pa.array(_taken(cluster.assemblies.length_m, assembly, np.nan), from_pandas=True),
    }
    return pa.table(columns).replace_schema_metadata(
        {"format": "gpufabric/1", "cluster": printable(cluster.name)}
    )


def _end_columns(
    cluster: Cluster, rows: NDArray[np.int32], names: pa.Array, parts: PartLookup | None
) -> dict[str, Any]:
    ports = cluster.ports
    device = ports.device[rows]
    port = pa.array(port_names(cluster, rows, parts), pa.string()).dictionary_encode()
    safe = [printable(name, _MAX_TEXT) for name in port.dictionary.to_pylist()]
    return {
        "device": pa.DictionaryArray.from_arrays(pa.array(device), names),
        "port": pa.DictionaryArray.from_arrays(port.indices, pa.array(safe, pa.string())),
        "cage": _nullable(ports.cage[rows]),
        "lane": _nullable(ports.lane[rows]),
    }


def _place_columns(cluster: Cluster, rows: NDArray[np.int32], plan: FloorPlan | None) -> dict[str, Any]:
    """Return the rack and the lowest rack unit of the device of each port."""
    device = cluster.ports.device[rows]
    rack = cluster.devices.rack[device]
    if plan is None:
        numbers = [str(number + 1) for number in range(int(rack.max(initial=-1)) + 1)]
        return {"rack": _lookup(numbers, rack), "u": pa.nulls(len(rows), pa.int32())}
    return {"rack": _lookup(list(plan.racks.names), rack), "u": _nullable(plan.lowest_unit[device])}


def _either(column: NDArray[np.int16], cluster: Cluster) -> NDArray[np.int16]:
    """Return the value at the lower port of each link, or at the upper one where that is unknown."""
    lower = column[cluster.links.port_a]
    return np.where(lower >= 0, lower, column[cluster.links.port_b])


def _taken(values: NDArray[Any], rows: NDArray[np.int32], otherwise: float) -> NDArray[Any]:
    """Return ``values[rows]``, *otherwise* where a row is negative."""
    padded = np.append(values, np.array([otherwise], values.dtype))
    return padded[np.where(rows >= 0, rows, len(values))]


def _nullable(values: NDArray[np.integer[Any]]) -> pa.Array:
    return pa.array(values, mask=values < 0)


def _numbered(values: NDArray[np.integer[Any]]) -> pa.Array:
    return pa.array(values.astype(np.int32) + 1, mask=values < 0)


def _lookup(texts: list[str], rows: NDArray[np.integer[Any]]) -> pa.Array:
    dictionary = pa.array([printable(text, _MAX_TEXT) for text in texts], pa.string())
    return pa.DictionaryArray.from_arrays(pa.array(rows.astype(np.int32), mask=rows < 0), dictionary)
