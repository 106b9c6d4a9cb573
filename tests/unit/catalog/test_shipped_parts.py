"""The shipped data: every file loads, every figure has a source, and no trap of the units is stepped into."""

from collections import Counter
from pathlib import Path

import pytest

from gpufabric.catalog.load import FOLDERS, load_catalog
from gpufabric.catalog.part_file import MODELS, read_part_file
from gpufabric.records.parts import AnyPart, Part, ServerPart, SwitchPart
from gpufabric.units import parse_rate

CATALOG = load_catalog()
FILES = sorted((Path(__file__).parents[3] / "src/gpufabric/catalog/parts").rglob("*.toml"))
SERVERS = CATALOG.ids("server")
SWITCHES = CATALOG.ids("switch")


def values_at(value: object, path: list[str]) -> list[object]:
    if isinstance(value, tuple):
        return [found for item in value for found in values_at(item, path)]
    if not path:
        return [] if value in (None, "") else [value]
    return values_at(getattr(value, path[0]), path[1:])


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_file_is_a_part_of_its_folder(path: Path) -> None:
    part = read_part_file(path)
    assert part.id == path.stem
    assert path.parent.name == FOLDERS[part.kind]
    assert CATALOG.get(part.id) == part


def test_no_file_is_missed() -> None:
    assert len(FILES) == len(CATALOG.ids())
    assert {part.kind for part in CATALOG.of_kind()} == set(MODELS)


@pytest.mark.parametrize("part", CATALOG.of_kind(), ids=lambda part: part.id)
def test_every_figure_has_a_source_or_says_that_it_is_assumed(part: AnyPart) -> None:
    for name in type(part).model_fields:
        if name in Part.model_fields or name == "kind" or getattr(part, name) in (None, "", ()):
            continue
        key = part.source_of.get(name, part.default_source)
        assert part.sources[key].title
    for key, source in part.sources.items():
        used = key == part.default_source or key in part.source_of.values()
        assert used, f"source {key} is not used"
        assert source.url.startswith(("https://", "http://"))


@pytest.mark.parametrize("part", CATALOG.of_kind(), ids=lambda part: part.id)
def test_every_mark_is_about_a_value_that_is_there(part: AnyPart) -> None:
    for mark in (*part.source_of, *part.secondary, *part.assumed):
        assert values_at(part, mark.split(".")), f"{mark} is marked but has no value"


def test_no_two_parts_share_a_name() -> None:
    names = Counter(
        name
        for part in CATALOG.of_kind()
        for name in {text.lower() for text in (part.id, part.part_number, *part.aliases) if text}
    )
    assert [name for name, count in names.items() if count > 1] == []


def fabric_rate(switch: SwitchPart, mode: int) -> float:
    groups = [group for group in switch.cages if group.purpose == "fabric"]
    modes = [group.modes[min(mode, len(group.modes) - 1)] for group in groups]
    return sum(g.count * m.ports * m.port_bytes_per_s for g, m in zip(groups, modes, strict=True))


@pytest.mark.parametrize("name", SWITCHES)
def test_the_native_ports_of_a_switch_fill_its_throughput(name: str) -> None:
    switch = CATALOG.switch(name)
    assert switch.throughput_bytes_per_s is not None
    assert fabric_rate(switch, 0) == pytest.approx(switch.throughput_bytes_per_s)


@pytest.mark.parametrize("name", SWITCHES)
def test_no_split_exceeds_the_throughput_or_the_cage(name: str) -> None:
    for group in CATALOG.switch(name).cages:
        native = group.modes[0].ports * group.modes[0].port_bytes_per_s
        for mode in group.modes:
            assert mode.ports * mode.port_bytes_per_s <= native * (1 + 1e-12)


@pytest.mark.parametrize(
    ("name", "ports", "rate", "throughput"),
    [
        ("qm8700", 40, "200 Gb/s", "8 Tb/s"),
        ("qm9700", 64, "400 Gb/s", "25.6 Tb/s"),
        ("qm9790", 64, "400 Gb/s", "25.6 Tb/s"),
        ("q3400-ra", 144, "800 Gb/s", "115.2 Tb/s"),
        ("sn5600", 64, "800 Gb/s", "51.2 Tb/s"),
        ("sn6600", 128, "800 Gb/s", "102.4 Tb/s"),
    ],
)
def test_switches_count_logical_ports_in_one_direction(
    name: str, ports: int, rate: str, throughput: str
) -> None:
    switch = CATALOG.switch(name)
    group = switch.cages[0]
    assert group.count * group.modes[0].ports == ports
    assert group.modes[0].port_bytes_per_s == parse_rate(rate)
    assert switch.throughput_bytes_per_s == parse_rate(throughput)


def test_splits_that_have_a_price() -> None:
    split = CATALOG.switch("sn5600").cages[0].modes[3]
    assert (split.ports, split.port_bytes_per_s, split.disables_next_cage) == (
        8,
        parse_rate("100 Gb/s"),
        True,
    )
    assert CATALOG.switch("ds5000").logical_port_limit == (2, 10)


@pytest.mark.parametrize(
    ("name", "per_direction", "dense_bf16", "dense_fp8"),
    [
        ("a100-sxm4-80gb", 300e9, 312e12, None),
        ("h100-sxm", 450e9, 989e12, 1979e12),
        ("h200-sxm", 450e9, 989e12, 1979e12),
        ("b200-sxm", 900e9, 2250e12, 4500e12),
        ("gb200", 900e9, 2500e12, 5000e12),
        ("mi300x", 448e9, 1300e12, 2610e12),
    ],
)
def test_gpus_are_dense_and_per_direction(
    name: str, per_direction: float, dense_bf16: float, dense_fp8: float | None
) -> None:
    gpu = CATALOG.gpu(name)
    assert gpu.scale_up_links is not None
    assert gpu.scale_up_bytes_per_s_per_link is not None
    assert gpu.scale_up_links * gpu.scale_up_bytes_per_s_per_link == pytest.approx(per_direction)
    assert (gpu.flops_bf16, gpu.flops_fp8) == (dense_bf16, dense_fp8)


@pytest.mark.parametrize("name", SERVERS)
def test_servers_agree_with_their_parts(name: str) -> None:
    server = CATALOG.server(name)
    gpu = CATALOG.gpu(server.gpu)
    assert gpu.scale_up_links is not None
    assert gpu.scale_up_bytes_per_s_per_link is not None
    assert server.scale_up.gpu_bytes_per_s == gpu.scale_up_links * gpu.scale_up_bytes_per_s_per_link
    connectors = {
        cage: group.connector
        for group in server.cages
        for cage in range(group.first, group.first + group.count)
    }
    for nic in server.nics:
        part = CATALOG.nic(nic.part)
        assert len(nic.ports) <= part.ports
        for port in nic.ports:
            assert part.connector in (None, connectors[port.cage])


@pytest.mark.parametrize("name", SERVERS)
def test_each_rail_appears_once_a_plane_beside_the_gpu_of_its_number(name: str) -> None:
    server = CATALOG.server(name)
    seen = Counter(
        (port.plane, port.rail) for nic in server.nics if nic.purpose == "compute" for port in nic.ports
    )
    planes = {plane for plane, _ in seen}
    assert seen == Counter({(plane, gpu.index): 1 for plane in planes for gpu in server.gpus})
    for nic in server.nics:
        if nic.purpose == "compute":
            assert {port.rail for port in nic.ports} == {nic.gpu}
            assert nic.pcie == server.gpus[nic.gpu or 0].pcie
        else:
            assert {port.rail for port in nic.ports} == {None}


def cage_map(server: ServerPart) -> dict[int, tuple[str, int, int]]:
    return {
        nic.gpu: (nic.name, nic.ports[0].cage, nic.ports[0].lane)
        for nic in server.nics
        if nic.gpu is not None
    }


def test_the_cages_of_a_dgx_h100_are_those_of_its_guide() -> None:
    # DGX H100/H200 user guide, Table 6: the order of the cages is not the order of the GPUs.
    assert cage_map(CATALOG.server("dgx-h100")) == {
        0: ("mlx5_0", 4, 2),
        1: ("mlx5_3", 3, 2),
        2: ("mlx5_4", 3, 1),
        3: ("mlx5_5", 4, 1),
        4: ("mlx5_6", 1, 2),
        5: ("mlx5_9", 2, 2),
        6: ("mlx5_10", 2, 1),
        7: ("mlx5_11", 1, 1),
    }


def test_the_cages_of_a_dgx_b200_are_marked_as_assumed() -> None:
    server = CATALOG.server("dgx-b200")
    assert "not published" in server.assumed["nics.ports"]
    assert {cage for _, cage, _ in cage_map(server).values()} == {1, 2, 3, 4}


def test_the_two_networks_of_a_dgx_b300() -> None:
    xdr, spectrum = CATALOG.server("dgx-b300-xdr"), CATALOG.server("dgx-b300-spectrum")
    for server, ports, rate in ((xdr, 1, "800 Gb/s"), (spectrum, 2, "400 Gb/s")):
        nics = [nic for nic in server.nics if nic.purpose == "compute"]
        assert [[port.plane for port in nic.ports] for nic in nics] == [list(range(ports))] * 8
        assert {CATALOG.nic(nic.part).port_bytes_per_s for nic in nics} == {parse_rate(rate)}


def test_a_mesh_pair_has_its_own_links_only() -> None:
    up = CATALOG.server("hgx-mi300x").scale_up
    assert (up.kind, up.gpu_bytes_per_s, up.pair_bytes_per_s) == ("mesh", 448e9, 64e9)


def test_a_rack_of_trays_is_one_domain() -> None:
    server = CATALOG.server("gb200-nvl72-tray")
    assert len(server.gpus) * server.scale_up.domain_servers == 72


def test_two_gpus_of_a_dgx_a100_share_a_pcie_switch() -> None:
    shared = Counter(gpu.pcie for gpu in CATALOG.server("dgx-a100").gpus)
    assert set(shared.values()) == {2}


@pytest.mark.parametrize("cable", CATALOG.of_kind("cable"), ids=lambda part: part.id)
def test_lengths_on_sale_are_within_reach(cable: AnyPart) -> None:
    assert cable.kind == "cable"
    assert list(cable.lengths_m) == sorted(cable.lengths_m)
    assert cable.reach_m is None or max(cable.lengths_m, default=0) <= cable.reach_m
    assert cable.links % cable.b_ends == 0


def test_modules_stay_within_the_power_of_their_cages() -> None:
    cage = CATALOG.switch("qm9700").cages[0]
    for name in ("mma4z00-ns", "mms4x00-ns"):
        module = CATALOG.get(name, "transceiver")
        assert module.kind == "transceiver"
        assert module.max_power_w is not None
        assert module.connector == cage.connector
        assert module.max_power_w <= (cage.max_module_power_w or 0)
