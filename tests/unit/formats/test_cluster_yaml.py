"""Reading cluster descriptions: values, defaults, server counts, presets and paths."""

import io
import sys
from pathlib import Path

import pytest

from gpufabric.errors import InputError, SpecError
from gpufabric.formats.cluster_yaml import parse_cluster_spec, read_cluster_spec, resolve_spec
from gpufabric.records.cluster_spec import ClusterSpec
from gpufabric.records.generic_parts import GenericServer, GenericSwitch

CAPTURED = Path(__file__).parents[2] / "captured" / "descriptions" / "cluster"
SERVERS = "servers: {model: {gpus: 8, nics: 8, nic_rate: 400 Gb/s}, count: 12}\n"


def parse(text: str) -> ClusterSpec:
    return parse_cluster_spec(text, "x.yaml")


def fabric_with(text: str):
    return parse(f"{SERVERS}fabrics:\n  topology: fat-tree\n  {text}\n").fabrics[0]


def test_two_groups():
    spec = read_cluster_spec(CAPTURED / "good" / "two_groups.yaml")
    assert [(g.name, g.count, g.purpose) for g in spec.servers] == [
        ("old", 16, "compute"),
        ("new", 12, "compute"),
        ("files", 6, "storage"),
    ]
    new = spec.servers[1].model
    assert isinstance(new, GenericServer)
    assert (new.nic_rate, new.scale_up) == (50e9, 900e9)
    compute, storage = spec.fabrics
    assert isinstance(compute.switch, GenericSwitch)
    assert (compute.oversubscription, compute.leaf.oversubscription, compute.core.oversubscription) == (
        2.0,
        4 / 3,
        1.0,
    )
    assert compute.leaf == compute.spine
    assert compute.cables.server_leaf.length == 1.5
    assert (storage.purpose, storage.ecmp.queue_pairs, storage.routing) == ("storage", 4, "adaptive")
    assert spec.room.rack_power == 40e3
    assert spec.library.settings == {"NCCL_IB_QPS_PER_CONNECTION": "4", "NCCL_ALGO": "Ring"}
    assert spec.faults[0].rate == 12.5e9


def test_paths_are_taken_from_the_folder_of_the_description():
    folder = CAPTURED / "good"
    spec = read_cluster_spec(folder / "two_groups.yaml")
    assert spec.parts == str(folder / "my-parts")
    assert spec.prices == str(folder / "prices.csv")
    assert spec.rank_order.file == str(folder / "hosts.txt")


def test_an_absolute_path_stays(tmp_path):
    file = tmp_path / "c.yaml"
    file.write_text(f"{SERVERS}fabrics: {{topology: fat-tree}}\nprices: /a/prices.csv\n")
    assert read_cluster_spec(file).prices == "/a/prices.csv"


@pytest.mark.parametrize(
    ("text", "ratio"),
    [
        ("1:1", 1),
        ('"1:1"', 1),
        ("2:1", 2),
        ("'2:1'", 2),
        ("4:3", 4 / 3),
        ("2", 2),
        ("1.5", 1.5),
        ("1.067:1", 1.067),
    ],
)
def test_ratios_quoted_and_not(text, ratio):
    assert fabric_with(f"oversubscription: {text}").oversubscription == pytest.approx(ratio)


def test_octal_looking_numbers_are_decimal():
    assert fabric_with("unit_servers: 012").unit_servers == 12


@pytest.mark.parametrize("word", ["on", "off", "yes", "no", "y", "True1"])
def test_old_booleans_are_text(word):
    with pytest.raises(SpecError, match=f'takes_server "{word}" is not true or false'):
        fabric_with(f"managers: {{takes_server: {word}}}")


@pytest.mark.parametrize(("word", "value"), [("true", True), ("False", False), ("TRUE", True)])
def test_booleans_of_yaml_1_2(word, value):
    managers = fabric_with(f"managers: {{takes_server: {word}}}").managers
    assert managers is not None
    assert managers.takes_server is value


def test_short_forms_equal_long_forms():
    short = read_cluster_spec(CAPTURED / "good" / "short_form.yaml")
    long = parse(
        "name: twelve\nservers:\n- model:\n    gpus: 8\n    nics: 8\n    nic_rate: 400 Gb/s\n  count: 12\n"
        "fabrics:\n- topology: single-switch\n  switch:\n    ports: 128\n    rate: 400 Gb/s\n"
    )
    assert short == long


def test_units_less_the_server_that_managers_take():
    assert read_cluster_spec(CAPTURED / "good" / "units_of_own.yaml").servers[0].count == 47


@pytest.mark.parametrize(("count", "fits"), [(32, False), (33, True), (64, True), (65, False)])
def test_units_and_count_must_agree(count, fits):
    text = f"preset: superpod-h100\nunits: 2\nservers: {{count: {count}}}\n"
    if fits:
        assert parse(text).servers[0].count == count
    else:
        with pytest.raises(SpecError, match=r"^x\.yaml:2: .*contradict"):
            parse(text)


def test_presets_fill_in_what_is_not_said():
    spec = read_cluster_spec(CAPTURED / "good" / "preset_and_units.yaml")
    assert (spec.name, spec.units, spec.servers[0].count) == ("superpod-b200", 2, 64)
    fabric = spec.fabrics[0]
    assert (fabric.switch, fabric.routing, fabric.managers, fabric.unit_servers) == (
        "qm9790",
        "static",
        None,
        32,
    )


def test_own_count_wins_over_the_units_of_a_preset():
    spec = parse("preset: superpod-b200\nservers: {count: 100}\n")
    assert (spec.units, spec.servers[0].count, spec.servers[0].model) == (None, 100, "dgx-b200")


def test_own_units_win_over_the_count_of_a_preset():
    spec = parse("preset: leaf-spine-roce\nunits: 3\nfabrics: {unit_servers: 16}\n")
    assert (spec.units, spec.servers[0].count) == (3, 48)


def test_a_list_replaces_the_groups_of_a_preset():
    spec = parse("preset: superpod-b200\nservers:\n- {model: a, count: 3}\n- {name: b, model: b, count: 4}\n")
    assert [(g.model, g.count) for g in spec.servers] == [("a", 3), ("b", 4)]


def test_an_error_inside_merged_keys_names_the_users_line():
    with pytest.raises(SpecError, match=r"^x\.yaml:3: unit_servers 0 is out of range"):
        parse("preset: superpod-b200\nfabrics:\n  unit_servers: 0\n")


def test_resolve_knows_presets_and_files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert resolve_spec("preset:superpod-b200") == resolve_spec("superpod-b200")
    Path("superpod-b200").write_text(f"name: mine\n{SERVERS}fabrics: {{topology: fat-tree}}\n")
    assert resolve_spec("superpod-b200").name == "mine"
    assert resolve_spec("preset:superpod-b200").name == "superpod-b200"


def test_resolve_suggests_a_preset():
    with pytest.raises(InputError, match=r'^superpod-b20: no such file; .* Did you mean "superpod-b200"\?$'):
        resolve_spec("superpod-b20")
    with pytest.raises(InputError, match=r'^preset "nothing" is unknown; known: '):
        resolve_spec("preset:nothing")


def test_standard_input(monkeypatch):
    text = f"{SERVERS}fabrics: {{topology: fat-tree}}\nparts: p\n"
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    assert resolve_spec("-").parts == "p"
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"a: [")))
    with pytest.raises(SpecError, match=r"^standard input:1: is not valid YAML"):
        resolve_spec("-")
