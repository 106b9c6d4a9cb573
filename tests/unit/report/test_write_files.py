"""Files are whole or absent."""

import os
from pathlib import Path

import pytest

from gpufabric.errors import InputError
from gpufabric.report.write_files import file_beside, folder_beside, write_bytes, write_text


def names(folder: Path) -> list[str]:
    return sorted(p.name for p in folder.iterdir())


def test_text_is_utf8_and_parents_are_made(tmp_path):
    write_text(tmp_path / "a" / "b.txt", "4 × 8\n")
    assert (tmp_path / "a" / "b.txt").read_bytes() == "4 × 8\n".encode()
    assert names(tmp_path / "a") == ["b.txt"]


def test_a_failure_keeps_the_old_file_and_leaves_nothing_beside(tmp_path):
    target = tmp_path / "plan.csv"
    write_bytes(target, b"old")
    with pytest.raises(KeyboardInterrupt), file_beside(target) as beside:
        beside.write_bytes(b"half")
        raise KeyboardInterrupt
    assert target.read_bytes() == b"old"
    assert names(tmp_path) == ["plan.csv"]


def test_a_new_folder_appears_at_once(tmp_path):
    target = tmp_path / "out" / "demo"
    with folder_beside(target) as folder:
        (folder / "drawings").mkdir()
        (folder / "drawings" / "a.svg").write_text("<svg/>")
        assert not target.exists()
    assert (target / "drawings" / "a.svg").read_text() == "<svg/>"
    assert names(tmp_path / "out") == ["demo"]


def test_an_existing_folder_keeps_what_is_not_replaced(tmp_path):
    (tmp_path / "demo" / "sub").mkdir(parents=True)
    (tmp_path / "demo" / "mine.txt").write_text("mine")
    (tmp_path / "demo" / "sub" / "plan.csv").write_text("old")
    with folder_beside(tmp_path / "demo") as folder:
        (folder / "sub").mkdir()
        (folder / "sub" / "plan.csv").write_text("new")
    assert names(tmp_path / "demo") == ["mine.txt", "sub"]
    assert (tmp_path / "demo" / "sub" / "plan.csv").read_text() == "new"
    assert names(tmp_path) == ["demo"]


@pytest.mark.parametrize(
    ("taken", "says"), [("b/plan.csv", "b/plan.csv: is a folder where"), ("c", "c: is a file where")]
)
def test_a_taken_name_leaves_the_old_set_untouched(tmp_path, taken, says):
    target = tmp_path / "demo"
    target.mkdir()
    (target / "a.csv").write_text("old")
    if taken == "c":
        (target / "c").write_text("mine")
    else:
        (target / taken).mkdir(parents=True)
    with pytest.raises(InputError, match=says), folder_beside(target) as folder:
        for name in ("a.csv", "b/plan.csv", "c/plan.csv"):
            (folder / name).parent.mkdir(exist_ok=True)
            (folder / name).write_text("new")
    assert (target / "a.csv").read_text() == "old"
    assert names(target) == ["a.csv", taken.split("/")[0]]
    assert names(tmp_path) == ["demo"]


def test_a_failed_folder_leaves_nothing(tmp_path):
    with pytest.raises(RuntimeError), folder_beside(tmp_path / "demo") as folder:
        (folder / "a").write_text("a")
        raise RuntimeError
    assert names(tmp_path) == []


def test_permissions_follow_the_umask(tmp_path):
    before = os.umask(0o027)
    try:
        write_text(tmp_path / "a", "a")
        with folder_beside(tmp_path / "b"):
            pass
    finally:
        os.umask(before)
    assert (tmp_path / "a").stat().st_mode & 0o777 == 0o640
    assert (tmp_path / "b").stat().st_mode & 0o777 == 0o750


def test_a_link_is_followed(tmp_path):
    (tmp_path / "real.txt").write_text("old")
    (tmp_path / "link.txt").symlink_to("real.txt")
    write_text(tmp_path / "link.txt", "new")
    assert (tmp_path / "link.txt").is_symlink()
    assert (tmp_path / "real.txt").read_text() == "new"


def test_a_device_is_written_in_place():
    write_text(Path("/dev/null"), "gone")
    assert Path("/dev/null").is_char_device()


def test_places_that_can_not_be_written_give_one_line(tmp_path):
    (tmp_path / "file").write_text("")
    (tmp_path / "folder").mkdir()
    for write in (
        lambda: write_text(tmp_path / "folder", "x"),
        lambda: write_text(tmp_path / "file" / "below", "x"),
        lambda: write_text(tmp_path / ("n" * 300), "x"),
        lambda: folder_beside(tmp_path / "file").__enter__(),
        lambda: folder_beside(tmp_path / "file" / "below").__enter__(),
    ):
        with pytest.raises(InputError) as caught:
            write()
        assert "\n" not in str(caught.value)
