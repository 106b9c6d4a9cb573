"""Cluster and floor plan → labels of all cables: one row a cable end, each with the place of both ends.

What the columns mean is in ``docs/reference/labels.md``. The same cluster gives the same rows in the same order.
"""

from __future__ import annotations

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
from gpufabric.report.labels_plugs import KINDS, TRUNK, Plugs, cable_plugs

MOST_FAR_ENDS = 16
_MAX_TEXT = 200
_PANEL = "panel"
_Rows = NDArray[np.integer[Any]]


def labels_table(
    cluster: Cluster, plan: FloorPlan | None = None, parts: PartLookup | None = None
) -> pa.Table:
    """Return the labels, one row a plug (of a patch cord one row for both plugs), in the order of the cables.

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
    plugs = cable_plugs(cluster)
    names = pa.array([printable(name, _MAX_TEXT) for name in device_names(cluster).tolist()], pa.string())
    port = _port_texts(cluster, plugs, parts)
    near = _near_columns(cluster, plan, plugs, (names, port))
    device = pa.array(cluster.ports.device[plugs.port])
    place = _place_texts(cluster, plan, names).take(device)
    text = pc.binary_join_element_wise(place, port.cast(pa.string()), ":")
    if plan is not None and not (plugs.lanes > 0).all():
        panel = pc.binary_join_element_wise(near["rack"].cast(pa.string()), _PANEL, " ")
        text = pc.if_else(pa.array(plugs.lanes > 0), text, panel)
    columns: dict[str, Any] = {
        "label": _label_ids(plugs, text),
        "kind": _lookup(list(KINDS), plugs.kind),
        "assembly": pa.array(plugs.assembly.astype(np.int32)),
        "end": _end_letters(plugs),
        "fabric": _lookup([f.name for f in cluster.fabrics], link_fabrics(cluster)[plugs.link]),
    }
    columns |= {f"near_{name}": column for name, column in near.items()}
    columns |= {f"far_{name}": _take(column, plugs.far, plugs.far_count > 0) for name, column in near.items()}
    columns |= {
        "far_ends": pa.array(plugs.far_count.astype(np.int32)),
        "cable_part": _lookup(list(cluster.parts), plugs.part),
        "length_m": pa.array(plugs.length_m, from_pandas=True),
        "near_text": text,
        "far_text": _far_texts(text, plugs),
    }
    return pa.table(columns).replace_schema_metadata(
        {"format": "gpufabric/1", "cluster": printable(cluster.name)}
    )


def _near_columns(
    cluster: Cluster, plan: FloorPlan | None, plugs: Plugs, texts: tuple[pa.Array, pa.Array]
) -> dict[str, Any]:
    names, port = texts
    device = cluster.ports.device[plugs.port]
    cage = cluster.ports.cage[plugs.port]
    in_port = plugs.lanes > 0
    if plan is None:
        rack = pa.nulls(len(device), pa.string()).dictionary_encode()
        unit = pa.nulls(len(device), pa.int32())
    else:
        rack = _lookup(list(plan.racks.names), plan.rack[device])
        unit = pa.array(plan.lowest_unit[device], mask=~in_port)
    return {
        "rack": rack,
        "u": unit,
        "device": pa.DictionaryArray.from_arrays(pa.array(device, mask=~in_port), names),
        "port": port,
        "cage": pa.array(cage, mask=~in_port | (cage < 0)),
    }


def _port_texts(cluster: Cluster, plugs: Plugs, parts: PartLookup | None) -> pa.Array:
    """Return what each plug is put into: a port, the cage where it fills all of it, the lanes that it takes, or a panel."""
    names = pa.array(port_names(cluster, plugs.port, parts), pa.string()).dictionary_encode()
    safe = [printable(name, _MAX_TEXT) for name in names.dictionary.to_pylist()]
    code = np.where(plugs.lanes > 0, names.indices.to_numpy(), len(safe)).astype(np.int64)
    whole = plugs.lanes >= cluster.ports.lanes_in_cage[plugs.port]
    several = np.where(plugs.lanes == 1, 1, np.where(whole, 0, plugs.lanes)).astype(np.int64)
    unique, index = np.unique(code << 16 | several, return_inverse=True)
    safe.append(_PANEL)
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
    return pa.array(plan.places(np.arange(len(plan.rack))), pa.string())


def _far_texts(text: pa.Array, plugs: Plugs) -> pa.Array:
    """Return the texts of the plugs on the other side, joined."""
    most = min(MOST_FAR_ENDS, int(plugs.far_count.max(initial=1)))
    texts = [_take(text, plugs.far + k, plugs.far_count > k) for k in range(most)]
    return texts[0] if most == 1 else pc.binary_join_element_wise(*texts, ", ", null_handling="skip")


def _label_ids(plugs: Plugs, text: pa.Array) -> pa.Array:
    """Return C or P and the text of one end of the cable or cord, T and its racks and number for a trunk; then the end.

    The end that names a cable is the upper one, whose port no other device shares; the lower one of a cable that splits upwards.
    Nothing counts cables, so that a cluster that grows keeps the labels of the cables that stay.
    """
    own, far = np.arange(len(plugs)) - plugs.number, np.where(plugs.far_count > 0, plugs.far, -1)
    upper, lower = np.where(plugs.side == 1, own, far), np.where(plugs.side == 1, far, own)
    splits = np.where(plugs.side == 1, plugs.of, plugs.far_count) != 1
    named_by = np.where((splits & (lower >= 0)) | (upper < 0), lower, upper)
    name = text.take(pa.array(named_by))
    if (plugs.kind == TRUNK).any():
        name = pc.if_else(pa.array(plugs.kind == TRUNK), _trunk_names(plugs, text, lower, upper), name)
    letter = pa.array(np.array(["C", "P", "T"], object)[plugs.kind], pa.string())
    return pc.binary_join_element_wise(letter, name, _end_letters(plugs).cast(pa.string()), ":")


def _trunk_names(plugs: Plugs, text: pa.Array, lower: _Rows, upper: _Rows) -> pa.Array:
    """Return the texts of both panels of each trunk and its number among those between the same two; junk for other plugs."""
    rows = np.flatnonzero((plugs.kind == TRUNK) & (plugs.side == 0))
    code = text.dictionary_encode().indices.to_numpy().astype(np.int64)
    pair = code[lower[rows]] << 32 | code[upper[rows]]
    order = np.argsort(pair, kind="stable")
    first = np.flatnonzero(np.diff(pair[order], prepend=-1))
    place = np.arange(len(rows)) - np.repeat(first, np.diff(np.append(first, len(rows))))
    number = np.zeros(len(plugs), np.int64)
    number[rows[order]] = place + 1
    ends = [text.take(pa.array(np.maximum(end, 0))) for end in (lower, upper)]
    return pc.binary_join_element_wise(*ends, pa.array(number[lower]).cast(pa.string()), ":")


def _end_letters(plugs: Plugs) -> pa.Array:
    """Return A for the lower end of a cable and B for the upper; A1, A2 and so on where a side has several plugs."""
    key = plugs.side.astype(np.int64) << 32 | np.where(plugs.of > 1, plugs.number + 1, 0)
    unique, index = np.unique(key, return_inverse=True)
    texts = [f"{'AB'[int(k) >> 32]}{int(k) & 0xFFFFFFFF or ''}" for k in unique]
    return pa.DictionaryArray.from_arrays(pa.array(index.astype(np.int32)), pa.array(texts, pa.string()))


def _take(column: pa.Array, rows: _Rows, known: NDArray[np.bool_]) -> pa.Array:
    return column.take(pa.array(np.where(known, rows, 0).astype(np.int64), mask=~known))


def _lookup(texts: list[str], rows: _Rows) -> pa.Array:
    dictionary = pa.array([printable(text, _MAX_TEXT) for text in texts], pa.string())
    return pa.DictionaryArray.from_arrays(pa.array(rows.astype(np.int32), mask=rows < 0), dictionary)
