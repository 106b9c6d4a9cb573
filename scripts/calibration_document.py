"""Fitted constants → the data files of the package, with the sources of the rows."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

from held_out_table import Judged, class_clusters, ranges_of
from measured_rows import MeasuredRow
from model_of_time import BELIEVED, Constants, Floats, values_of

FOLDER = Path(__file__).parents[1] / "src/gpufabric/catalog/calibrations"
READ = "2026-11"
HEAD = """\
# Written by scripts/fit_collectives.py; do not edit.
# Constants of the model of time of collectives (docs/explanation/how-times-are-calibrated.md): seconds, factors and shares.
"""
FOLDS_HEAD = """\
# Written by scripts/fit_collectives.py; do not edit.
# The constants that each cluster gets when all of its rows are left out of the fit: what `gpufabric validate` predicts it with.
"""


def write_documents(
    rows: list[MeasuredRow],
    left_out: Counter[str],
    constants: Constants,
    whole: Floats,
    folds: dict[str, Floats],
    judged: Judged,
    sources: list[tuple[str, str]],
) -> None:
    document: dict[str, Any] = BELIEVED.model_dump(exclude_none=True)
    for name, value in values_of(constants, whole).items():
        *path, last = name.split(".")
        place = document
        for key in path:
            place = place[key]
        place[last] = value
    clusters = class_clusters(rows)
    for kind in ("scale_ups", "networks"):
        for name, known in document[kind].items():
            known["clusters"] = list(clusters.get(name, ()))
    document["ranges"] = {name: known.model_dump() for name, known in ranges_of(judged).items()}
    document["left_out"] = dict(sorted(left_out.items()))
    document["clusters"] = len({row.cluster for row in rows})
    document["rows"] = len(rows)
    document["adjustments"] = []
    document["sources"] = [_source(*source) for source in sources]
    (FOLDER / "collectives.toml").write_text(HEAD + toml_text(document), encoding="utf-8")
    values = {
        cluster: values_of(constants, logs) | _range_values(judged, cluster)
        for cluster, logs in folds.items()
    }
    names = ",\n".join(f'  "{name}"' for name in next(iter(values.values())))
    lines = [f"{cluster} = [{', '.join(map(str, one.values()))}]" for cluster, one in values.items()]
    text = f"{FOLDS_HEAD}constants = [\n{names},\n]\n\n[folds]\n" + "\n".join(lines) + "\n"
    (FOLDER / "collectives_folds.toml").write_text(text, encoding="utf-8")


def _range_values(judged: Judged, without: str) -> dict[str, float]:
    return {
        f"ranges.{band}.{name}": value
        for band, known in ranges_of(judged, without).items()
        for name, value in known.model_dump(exclude={"clusters", "rows"}).items()
    }


def _source(title: str, where: str) -> dict[str, str]:
    """Return a source; *where* is ``address@commit file`` with the last two optional."""
    address, _, place = where.partition(" ")
    url, _, commit = address.partition("@")
    fields = {"title": title, "url": url, "commit": commit, "place": place, "read": READ}
    return {key: value for key, value in fields.items() if value}


def toml_text(document: dict[str, Any]) -> str:
    """Return TOML of nested tables, lists of plain values and lists of tables."""
    return "\n".join(_lines(document, "")) + "\n"


def _lines(table: dict[str, Any], path: str) -> list[str]:
    plain = {k: v for k, v in table.items() if not isinstance(v, dict) and not _is_tables(v)}
    lines = [f"{_key(key)} = {_value(value)}" for key, value in plain.items()]
    for key, value in table.items():
        inner = f"{path}.{_key(key)}" if path else _key(key)
        if isinstance(value, dict):
            lines += ["", f"[{inner}]", *_lines(value, inner)]
        elif _is_tables(value):
            for one in value:
                lines += ["", f"[[{inner}]]", *_lines(one, inner)]
    return lines


def _is_tables(value: object) -> bool:
    return isinstance(value, list) and bool(value) and isinstance(value[0], dict)


def _key(key: str) -> str:
    return key if key.replace("-", "").replace("_", "").isalnum() else f'"{key}"'


def _value(value: object) -> str:
    if isinstance(value, list | tuple):
        return f"[{', '.join(_value(one) for one in value)}]"
    if isinstance(value, str):
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    return str(value)
