import json
from pathlib import Path

import pytest

from gpufabric.errors import InputError
from gpufabric.jobs.validate_training import validate_training

MEASURED = Path(__file__).parents[2] / "captured" / "measurements" / "training.csv"


@pytest.fixture(scope="module")
def result():
    return validate_training(MEASURED)


@pytest.fixture(scope="module")
def by_id(result):
    return {row.id: row for row in result.rows}


def test_every_row_is_predicted_or_left_out_with_a_reason(result):
    assert [row.id for row in result.rows] == ["t-1", "t-2", "t-3", "t-4", "t-5"]
    reasons = {row.id: row.reason for row in result.left_out}
    assert list(reasons) == ["t-6", "t-7", "t-8", "t-9", "t-10", "t-11"]
    assert "9 GPUs are no multiple of TP 2" in reasons["t-6"]
    assert 'the shape of "Unheard 9B" was not published' in reasons["t-7"]
    assert 'gpu "TPU v5" is not known' in reasons["t-8"]
    assert "neither a time nor a rate" in reasons["t-9"]
    assert "precision was not published" in reasons["t-10"]
    assert 'gpus "x8" is no whole number' in reasons["t-11"]


def test_the_first_quantity_of_a_row_is_compared(by_id):
    assert [row.quantity for row in by_id.values()] == [
        "step_time_s",
        "tokens_per_s_per_gpu",
        "tokens_per_s_per_gpu",
        "tokens_per_s_per_gpu",
        "model_TFLOPs_per_gpu",
    ]
    for row in by_id.values():
        assert row.low <= row.predicted <= row.high
        assert row.error == pytest.approx(row.predicted / row.measured - 1)
    assert by_id["t-5"].unit == "TFLOP/s"
    assert by_id["t-5"].measured == pytest.approx(148)


def test_only_measured_rows_count_and_fine_tuning_stands_apart(result, by_id):
    assert by_id["t-3"].not_counted == "vendor_reported, not measured"
    assert by_id["t-4"].not_counted == "fine-tuning"
    assert result.summary.rows == 3
    assert result.fine_tuning.rows == 1


def test_what_a_row_does_not_say_is_assumed_aloud(by_id):
    assert any("network was not published" in text for text in by_id["t-3"].assumptions)
    assert any("recomputation was not published" in text for text in by_id["t-2"].assumptions)
    assert any("embeddings not tied" in text for text in by_id["t-1"].assumptions)
    assert by_id["t-5"].assumptions == ("ZeRO 1, as the library does by itself",)


def test_a_source_outside_the_fit_is_in_no_fit(by_id):
    assert not any(row.in_fit for row in by_id.values())


def test_the_document_is_plain_json(result):
    document = json.loads(json.dumps(result.to_dict()))
    assert set(document["summary"]) >= {"by_source", "by_gpu", "by_precision", "by_family", "by_scale"}
    assert {bar["met"] for bar in document["in_sample_bars"]} == {None}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("id,group\n1,a\n", "column model is missing"),
        ("id,group,model,gpu,gpus,seq_len\n1,a,m,g,8,1\n", "no column says what was measured"),
        ("id,group,model,gpu,gpus,seq_len,step_time_s\n", "has no rows"),
        (
            "id,group,model,gpu,gpus,seq_len,step_time_s\n1,a,m,h100,8,4096,1\n",
            "no row of the table can be predicted",
        ),
        ("id,group,model,gpu,gpus,seq_len,step_time_s,gpus\n1,a,m,h100,8,4096,1,8\n", "is named twice"),
    ],
)
def test_what_is_no_such_table_is_refused(tmp_path, text, message):
    path = tmp_path / "own.csv"
    path.write_text(text)
    with pytest.raises(InputError, match=message):
        validate_training(path)
