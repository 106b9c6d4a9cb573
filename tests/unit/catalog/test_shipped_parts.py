"""The shipped data: every file loads, every figure has a source, and no trap of the units is stepped into."""

from collections import Counter
from pathlib import Path

import pytest
from pydantic import ValidationError

from gpufabric.catalog.load import FOLDERS, load_catalog
from gpufabric.catalog.part_file import MODELS, read_part_file
from gpufabric.records.parts import AnyPart, Part, Price, SwitchPart
from gpufabric.units import parse_rate

CATALOG = load_catalog()
FILES = sorted((Path(__file__).parents[3] / "src/gpufabric/catalog/parts").rglob("*.toml"))
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
    groups = [group for group in switch.cages if group.purpose != "management"]
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
        ("sn6800-ld", 512, "800 Gb/s", "409.6 Tb/s"),
        ("q3200-ra", 36, "800 Gb/s", "28.8 Tb/s"),
        ("n9364e-sp2r", 64, "800 Gb/s", "51.2 Tb/s"),
        ("tomahawk-6-128x800g", 128, "800 Gb/s", "102.4 Tb/s"),
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
        ("gb300", 900e9, 2500e12, 5000e12),
        ("h800-sxm", 200e9, 989e12, 1979e12),
        ("h20-sxm", 450e9, 148e12, 296e12),
        ("mi250x", 350e9, 383e12, None),
        ("mi300x", 448e9, 1300e12, 2610e12),
        ("mi325x", 448e9, 1300e12, 2610e12),
        ("mi355x", 535.5e9, 2500e12, 5000e12),
        ("gaudi-3", 600e9, 1677e12, 1677e12),
        ("gaudi-2", 300e9, 432e12, 865e12),
        ("v100-sxm2-32gb", 150e9, None, None),
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


@pytest.mark.parametrize(
    ("name", "field", "headline", "factor"),
    [
        ("h100-sxm", "flops_bf16", 1979e12, 2),
        ("h100-sxm", "flops_fp8", 3958e12, 2),
        ("b200-sxm", "flops_fp4", 18e15, 2),
        # With 2:4 sparsity and FP16 accumulation; each doubles the rate of dense with FP32 accumulation.
        ("rtx-5090", "flops_fp16", 838.4e12, 4),
    ],
)
def test_printed_rates_with_sparsity_are_not_stored(
    name: str, field: str, headline: float, factor: int
) -> None:
    assert getattr(CATALOG.gpu(name), field) * factor == pytest.approx(headline, rel=1e-3)


def test_a_module_of_two_dies_is_two_gpus_to_software() -> None:
    module, die = CATALOG.gpu("mi250x"), CATALOG.gpu("mi250x-gcd")
    for field in ("hbm_bytes", "hbm_bytes_per_s", "flops_fp32", "flops_bf16", "flops_fp16"):
        assert 2 * getattr(die, field) == pytest.approx(getattr(module, field))


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


def test_prices_in_other_currencies_are_kept_apart() -> None:
    switch = CATALOG.switch("n9600-64od")
    assert switch.price is not None
    assert (switch.price.amount, switch.price.currency, switch.price_usd) == (30136, "EUR", None)


def test_a_price_in_dollars_has_one_place() -> None:
    with pytest.raises(ValidationError, match="write it as price_usd"):
        Price(amount=1, currency="USD")


@pytest.mark.parametrize("fibres", [48, 72, 144, 576])
def test_a_trunk_has_twelve_fibres_a_plug(fibres: int) -> None:
    for medium in ("multimode", "single-mode"):
        trunk = CATALOG.get(f"mpo-12-trunk-{fibres}-{medium}", "cable")
        assert trunk.kind == "cable"
        assert (trunk.technology, trunk.links * 12, trunk.medium) == ("trunk", fibres, medium)


def test_racks_and_what_feeds_them() -> None:
    rack, shelf, feed = (CATALOG.get(name) for name in ("rack-52u", "gb200-power-shelf", "feed-380v-32a"))
    assert rack.kind == "rack"
    assert (rack.rack_units, rack.width_m, rack.depth_m) == pytest.approx((52, 0.7, 1.2))
    assert shelf.kind == feed.kind == "pdu"
    assert shelf.max_power_w == 33_000
    assert feed.max_power_w == pytest.approx(3**0.5 * 380 * 32, rel=2e-3)
    manager = CATALOG.get("ufm", "appliance")
    assert manager.kind == "appliance"
    assert (manager.purpose, manager.max_power_w, manager.rack_units) == ("fabric-manager", 689, 1)
