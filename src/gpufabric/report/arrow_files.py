"""Arrow table → a CSV file that is safe to open in a spreadsheet, and a Parquet file. The same table gives the same bytes."""

from __future__ import annotations

import io
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet

_CSV_ROWS = 65_536
_FORMULA_START = ("=", "+", "-", "@")


def write_table_csv(table: pa.Table, path: Path) -> None:
    """Write *table* as CSV (RFC 4180, UTF-8, lines end in CR LF) that is safe to open in a spreadsheet.

    A text that a spreadsheet would run as a formula (it begins with ``=``, ``+``, ``-`` or ``@``) gets an apostrophe before it.

    Parameters
    ----------
    table
        Its texts hold no line ends: control characters are escaped already.
    path

    Raises
    ------
    OSError
        If *path* can't be written.
    """
    safe = pa.table({name: _spreadsheet_safe(table[name]) for name in table.column_names})
    texts = pa.schema(
        [(f.name, pa.string() if pa.types.is_dictionary(f.type) else f.type) for f in safe.schema]
    )
    with path.open("wb") as file:
        for first in range(0, max(1, table.num_rows), _CSV_ROWS):
            part = safe.slice(first, _CSV_ROWS).cast(texts)
            buffer = io.BytesIO()
            options = pa.csv.WriteOptions(include_header=first == 0, batch_size=_CSV_ROWS)
            pa.csv.write_csv(part, buffer, options)
            # No cell holds a line end, so each one here ends a row.
            file.write(buffer.getvalue().replace(b"\n", b"\r\n"))


def write_table_parquet(table: pa.Table, path: Path) -> None:
    """Write *table* as Parquet.

    Raises
    ------
    OSError
        If *path* can't be written.
    """
    texts = [f.name for f in table.schema if pa.types.is_dictionary(f.type)]
    pa.parquet.write_table(table, path, compression="zstd", use_dictionary=texts)


def _spreadsheet_safe(column: pa.ChunkedArray) -> pa.ChunkedArray:
    if pa.types.is_string(column.type):
        risky = pc.match_substring_regex(column, "^[=+@-]")
        return pc.if_else(risky, pc.binary_join_element_wise("'", column, ""), column)
    if not pa.types.is_dictionary(column.type):
        return column
    chunks = []
    for chunk in column.chunks:
        safe = [
            f"'{text}" if text.startswith(_FORMULA_START) else text for text in chunk.dictionary.to_pylist()
        ]
        chunks.append(pa.DictionaryArray.from_arrays(chunk.indices, pa.array(safe, pa.string())))
    return pa.chunked_array(chunks, column.type)
