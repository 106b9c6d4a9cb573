"""Text, bytes or a folder of files → disk, whole or not at all: written beside the target, then renamed."""

from __future__ import annotations

import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from gpufabric.errors import InputError, printable

_LONGEST_PATH = 200


def write_text(path: Path, text: str) -> None:
    """Write *text* as UTF-8 with the line ends that it has.

    Raises
    ------
    InputError
        When the file can't be written; an older file of that name is then untouched.
    """
    write_bytes(path, text.encode("utf-8"))


def write_bytes(path: Path, data: bytes) -> None:
    """Write *data*; see :func:`write_text`."""
    with file_beside(path) as beside:
        beside.write_bytes(data)


@contextmanager
def file_beside(path: Path) -> Iterator[Path]:
    """Give a path beside *path* to write to: renamed over *path* when the block ends well, else removed.

    A device or pipe (``/dev/stdout``) is written in place, because it can't be replaced.

    Raises
    ------
    InputError
        When the file can't be written.
    """
    with _write_errors(path):
        if path.is_dir():
            raise InputError(f"{printable(str(path), _LONGEST_PATH)}: is a folder; name a file in it")
        if path.exists() and not path.is_file():
            yield path
            return
        target = path.resolve()
        target.parent.mkdir(parents=True, exist_ok=True)
        beside = _unused_name(target)
        try:
            yield beside
            beside.replace(target)
        finally:
            beside.unlink(missing_ok=True)


@contextmanager
def folder_beside(path: Path) -> Iterator[Path]:
    """Give an empty folder to fill, moved to *path* when the block ends well and removed when it does not.

    A folder that exists already keeps its other files; files of the same names are replaced one by one, none of them when
    the name of one is taken by a folder.

    Raises
    ------
    InputError
        When the folder can't be written; what is in it is then untouched.
    """
    with _write_errors(path):
        if path.exists() and not path.is_dir():
            raise InputError(f"{printable(str(path), _LONGEST_PATH)}: is a file; name a folder")
        target = path.resolve()
        target.parent.mkdir(parents=True, exist_ok=True)
        beside = _unused_name(target)
        beside.mkdir()
        try:
            yield beside
            if target.exists():
                _move_files(beside, path)
            else:
                beside.rename(target)
        finally:
            shutil.rmtree(beside, ignore_errors=True)


def _unused_name(target: Path) -> Path:
    return target.with_name(f".{secrets.token_hex(6)}.partial")


def _move_files(source: Path, target: Path) -> None:
    moves = [(p, target / p.relative_to(source)) for p in sorted(source.rglob("*")) if p.is_file()]
    for _, destination in moves:
        _require_free(destination, target)
    for file, destination in moves:
        destination.parent.mkdir(parents=True, exist_ok=True)
        file.replace(destination)


def _require_free(destination: Path, folder: Path) -> None:
    """Refuse a name that a folder has, or that lies below a file, before anything is moved."""
    below = [folder / parent for parent in destination.relative_to(folder).parents]
    blocking = [place for place in below if place.exists() and not place.is_dir()]
    if destination.is_dir() or blocking:
        place = blocking[0] if blocking else destination
        found, wanted = ("file", "folder") if blocking else ("folder", "file")
        raise InputError(
            f"{printable(str(place), _LONGEST_PATH)}: is a {found} where a {wanted} is to be written; "
            "move it away or name another folder"
        )


@contextmanager
def _write_errors(path: Path) -> Iterator[None]:
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        reason = error.strerror or str(error)
        raise InputError(
            f"{printable(str(path), _LONGEST_PATH)}: can't be written ({printable(reason)}); choose another place"
        ) from error
