"""A measured table comes back from its log as it was."""

import io

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpufabric.cli.run import run
from gpufabric.collectives.bus_factors import bus_factor
from gpufabric.formats.measured_table_write import HowMeasured, write_measured_table
from gpufabric.formats.nccl_tests_text import read_nccl_tests
from gpufabric.lab.bench_worker import EXCHANGES
from gpufabric.records.measurements import MeasuredRow, MeasuredTable


def made_table(op, ranks, times, wrong=0):
    factor = bus_factor(op, ranks)
    rows = []
    for number, (size, *both) in enumerate(times):
        for in_place, time in zip((False, True), both, strict=True):
            rate = size / time
            bad = wrong if number == 0 else 0
            rows.append(MeasuredRow(0, size, time, rate, rate * factor, in_place, bad, size // 4))
    root = 0 if op in ("broadcast", "reduce") else None
    redop = "sum" if op in ("all_reduce", "reduce_scatter", "reduce") else "none"
    return MeasuredTable(op, "float", redop, root, ranks, (("a", ranks),), "NVIDIA B200", tuple(rows))


def made_run(ranks):
    devices = [f"{rank % 8:>2} [0000:1{rank % 8}:00] NVIDIA B200" for rank in range(ranks)]
    return HowMeasured([f"node{rank // 8}" for rank in range(ranks)], devices, 2, 5, 20, ("as measured",))


def read(text):
    return read_nccl_tests(io.BytesIO(text.encode()), "log")


@pytest.mark.parametrize("op", EXCHANGES)
def test_operation_ranks_and_hosts_come_back(op):
    table = made_table(op, 16, [(1 << 28, 1e-3, 2e-3), (1 << 33, 4e-2, 5e-2)])
    said = read(write_measured_table(table, made_run(16)))
    (back,) = said.tables
    assert (back.op, back.ranks, back.root) == (op, 16, -1 if table.root is None else table.root)
    assert back.hosts == (("node0", 8), ("node1", 8))
    assert back.gpu_name == "NVIDIA B200"
    assert (said.lines_not_understood, said.findings) == (0, ())


@settings(max_examples=25)
@given(
    st.integers(2, 64),
    st.lists(st.tuples(st.floats(1e-5, 50.0), st.floats(1e-5, 50.0)), min_size=1, max_size=5),
)
def test_times_come_back(ranks, times):
    table = made_table("all_reduce", ranks, [(1 << (26 + i), *both) for i, both in enumerate(times)])
    (back,) = read(write_measured_table(table, made_run(ranks))).tables
    for here, there in zip(table.rows, back.rows, strict=True):
        assert (here.size_bytes, here.in_place, here.wrong) == (there.size_bytes, there.in_place, there.wrong)
        assert there.time_s == pytest.approx(here.time_s, rel=1e-3)
        assert there.consistent


def test_wrong_elements_and_halves_that_were_not_checked_come_back():
    table = made_table("all_reduce", 4, [(1 << 28, 1e-3, 2e-3)], wrong=7)
    (back,) = read(write_measured_table(table, made_run(4))).tables
    assert [row.wrong for row in back.rows] == [7, 7]
    assert back.out_of_bounds
    table = made_table("all_to_all", 4, [(1 << 28, 1e-3, 2e-3)], wrong=None)
    (back,) = read(write_measured_table(table, made_run(4))).tables
    assert [row.wrong for row in back.rows] == [None, None]


@pytest.mark.slow
def test_check_and_calibrate_take_it(tmp_path, capsys):
    # The rates of the healthy example: about 360 GB/s of bus bandwidth at 1 GiB and above.
    factor = bus_factor("all_reduce", 128)
    sizes = [1 << power for power in range(28, 34)]
    times = [(size, size * factor / 350e9, size * factor / 355e9) for size in sizes]
    log = tmp_path / "bench.txt"
    log.write_text(write_measured_table(made_table("all_reduce", 128, times), made_run(128)))
    assert run(["check", "superpod-b200", str(log), "--json"]) in (0, 1)
    assert '"verdict"' in capsys.readouterr().out
    assert run(["calibrate", str(log), "--spec", "superpod-b200", "--json"]) == 0
    assert '"rows": 12' in capsys.readouterr().out
