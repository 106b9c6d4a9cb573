"""Reading job descriptions."""

from pathlib import Path

from gpufabric.formats.job_yaml import parse_job_spec, read_job_spec
from gpufabric.records.job_spec import ModelShape

GOOD = Path(__file__).parents[2] / "captured" / "descriptions" / "job" / "good"


def test_dense_job():
    job = read_job_spec(GOOD / "dense.yaml")
    assert (job.model, job.tokens, job.plan.tp, job.plan.dp) == ("llama-3-8b", 15 * 10**12, 2, None)
    assert job.placement.order == ("tp", "cp", "dp", "pp")
    assert job.measured is not None
    assert (job.measured.step_time, job.measured.memory) == (12.4, 71 * 2**30)


def test_mixture_of_experts():
    job = read_job_spec(GOOD / "experts.yaml")
    assert isinstance(job.model, ModelShape)
    assert job.model.experts is not None
    assert (job.model.experts.count, job.model.experts.active, job.model.gated_ffn) == (64, 6, True)
    assert job.plan.precision.dispatch == "fp8"
    assert (job.plan.overlap.ep, job.plan.overlap.dp, job.plan.overlap.tp) == (True, False, None)
    assert job.library is not None
    assert job.library.settings == {"NCCL_MAX_NCHANNELS": "32"}


def test_a_model_file_is_taken_from_the_folder_of_the_job(tmp_path):
    text = "model: m/config.json\nglobal_batch: 8\nsequence_length: 128\n"
    file = tmp_path / "job.yaml"
    file.write_text(text)
    assert read_job_spec(file).model == str(tmp_path / "m" / "config.json")
    assert parse_job_spec(text, "x").model == "m/config.json"
