"""Comparison → table and reasons."""

from gpufabric.jobs.compare import CompareRow, Comparison, WiredFigures
from gpufabric.jobs.port_arithmetic import mesh_floor, switch_floor
from gpufabric.report.compare_table import compare_tables, refusals

WIRED = WiredFigures(
    gpus=16,
    servers=2,
    ports_per_gpu=1.0,
    planes=1,
    tiers=1,
    switches={"leaf": 1, "spine": 0, "core": 0},
    links={"server_leaf": 16},
    cables=16,
    cable_length_m=48.0,
    cables_of_unknown_length=0,
    near_hops=1,
    far_hops=3,
    near_latency_s=1e-6,
    far_latency_s=3e-6,
    near_gpus=8,
    unreached_servers=2,
    injection_bytes_per_s=8e11,
    bisection_bytes_per_s=None,
    power_w=0.0,
    unknown_power_parts=1,
    parts_of_unknown_power=("box",),
    parts_of_typical_power=(),
    price_usd=1200.0,
    unknown_price_parts=1,
)


def shown(*rows):
    return [
        [dict(zip(columns, row, strict=True)) for row in cells]
        for _, columns, cells in compare_tables(Comparison(rows).to_dict())
    ]


def test_every_figure_is_shown_with_its_unit():
    (takes,), (gives,) = shown(
        CompareRow("one", "single-switch", True, wired=WIRED, floor=switch_floor(16, 1, 64))
    )
    assert takes == {
        "alternative": "one",
        "can be built": "yes",
        "ports/GPU": "1",
        "leaf + spine + core": "1",
        "by port count alone": "16 ports; ends at 64",
        "cables": "16",
        "metres": "48 m",
    }
    assert gives == {
        "alternative": "one",
        "switches near – far": "1 – 3 (2 servers unreached)",
        "latency near – far": "1 µs – 3 µs",
        "GPUs near": "8",
        "price": "≥ 1,200 US$",
    }


def test_columns_that_nobody_fills_are_left_out():
    ((row,),) = shown(
        CompareRow("mesh", "full-mesh", False, "too many ports", "less", floor=mesh_floor(9, "gpu"))
    )
    assert list(row) == ["alternative", "can be built", "by port count alone"]
    assert row["by port count alone"] == "8 ports/GPU, 36 cables"


def test_alternatives_with_one_reason_share_a_line():
    rows = [
        CompareRow("a", "fat-tree", False, "no such rate", "another switch"),
        CompareRow("b", "leaf-spine", True, wired=WIRED),
        CompareRow("c", "leaf-spine", False, "no such rate", "another switch"),
        CompareRow("d", "full-mesh", False, "too large"),
    ]
    assert refusals(Comparison(tuple(rows)).to_dict()) == [
        "a; c can't be built: no such rate; nearest that can be built: another switch",
        "d can't be built: too large",
    ]


def test_parts_without_a_known_power_are_named():
    document = Comparison((CompareRow("b", "leaf-spine", True, wired=WIRED),)).to_dict()
    assert "power is a lower bound without that of box, which no source gives" in document["assumptions"]
