import numpy as np
import pytest
from tests.unit.training.plan_rows import DENSE, HARDWARE, MIXTURE, plans

from gpufabric.records.demand import OPS, Purpose
from gpufabric.records.number_formats import NumberFormats
from gpufabric.training.demands import distinct_others, plan_demands
from gpufabric.training.rank_groups import axis_groups


def demanded(row, model=DENSE, formats=None, sequence=4096):
    table = plan_demands(model, plans(row), formats or NumberFormats(), sequence, HARDWARE)
    return [
        (Purpose.NAMES[purpose], OPS[op], size, count, int(group.prod()))
        for purpose, op, size, count, group in zip(
            table.purpose, table.op, table.size_bytes, table.count, table.size, strict=True
        )
    ]


def test_one_gpu_asks_for_nothing():
    assert demanded({}) == []


def test_zero_changes_what_gradients_ask_for():
    parameters = 24 * (2048 * 3072 + 2048 * 2048 + 3 * 2048 * 8192 + 2 * 2048) + 2 * 2048 * 32000
    (reduced,) = demanded({"dp": 4})
    assert reduced == ("gradients", "all_reduce", pytest.approx(parameters * 4), 1, 4)
    scattered, gathered = demanded({"dp": 4, "zero": 1, "shard": 4})
    assert scattered[:2] == ("gradients", "reduce_scatter")
    assert gathered[:3] == ("parameters", "all_gather", pytest.approx(parameters * 2))
    twice = demanded({"dp": 4, "zero": 2, "shard": 4, "micro_batches": 3})
    assert [row[3] for row in twice] == [3, 1]
    layers = demanded({"dp": 4, "zero": 3, "shard": 4, "micro_batches": 3})
    assert [row[3] for row in layers] == [3 * 24, 2 * 3 * 24]


def test_hybrid_sharding_reduces_between_its_shards():
    rows = demanded({"dp": 8, "zero": 3, "shard": 4})
    across = [row for row in rows if row[1] == "all_reduce"]
    assert [row[4] for row in across] == [2]
    assert across[0][2] == pytest.approx(rows[0][2] / 4)


def test_sequence_parallelism_gathers_and_scatters_instead_of_reducing():
    state = 4096 * 2048 * 2
    (reduced,) = demanded({"tp": 4})
    assert reduced == ("tensor parallel", "all_reduce", state, 2 * 24 * 2, 4)
    gathered, scattered = demanded({"tp": 4, "sequence_parallel": True})
    assert gathered == ("tensor parallel", "all_gather", state, 2 * 24 * 3, 4)
    assert scattered == ("tensor parallel", "reduce_scatter", state, 2 * 24 * 2, 4)


def test_experts_send_narrow_and_return_wide():
    rows = demanded({"dp": 16, "ep": 16}, MIXTURE, NumberFormats(dispatch="fp8"))
    sizes = {row[0]: row[2] for row in rows}
    assert sizes["expert combine"] == 2 * sizes["expert dispatch"] == 4096 * 8 * 2048 * 2


@pytest.mark.parametrize(("servers", "limit", "expected"), [(1, 0, 0.0), (2, 0, 0.99609375), (8, 4, 3.5)])
def test_copies_go_to_distinct_servers(servers, limit, expected):
    assert distinct_others(np.array([float(servers)]), 8, limit)[0] == pytest.approx(expected)


def test_groups_follow_the_order_of_axes():
    row = {"tp": 8, "pp": 4, "dp": 2, "cp": 2, "ep": 4}
    usual = axis_groups(plans(row))
    assert usual.tensor[1][0].tolist() == [1, 1]
    assert usual.pipeline[1][0, 1] == 32
    assert usual.shard[0][0].tolist() == [2, 2]
    assert usual.shard[1][0].tolist() == [16, 8]
    assert usual.expert[0][0].prod() == 4
    assert usual.expert_data[0][0].prod() == 8
    stages_first = axis_groups(plans(row, order=("tp", "pp", "cp", "ep", "dp")))
    assert stages_first.pipeline[1][0, 1] == 8
    assert stages_first.shard[1][0].tolist() == [64, 32]
