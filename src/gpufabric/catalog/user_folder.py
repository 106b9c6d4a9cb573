"""A folder from a stranger → the part files in it."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

from gpufabric.catalog.part_file import LONGEST_PATH, MAX_FILE_BYTES
from gpufabric.errors import PartError, printable

MAX_FILES = 10_000
MAX_TOTAL_BYTES = 16_777_216
MAX_DEPTH = 32


def find_part_files(folder: Path) -> tuple[Path, ...]:
    """Return the ``*.toml`` files anywhere below *folder*, sorted by path.

    Names that begin with a dot are skipped and links to folders are not followed, so loops of links can't
    occur. A link to a file is followed only if it stays inside *folder*.

    Raises
    ------
    PartError
        If *folder* is no readable folder, or holds more than ``MAX_FILES`` entries, a file over
        ``MAX_FILE_BYTES``, more than ``MAX_TOTAL_BYTES`` together, folders nested deeper than ``MAX_DEPTH``,
        or a link that leads out of it.
    """
    where = printable(str(folder), LONGEST_PATH)
    try:
        root = folder.resolve(strict=True)
    except (OSError, RuntimeError, ValueError) as error:
        raise PartError(
            f"{where}: parts folder can't be read ({_reason(error)}); name an existing folder"
        ) from None
    if not root.is_dir():
        raise PartError(f"{where}: is not a folder; parts are read from a folder of TOML files; name one")
    found = []
    total = 0
    for entry in _walk(folder, where):
        path = Path(entry.path)
        if not entry.name.endswith(".toml"):
            continue
        total += _size_of_plain_file(path, root)
        if total > MAX_TOTAL_BYTES:
            raise PartError(
                f"{where}: part files are too long together; at most {MAX_TOTAL_BYTES:,} bytes are read; "
                "name the folder that holds the parts only"
            )
        found.append(path)
    return tuple(sorted(found))


def _walk(folder: Path, where: str) -> Iterator[os.DirEntry[str]]:
    """Yield the entries below *folder* that are not folders."""
    pending = [(str(folder), 0)]
    seen = 0
    while pending:
        current, depth = pending.pop()
        try:
            with os.scandir(current) as entries:
                for entry in entries:
                    seen += 1
                    if seen > MAX_FILES:
                        raise PartError(
                            f"{where}: holds too many files; at most {MAX_FILES:,} are looked at; "
                            "name the folder that holds the parts only"
                        )
                    if entry.name.startswith("."):
                        continue
                    if entry.is_dir(follow_symlinks=False):
                        pending.append((entry.path, depth + 1))
                    else:
                        yield entry
        except OSError as error:
            raise PartError(f"{printable(current, LONGEST_PATH)}: can't be read ({_reason(error)})") from None
        if depth > MAX_DEPTH:
            raise PartError(f"{where}: folders are nested too deeply; at most {MAX_DEPTH} levels are read")


def _size_of_plain_file(path: Path, root: Path) -> int:
    where = printable(str(path), LONGEST_PATH)
    try:
        target = path.resolve(strict=True)
        status = target.stat()
    except (OSError, RuntimeError) as error:
        raise PartError(
            f"{where}: can't be read ({_reason(error)}); remove the file or mend the link"
        ) from None
    if not target.is_relative_to(root):
        raise PartError(
            f"{where}: is a link that leads out of the parts folder; copy the file into the folder"
        )
    if not stat.S_ISREG(status.st_mode):
        raise PartError(f"{where}: is not a plain file; only plain files are read; remove it")
    if status.st_size > MAX_FILE_BYTES:
        raise PartError(
            f"{where}: is too long ({status.st_size:,} bytes); "
            f"a part's file has at most {MAX_FILE_BYTES:,} bytes; keep one part in one file"
        )
    return status.st_size


def _reason(error: Exception) -> str:
    text = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return printable(text)
