"""A user's folder: what it adds, what it replaces, and that a hostile one gives one clear line."""

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gpufabric.catalog import user_folder
from gpufabric.catalog.load import load_catalog
from gpufabric.catalog.part_file import MAX_FILE_BYTES, read_part_file
from gpufabric.errors import PartError

LEAF = """
id = "{id}"
kind = "switch"
vendor = "Example Networks"
model = "Leaf"
status = "generic"
network = "ethernet"
[[cages]]
count = 4
modes = [{{ ports = 2, port_bytes_per_s = "100 Gb/s" }}]
"""


def write(folder: Path, name: str, text: str | bytes | None = None) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    data = LEAF.format(id=path.stem) if text is None else text
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return path


def complaint(folder: Path) -> str:
    """Return the lines that the folder is refused with, one a fault."""
    with pytest.raises(PartError) as caught:
        load_catalog(folder)
    message = str(caught.value)
    assert all(line.isprintable() and len(line) < 2000 for line in message.split("\n"))
    return message


def test_parts_are_found_anywhere_below_the_folder(tmp_path: Path) -> None:
    write(tmp_path, "a/b/c/deep-leaf.toml")
    write(tmp_path, "flat-leaf.toml")
    write(tmp_path, "notes.txt", "not a part")
    write(tmp_path, ".hidden/broken.toml", "no")
    catalog = load_catalog(tmp_path)
    assert sorted(catalog.user) == ["deep-leaf", "flat-leaf"]
    assert catalog.switch("DEEP-LEAF").vendor == "Example Networks"
    assert catalog.overridden == ()


def test_an_empty_folder_adds_nothing(tmp_path: Path) -> None:
    assert load_catalog(tmp_path).ids() == load_catalog().ids()


def test_a_part_with_a_shipped_id_replaces_it_and_is_listed(tmp_path: Path) -> None:
    write(tmp_path, "qm9790.toml")
    catalog = load_catalog(tmp_path)
    assert catalog.overridden == ("qm9790",)
    assert catalog.switch("qm9790").vendor == "Example Networks"
    assert load_catalog().switch("qm9790").vendor == "NVIDIA"


def test_a_replacement_may_be_of_another_kind(tmp_path: Path) -> None:
    write(tmp_path, "h100-sxm.toml")
    catalog = load_catalog(tmp_path)
    assert "h100-sxm" in catalog.ids("switch")
    assert "h100-sxm" not in catalog.ids("gpu")


def test_the_same_id_twice_names_both_files(tmp_path: Path) -> None:
    write(tmp_path, "a/leaf.toml")
    write(tmp_path, "b/leaf.toml")
    message = complaint(tmp_path)
    assert "b/leaf.toml: id: leaf is also in" in message
    assert "a/leaf.toml" in message


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("id = ", "leaf.toml: is not TOML"),
        ("\x00\x01\x02", "leaf.toml: is not TOML"),
        (b"\xff\xfe\x00", "leaf.toml: byte 0 is not UTF-8"),
        ("x = " + "[" * 20_000, "leaf.toml: lists are nested too deeply"),
        ("x = " + "9" * 20_000, "leaf.toml: is not TOML"),
        ("", "leaf.toml: kind: is missing; allowed: gpu, server, nic"),
        ("kind = 7", 'leaf.toml: kind: "7" is unknown'),
        ('kind = "swich"', 'Did you mean "switch"?'),
        ('kind = "switch"', "leaf.toml: id: is missing"),
        (LEAF.format(id="other"), 'leaf.toml: id: "other" differs from the file\'s name "leaf"'),
        (LEAF.format(id="Leaf"), "leaf.toml: id: "),
        ("rak_units = 1\n" + LEAF.format(id="leaf"), 'key "rak_units" is unknown; known: id, vendor'),
        ("rak_units = 1\n" + LEAF.format(id="leaf"), 'Did you mean "rack_units"?'),
        (
            "rack_units = -1\n" + LEAF.format(id="leaf"),
            "rack_units: input should be greater than or equal to 0",
        ),
        ("rack_units = inf\n" + LEAF.format(id="leaf"), "rack_units: input should be a finite number"),
        ("rack_units = [1]\n" + LEAF.format(id="leaf"), "(found a list of 1)"),
        ('max_power_w = "1 kV"\n' + LEAF.format(id="leaf"), 'max_power_w: power "1 kV" is not understood'),
        ("max_power_w = 300\n" + LEAF.format(id="leaf"), "max_power_w: power 300 has no unit"),
        ('max_power_w = "1e999 W"\n' + LEAF.format(id="leaf"), "must be positive and finite"),
        ('airflow = "\\u001b[31mred"\n' + LEAF.format(id="leaf"), "airflow: has control characters"),
        ('"a\\u001b" = 1\n' + LEAF.format(id="leaf"), 'key "a\\x1b" is unknown'),
        (LEAF.format(id="leaf").replace("100 Gb/s", "100"), "cages[0].modes[0].port_bytes_per_s: rate"),
        (LEAF.format(id="leaf").replace("ports = 2", "port = 2"), 'cages[0].modes[0]: key "port" is unknown'),
        (
            LEAF.format(id="leaf").replace("count = 4", "count = 10_000_000"),
            "cages[0].count: input should be less",
        ),
        (
            LEAF.format(id="leaf").replace("ports = 2", "ports = 1_000_000"),
            "cages have 4000000 ports together",
        ),
        (LEAF.format(id="leaf").replace("generic", "shipping"), "a part needs at least one source"),
        (LEAF.format(id="leaf").replace("modes", "#"), "cages[0].modes: is missing"),
        ('source_of = { rack_units = "x" }\n' + LEAF.format(id="leaf"), 'names source "x", which is not in'),
        ('secondary = ["weigth"]\n' + LEAF.format(id="leaf"), '"weigth" is marked but is not a field'),
        (
            LEAF.format(id="leaf")
            + '[sources.x]\ntitle = "t"\nurl = "javascript:alert(1)"\nread = "2026-09"\n',
            "sources.x.url: string should match pattern",
        ),
    ],
)
def test_a_wrong_file_is_refused_in_one_line_a_fault(tmp_path: Path, text: str | bytes, said: str) -> None:
    write(tmp_path, "leaf.toml", text)
    message = complaint(tmp_path)
    assert said in message
    assert str(tmp_path) in message


def test_every_fault_of_a_file_has_its_line(tmp_path: Path) -> None:
    text = LEAF.format(id="leaf").replace("modes", "#")
    path = write(tmp_path, "leaf.toml", 'rak_units = 1\nmax_power_w = "1 kV"\n' + text)
    unknown, modes, power = complaint(tmp_path).split("\n")
    assert unknown.startswith(f'{path}: key "rak_units" is unknown; known: id, vendor')
    assert power.startswith(f'{path}: max_power_w: power "1 kV" is not understood')
    assert modes == f"{path}: cages[0].modes: is missing; it is required; add it"


@pytest.mark.parametrize(
    ("wrong", "last"), [(10, "key "), (11, "has 1 more fault; "), (13, "has 3 more faults; ")]
)
def test_of_many_faults_ten_are_said(tmp_path: Path, wrong: int, last: str) -> None:
    keys = "".join(f"key{number} = 1\n" for number in range(wrong))
    lines = complaint_of(tmp_path, keys + LEAF.format(id="leaf")).split("\n")
    assert len(lines) == min(wrong, 11)
    assert lines[-1].split(".toml: ")[1].startswith(last)


def complaint_of(folder: Path, text: str) -> str:
    write(folder, "leaf.toml", text)
    return complaint(folder)


SERVER = """
id = "box"
kind = "server"
vendor = "Example Systems"
model = "Box"
status = "generic"
gpu = "h100-sxm"
scale_up = { kind = "pcie", gpu_bytes_per_s = "63 GB/s" }
gpus = [{ index = 0, pcie = "p0" }]
pcie = [{ id = "p0", bytes_per_s = "63 GB/s" }]
nics = [{ name = "n0", part = "connectx-7", pcie = "p0", gpu = 0, ports = [{ cage = 1 }] }]
cages = [{ count = 1, connector = "osfp-flat" }]
"""


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('index = 0, pcie = "p0"', 'index = 0, pcie = "p9"', 'gpu 0 hangs on pcie "p9", which is not listed'),
        ("index = 0", "index = 1", "gpus must be numbered 0, 1, 2"),
        ("cage = 1", "cage = 2", "n0 uses cage 2 lane 1, which no [[cages]] group has"),
        ("cage = 1", "cage = 1, lane = 2", "n0 uses cage 1 lane 2, which no [[cages]] group has"),
        ("{ cage = 1 }", "{ cage = 1 }, { cage = 1 }", "cage 1 lane 1 is used twice"),
        ("gpu = 0, ports", "gpu = 5, ports", "n0 stands beside gpu 5; there are 1"),
        ("count = 1,", "count = 1_000_000,", "cages[0].count: input should be less than or equal to 4096"),
    ],
)
def test_a_server_that_does_not_fit_together_is_refused(
    tmp_path: Path, old: str, new: str, said: str
) -> None:
    assert old in SERVER
    write(tmp_path, "box.toml", SERVER.replace(old, new))
    assert said in complaint(tmp_path)


def test_a_file_that_is_too_long_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path, "leaf.toml", "#" * (MAX_FILE_BYTES + 1))
    assert f"at most {MAX_FILE_BYTES:,} bytes" in complaint(tmp_path)
    with pytest.raises(PartError, match="is too long"):
        read_part_file(path)


def test_too_many_files_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(user_folder, "MAX_FILES", 3)
    for index in range(4):
        write(tmp_path, f"leaf-{index}.toml")
    assert "holds too many files; at most 3 are looked at" in complaint(tmp_path)


def test_too_many_bytes_together_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(user_folder, "MAX_TOTAL_BYTES", 300)
    write(tmp_path, "leaf-1.toml")
    write(tmp_path, "leaf-2.toml")
    assert "part files are too long together" in complaint(tmp_path)


def test_folders_nested_too_deeply_are_refused(tmp_path: Path) -> None:
    (tmp_path / "/".join("d" * (user_folder.MAX_DEPTH + 2))).mkdir(parents=True)
    assert "nested too deeply" in complaint(tmp_path)


def test_links_to_folders_are_not_followed(tmp_path: Path) -> None:
    write(tmp_path, "leaf.toml")
    (tmp_path / "loop").symlink_to(tmp_path, target_is_directory=True)
    (tmp_path / "up").symlink_to("/", target_is_directory=True)
    assert sorted(load_catalog(tmp_path).user) == ["leaf"]


def test_a_link_to_a_file_inside_is_followed(tmp_path: Path) -> None:
    write(tmp_path, ".store/leaf.toml")
    (tmp_path / "leaf.toml").symlink_to(tmp_path / ".store/leaf.toml")
    assert sorted(load_catalog(tmp_path).user) == ["leaf"]


def test_a_link_out_of_the_folder_is_refused(tmp_path: Path) -> None:
    outside = write(tmp_path / "outside", "leaf.toml")
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/leaf.toml").symlink_to(outside)
    assert "leaf.toml: is a link that leads out of the parts folder" in complaint(tmp_path / "mine")


@pytest.mark.parametrize("target", ["leaf.toml", "nowhere"])
def test_links_that_lead_nowhere_are_refused(tmp_path: Path, target: str) -> None:
    (tmp_path / "leaf.toml").symlink_to(tmp_path / target)
    assert "leaf.toml: can't be read" in complaint(tmp_path)


def test_a_pipe_is_not_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "leaf.toml")
    assert "is not a plain file" in complaint(tmp_path)


@pytest.mark.parametrize("name", ["missing", "a" * 5000, "nul\0byte"])
def test_a_folder_that_is_not_there_is_refused(tmp_path: Path, name: str) -> None:
    assert "parts folder can't be read" in complaint(tmp_path / name)


def test_a_file_in_place_of_a_folder_is_refused(tmp_path: Path) -> None:
    assert "is not a folder" in complaint(write(tmp_path, "leaf.toml"))


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(PartError, match="can't be read"):
        read_part_file(tmp_path / "leaf.toml")


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_a_damaged_file_is_a_part_or_one_line_a_fault(tmp_path: Path, data: st.DataObject) -> None:
    text = data.draw(st.sampled_from([LEAF.format(id="leaf"), SERVER.replace('"box"', '"leaf"')])).encode()
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, min(len(text), start + 40)))
    path = write(tmp_path, "leaf.toml", text[:start] + data.draw(st.binary(max_size=20)) + text[end:])
    try:
        said = read_part_file(path).id
    except PartError as error:
        said = str(error)
    lines = said.split("\n")
    assert said == "leaf" or all(line.startswith(str(path)) and line.isprintable() for line in lines)
