"""Plans of job descriptions: what is filled in, and what can't be."""

import pytest

from gpufabric.errors import InputError
from gpufabric.formats.job_yaml import parse_job_spec
from gpufabric.jobs.job_model import job_model
from gpufabric.jobs.train_plan import job_plan
from gpufabric.records.plan_table import PipelineSchedule
from gpufabric.training.memory_practice import FSDP, MEGATRON_2022, USUAL

BASE = "model: llama-3-8b\nglobal_batch: 64\nsequence_length: 4096\n"


def plan_of(more="", gpus=32):
    job = parse_job_spec(BASE + more, "job.yaml")
    return job_plan(job, job_model(job), gpus)


def test_what_is_not_said_is_filled_in_and_said():
    found = plan_of("plan: {tp: 2, pp: 4}\n")
    plans = found.plans
    assert (plans.dp[0], plans.micro_batch[0], plans.micro_batches[0], plans.zero[0]) == (4, 1, 16, 1)
    assert plans.schedule[0] == PipelineSchedule.ONE_F_ONE_B
    assert plans.sequence_parallel[0]
    assert found.practice is USUAL
    assert any("cp 1" in text and "zero 1" in text for text in found.assumptions)
    assert any("1f1b, with 16 micro-batches" in text for text in found.assumptions)


def test_order_and_formats_follow_the_job():
    found = plan_of(
        "plan: {tp: 2, zero: 3, precision: {matmul: fp8, reduction: bf16}}\nplacement: {order: [dp, tp]}\n"
    )
    assert found.plans.order == ("dp", "tp", "cp", "ep", "pp")
    assert (found.formats.matmul, found.formats.attention, found.formats.reduction) == ("fp8", "bf16", "bf16")
    assert found.formats.gradients == "bf16"
    assert found.practice is FSDP
    assert plan_of("plan: {framework: megatron-2022}\n").practice is MEGATRON_2022


def test_dualpipe_hides_the_exchange_of_experts_unless_told_otherwise():
    assert plan_of("plan: {pp: 4, schedule: dualpipe}\n").plans.overlap_ep[0]
    assert not plan_of("plan: {pp: 4, schedule: dualpipe, overlap: {ep: false}}\n").plans.overlap_ep[0]


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ("gpus: 64\n", "64 are more than the cluster has; allowed is 1 to 32"),
        ("plan: {tp: 3}\n", "does not divide into 32 GPUs; .* change gpus to 30"),
        ("plan: {tp: 2, dp: 4}\n", "× dp 4 does not divide"),
        ("micro_batch: 3\n", "64 sequences are no multiple of dp 32 × micro_batch 3; allowed is such as 96"),
    ],
)
def test_what_does_not_divide_is_refused_with_what_does(more, says):
    with pytest.raises(InputError, match=says):
        plan_of(more)
