from dataclasses import replace

import numpy as np
import pytest
from tests.unit.training.plan_rows import DENSE, HARDWARE, MIXTURE, plans

from gpufabric.catalog.calibrations.load_training import (
    fitted_sources,
    load_training_calibration,
    load_training_constants,
)
from gpufabric.errors import InputError
from gpufabric.records.number_formats import NumberFormats
from gpufabric.records.plan_table import PipelineSchedule, Recompute
from gpufabric.records.step_table import STEP_PARTS
from gpufabric.training.step_time import step_time

FORMATS = NumberFormats()
CONSTANTS = load_training_constants(HARDWARE.gpu)


def seconds(*rows, model=DENSE, formats=FORMATS, hardware=HARDWARE):
    return step_time(model, plans(*rows), formats, hardware, CONSTANTS, 4096)


def test_parts_are_named_and_add_up():
    found = seconds(
        {"tp": 8, "pp": 4, "micro_batches": 16, "recompute": 2, "sequence_parallel": True},
        {"dp": 8, "zero": 3, "shard": 8, "overlap_dp": True},
        {"dp": 2, "cp": 4, "zero": 1, "shard": 8, "micro_batches": 2},
    )
    assert tuple(sorted(found.breakdown_s)) == tuple(sorted(STEP_PARTS))
    assert np.allclose(sum(found.breakdown_s.values()), found.step_time_s)
    assert all((part >= 0).all() for part in found.breakdown_s.values())


def test_a_table_costs_what_its_rows_cost_alone():
    rows = [{"tp": 2}, {"dp": 4, "zero": 1, "shard": 4}, {"pp": 2, "micro_batches": 4}, {"dp": 8, "ep": 8}]
    together = seconds(*rows, model=MIXTURE).step_time_s
    alone = [seconds(row, model=MIXTURE).step_time_s[0] for row in rows]
    assert together == pytest.approx(alone)


def test_compute_stays_below_the_peak_and_above_a_third_of_it():
    found = seconds({"micro_batch": 4})
    products = 24 * (2048 * (2048 + 2 * 512) + 2048 * 2048 + 3 * 2048 * 8192) + 2048 * 32000
    flops = 6 * products * 4 * 4096
    share = flops / found.step_time_s[0] / HARDWARE.flops["bf16"]
    assert 0.33 < share < CONSTANTS.compute.gemm_share["bf16"]


def test_full_recomputation_repeats_the_forward_of_the_layers_it_is_told():
    none, half, full = seconds(
        {}, {"recompute": Recompute.FULL, "recompute_layers": 12}, {"recompute": Recompute.FULL}
    ).breakdown_s["recompute"]
    assert none == 0
    assert half == pytest.approx(full / 2)


def test_bubbles_shrink_with_chunks_and_better_schedules():
    base = {"pp": 4, "micro_batches": 8}
    bubbles = seconds(
        base,
        {**base, "virtual_stages": 2, "schedule": PipelineSchedule.INTERLEAVED},
        {**base, "schedule": PipelineSchedule.ZERO_BUBBLE},
        {**base, "schedule": PipelineSchedule.DUALPIPE},
        {**base, "schedule": PipelineSchedule.GPIPE},
    ).breakdown_s["bubble"]
    assert bubbles[1] == pytest.approx(bubbles[0] / 2, rel=0.05)
    assert bubbles[2] < bubbles[0]
    assert bubbles[3] < bubbles[0]
    assert bubbles[4] == pytest.approx(bubbles[0])


def test_overlap_hides_communication_and_slows_compute_by_less():
    shown, hidden = {"dp": 8, "zero": 1, "shard": 8, "micro_batches": 4}, {}
    hidden = {**shown, "overlap_dp": True}
    found = seconds(shown, hidden)
    assert found.step_time_s[1] < found.step_time_s[0]
    assert found.hidden_s.tolist()[0] == 0
    assert found.breakdown_s["backward"][1] > found.breakdown_s["backward"][0]


def test_a_format_without_a_known_rate_is_refused():
    with pytest.raises(InputError, match="no compute rate in nvfp4 is known"):
        seconds({}, formats=replace(FORMATS, matmul="nvfp4"))


def test_a_narrow_format_is_faster():
    wide = seconds({"micro_batch": 4}).step_time_s
    narrow = seconds({"micro_batch": 4}, formats=replace(FORMATS, matmul="fp8")).step_time_s
    assert narrow < wide


def test_a_left_out_source_changes_constants_and_an_unknown_one_is_refused():
    whole = load_training_calibration()
    assert load_training_calibration(fitted_sources()[0]) != whole
    with pytest.raises(InputError, match="is not in the calibration"):
        load_training_calibration("nobody")
    with pytest.raises(InputError, match='library "megatrn" is unknown'):
        load_training_constants("h100-sxm", library="megatrn")
