"""Cluster and floor plan → labels of all cables: one row a cable end, each with the place of both ends.

What the columns mean is in ``docs/reference/labels.md``. The same cluster gives the same rows in the same order.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from gpufabric.errors import printable
from gpufabric.records.cluster import Cluster
from gpufabric.records.floor_plan import FloorPlan
from gpufabric.records.names import device_names, port_names
from gpufabric.records.part_lookup import PartLookup
from gpufabric.records.tiers import link_fabrics

MOST_FAR_ENDS = 16
_MAX_TEXT = 200
_UNITS_WIDTH = 2
_Rows = NDArray[np.integer[Any]]


@dataclass(frozen=True, slots=True)
class _Ends:
    """Plugs of all cables, ordered by cable, side (0 lower tier, 1 upper), device, cage and lane. E rows.

    ``number`` counts the plugs of one cable and side from 0; ``lanes`` is the number of ports that a plug serves, ``port`` the
    first of them; ``far`` is the first plug on the other side of the cable and ``far_count`` how many are there.
    """

    cable: _Rows
    side: _Rows
    number: _Rows
    port: _Rows
    lanes: _Rows
    link: _Rows
    far: _Rows
    far_count: _Rows


def labels_table(
    cluster: Cluster, plan: FloorPlan | None = None, parts: PartLookup | None = None
) -> pa.Table:
    """Return the labels, one row a plug, in the order of the cables.

    Parameters
    ----------
    cluster
    plan
        Racks and units; without it a text names devices instead of places.
    parts
        Parts by id, for the labels on server chassis in the names of ports.

    Returns
    -------
    pyarrow.Table
        ``label`` is unique. Of a cable with several plugs at the other side ``far_text`` names up to 16 of them and the
        ``far_*`` columns the first. What is unknown is null.
    """
    ends = _ends(cluster)
    names = pa.array([printable(name, _MAX_TEXT) for name in device_names(cluster).tolist()], pa.string())
    port = _port_texts(cluster, ends, parts)
    place = _place_texts(cluster, plan, names)
    near_text = pc.binary_join_element_wise(place.take(_device(cluster, ends)), port.cast(pa.string()), ":")
    near = _side_columns(cluster, plan, ends, names, port)
    columns: dict[str, Any] = {
        "label": _label_ids(ends, len(cluster.assemblies)),
        "assembly": pa.array(ends.cable.astype(np.int32)),
        "end": _end_letters(ends),
        "fabric": _lookup([f.name for f in cluster.fabrics], link_fabrics(cluster)[ends.link]),
    }
    columns |= {f"near_{name}": column for name, column in near.items()}
    columns |= {f"far_{name}": _take(column, ends.far, ends.far_count > 0) for name, column in near.items()}
    part = cluster.assemblies.part[ends.cable]
    columns |= {
        "far_ends": pa.array(ends.far_count.astype(np.int32)),
        "cable_part": _lookup(list(cluster.parts), part),
        "length_m": pa.array(cluster.assemblies.length_m[ends.cable], from_pandas=True),
        "near_text": near_text,
        "far_text": _far_texts(near_text, ends),
    }
    return pa.table(columns).replace_schema_metadata(
        {"format": "gpufabric/1", "cluster": printable(cluster.name)}
    )


def _ends(cluster: Cluster) -> _Ends:
    links, ports = cluster.links, cluster.ports
    with_cable = np.flatnonzero(links.assembly >= 0)
    cable = np.tile(links.assembly[with_cable], 2)
    side = np.repeat(np.array([0, 1], np.int8), len(with_cable))
    port = np.concatenate([links.port_a[with_cable], links.port_b[with_cable]])
    link = np.tile(with_cable, 2)
    order = np.lexsort((ports.lane[port], ports.cage[port], ports.device[port], side, cable))
    cable, side, port, link = cable[order], side[order], port[order], link[order]
    new = np.ones(len(cable), bool)
    for column in (cable, side, ports.device[port], ports.cage[port]):
        if column is cable:
            new[1:] = cable[1:] != cable[:-1]
        else:
            new[1:] |= column[1:] != column[:-1]
    starts = np.flatnonzero(new)
    lanes = np.diff(starts, append=len(cable))
    cable, side, port, link = cable[starts], side[starts], port[starts], link[starts]
    half = cable.astype(np.int64) * 2 + side
    per_half = np.bincount(half, minlength=2 * len(cluster.assemblies))
    first_of_half = np.concatenate([[0], np.cumsum(per_half)[:-1]])
    other = half ^ 1
    return _Ends(
        cable=cable,
        side=side,
        number=np.arange(len(cable)) - first_of_half[half],
        port=port,
        lanes=lanes,
        link=link,
        far=first_of_half[other],
        far_count=per_half[other],
    )


def _device(cluster: Cluster, ends: _Ends) -> pa.Array:
    return pa.array(cluster.ports.device[ends.port])


def _side_columns(
    cluster: Cluster, plan: FloorPlan | None, ends: _Ends, names: pa.Array, port: pa.Array
) -> dict[str, Any]:
    device = cluster.ports.device[ends.port]
    cage = cluster.ports.cage[ends.port]
    if plan is None:
        rack = pa.nulls(len(device), pa.string()).dictionary_encode()
        unit = pa.nulls(len(device), pa.int32())
    else:
        rack = pa.DictionaryArray.from_arrays(
            pa.array(plan.rack[device]), pa.array(plan.racks.names, pa.string())
        )
        unit = pa.array(plan.lowest_unit[device])
    return {
        "rack": rack,
        "unit": unit,
        "device": pa.DictionaryArray.from_arrays(pa.array(device), names),
        "port": port,
        "cage": pa.array(cage, mask=cage < 0),
    }


def _port_texts(cluster: Cluster, ends: _Ends, parts: PartLookup | None) -> pa.Array:
    """Return what each plug is put into: a port, or the cage where it fills all of it, or the lanes that it takes."""
    names = pa.array(port_names(cluster, ends.port, parts), pa.string()).dictionary_encode()
    safe = [printable(name, _MAX_TEXT) for name in names.dictionary.to_pylist()]
    code = names.indices.to_numpy()
    whole = ends.lanes >= cluster.ports.lanes_in_cage[ends.port]
    several = np.where(ends.lanes == 1, 1, np.where(whole, 0, ends.lanes)).astype(np.int64)
    unique, index = np.unique(code.astype(np.int64) << 16 | several, return_inverse=True)
    texts = [_plug_name(safe[int(key) >> 16], int(key) & 0xFFFF) for key in unique]
    return pa.DictionaryArray.from_arrays(pa.array(index.astype(np.int32)), pa.array(texts, pa.string()))


def _plug_name(port: str, lanes: int) -> str:
    """Return the name of a plug in *port*: lanes 1 is the port itself, 0 its whole cage, more are so many lanes of the cage."""
    cage, slash, lane = port.rpartition("/")
    if lanes == 1 or not slash:
        return port
    return f"{cage}/{lane}-{int(lane) + lanes - 1}" if lanes and lane.isdecimal() else cage


def _place_texts(cluster: Cluster, plan: FloorPlan | None, names: pa.Array) -> pa.Array:
    """Return for each device where it is: rack and lowest unit, or its name without a floor plan."""
    if plan is None:
        return names
    racks = plan.racks.names
    units = [f"U{unit:0{_UNITS_WIDTH}d}" for unit in range(int(plan.lowest_unit.max(initial=0)) + 1)]
    pairs = zip(plan.rack.tolist(), plan.lowest_unit.tolist(), strict=True)
    places = [f"{racks[rack]}-{units[unit]}" for rack, unit in pairs]
    return pa.array(places[: len(cluster.devices)], pa.string())


def _far_texts(near_text: pa.Array, ends: _Ends) -> pa.Array:
    """Return the texts of the plugs on the other side, joined."""
    most = min(MOST_FAR_ENDS, int(ends.far_count.max(initial=1)))
    texts = [_take(near_text, ends.far + k, ends.far_count > k) for k in range(most)]
    if len(texts) == 1:
        return texts[0]
    return pc.binary_join_element_wise(*texts, ", ", null_handling="skip")


def _label_ids(ends: _Ends, cables: int) -> pa.Array:
    width = len(str(max(cables - 1, 0)))
    numbers = pc.utf8_lpad(pa.array(ends.cable.astype(np.int32)).cast(pa.string()), width, "0")
    return pc.binary_join_element_wise(
        "C", pc.binary_join_element_wise(numbers, _end_letters(ends).cast(pa.string()), "-"), ""
    )


def _end_letters(ends: _Ends) -> pa.Array:
    """Return A for the lower end of a cable and B for the upper; A1, A2 … where a side has several plugs."""
    # The plugs of the own side are those that an end of the other side sees as far.
    own = np.bincount(ends.cable.astype(np.int64) * 2 + ends.side)
    several = own[ends.cable.astype(np.int64) * 2 + ends.side] > 1
    key = ends.side.astype(np.int64) << 32 | np.where(several, ends.number + 1, 0)
    unique, index = np.unique(key, return_inverse=True)
    texts = [f"{'AB'[int(k) >> 32]}{int(k) & 0xFFFFFFFF or ''}" for k in unique]
    return pa.DictionaryArray.from_arrays(pa.array(index.astype(np.int32)), pa.array(texts, pa.string()))


def _take(column: pa.Array, rows: _Rows, known: NDArray[np.bool_]) -> pa.Array:
    return column.take(pa.array(np.where(known, rows, 0).astype(np.int64), mask=~known))


def _lookup(texts: list[str], rows: _Rows) -> pa.Array:
    dictionary = pa.array([printable(text, _MAX_TEXT) for text in texts], pa.string())
    return pa.DictionaryArray.from_arrays(pa.array(rows.astype(np.int32), mask=rows < 0), dictionary)
