"""Training on a fabric: figures belong together, what slows the fabric slows the step, plans that can't be are refused."""

import json

import pytest

from gpufabric.errors import InputError
from gpufabric.formats.cluster_yaml import parse_cluster_spec
from gpufabric.formats.job_yaml import parse_job_spec
from gpufabric.jobs.choose_ranks import choose_ranks
from gpufabric.jobs.train import TrainOptions, train
from gpufabric.records.training_timeline import Stream
from gpufabric.report.step_gantt_svg import MOST_ROWS, step_gantt_svg
from gpufabric.report.step_spans import step_spans
from gpufabric.report.step_table import (
    breakdown_table,
    gains_table,
    network_table,
    overview_table,
    train_notes,
)
from gpufabric.report.trace_json import trace_json

CLUSTER = "servers: {{model: dgx-h100, count: {count}}}\nfabrics: [{{topology: {topology}, switch: qm9790{more}}}]\n"
JOB = "model: llama-3-8b\nglobal_batch: 64\nsequence_length: 4096\ntokens: 1e12\n"
PLAN = "plan: {tp: 2, pp: 2, zero: 1}\n"


def trained(catalog, job=PLAN, count=4, topology="leaf-spine", more="", order=None, **options):
    spec = parse_cluster_spec(CLUSTER.format(count=count, topology=topology, more=more), "cluster.yaml")
    wanted = parse_job_spec(JOB.replace("64", str(max(64, 8 * count))) + job, "job.yaml")
    return train(spec, wanted, TrainOptions(choose_ranks(spec, order), **options), catalog)


def test_figures_belong_together(catalog):
    result = trained(catalog, PLAN + "price_per_gpu_hour: 2\n").result
    assert result.gpus == 32
    assert sum(result.breakdown_s.values()) == pytest.approx(result.step_time_s)
    assert result.tokens_per_s == pytest.approx(64 * 4096 / result.step_time_s)
    assert result.flops_per_s_per_gpu == pytest.approx(result.mfu * result.peak_flops_per_s)
    assert 0.1 < result.mfu_causal < result.mfu < 0.8
    assert result.days == pytest.approx(1e12 / result.tokens_per_s / 86400)
    assert result.gpu_hours == pytest.approx(result.days * 24 * 32)
    assert result.cost_usd == pytest.approx(2 * result.gpu_hours)
    assert result.step_time_low_s < result.step_time_s < result.step_time_high_s
    assert sum(result.memory_parts_bytes.values()) == pytest.approx(result.memory_bytes_per_gpu)
    document = json.loads(json.dumps(result.to_dict()))
    assert {"step_time_s", "tokens_per_s", "tokens_per_s_per_gpu", "flops_per_s_per_gpu", "mfu"} <= set(
        document
    )
    assert {"memory_bytes_per_gpu", "breakdown_s", "days"} <= set(document)


def test_a_price_on_the_command_line_stands_before_the_jobs(catalog):
    result = trained(catalog, PLAN + "price_per_gpu_hour: 2\n", price_per_gpu_hour=3.0).result
    assert result.cost_usd == pytest.approx(3 * result.gpu_hours)


def test_without_tokens_nothing_is_said_of_days(catalog):
    spec = parse_cluster_spec(CLUSTER.format(count=1, topology="single-switch", more=""), "cluster.yaml")
    job = parse_job_spec(JOB.replace("tokens: 1e12\n", "") + "plan: {tp: 8}\n", "job.yaml")
    result = train(spec, job, TrainOptions(choose_ranks(spec)), catalog).result
    assert result.days is result.gpu_hours is result.cost_usd is result.energy_j is None


def test_one_gpu_asks_nothing_of_the_network(catalog):
    spec = parse_cluster_spec(CLUSTER.format(count=1, topology="single-switch", more=""), "cluster.yaml")
    small = "model: qwen3-0.6b\ngpus: 1\nglobal_batch: 4\nsequence_length: 2048\n"
    result = train(spec, parse_job_spec(small, "job.yaml"), TrainOptions(choose_ranks(spec)), catalog).result
    assert result.network == ()
    assert result.breakdown_s["gradients"] == 0.0


def test_an_oversubscribed_fabric_and_shuffled_ranks_cost_time(catalog):
    job = "plan: {tp: 1, zero: 3, overlap: {dp: false}}\n"
    plain = trained(catalog, job, count=64, topology="leaf-spine").result
    thin = trained(catalog, job, 64, "leaf-spine", ", oversubscription: '4:1'", order="shuffled").result
    assert thin.step_time_s > 1.2 * plain.step_time_s
    gains = {gain.resource: gain.shorter for gain in thin.gains}
    assert max(gains, key=gains.get) == "NICs and fabric"


def test_what_a_group_may_span_is_kept(catalog):
    job = "plan: {tp: 16}\nplacement: {within: {tp: server}}\n"
    with pytest.raises(InputError, match=r"within\.tp: a group of 16 ranks spans 2 servers"):
        trained(catalog, job.replace("llama-3-8b", "llama-3-70b"))


@pytest.mark.parametrize(
    ("job", "says"),
    [
        ("plan: {ep: 4}\n", "ep 4 does not divide 0 experts; .*nearest plan that works: tp "),
        ("plan: {tp: 1, zero: 0}\nmicro_batch: 2\n", "a GPU has 80 GiB; .*nearest plan that works: tp "),
    ],
)
def test_a_plan_that_cannot_be_is_refused_with_the_nearest(catalog, job, says):
    with pytest.raises(InputError, match=says):
        trained(catalog, job)


def test_a_plan_that_ran_is_not_refused_for_memory(catalog):
    job = "plan: {tp: 1, zero: 0}\nmicro_batch: 2\nmeasured: {mfu: 0.4, source: a run}\n"
    result = trained(catalog, job).result
    assert any("the plan ran" in text for text in result.assumptions)
    assert result.measured[0].quantity == "mfu"


def test_tables_name_parts_groups_and_gains(catalog):
    result = trained(catalog, PLAN + "measured: {step_time: 5 s, source: a run}\n").result
    title = overview_table(result)[2]
    assert "Llama 3 8B" in title
    assert "tp 2, pp 2, dp 8" in title
    overview = dict(overview_table(result)[1])
    assert "predicted" in overview["published step_time_s"]
    assert overview["bound by"].startswith("compute")
    names = [row[0] for row in breakdown_table(result)[1]]
    assert {"forward", "backward", "bubble"} <= set(names)
    groups = {row[0]: row for row in network_table(result)[1]}
    assert groups["tensor parallel"][2:4] == ("16 × 2", "1 server, 2 rails")
    assert groups["gradients"][2] == "4 × 8"
    assert len(gains_table(result)[1]) == 5
    assert "Narayanan" in train_notes(result)


def test_pictures_show_every_stage_and_stream(catalog):
    detail = trained(catalog, timeline=True)
    timeline = detail.timeline
    svg = step_gantt_svg(timeline, "One <step>", "about")
    assert "stage 0" in svg
    assert "stage 1" in svg
    assert "One &lt;step&gt;" in svg
    assert svg == step_gantt_svg(timeline, "One <step>", "about")
    trace = json.loads(trace_json(step_spans(timeline, {"job": "x"})))
    threads = {e["args"]["name"] for e in trace["traceEvents"] if e["name"] == "thread_name"}
    assert threads == set(Stream.NAMES)


def test_of_many_stages_some_are_drawn(catalog):
    many = "model: llama-3-70b\nglobal_batch: 64\nsequence_length: 2048\nplan: {tp: 1, pp: 32, recompute: full}\n"
    spec = parse_cluster_spec(CLUSTER.format(count=4, topology="single-switch", more=""), "cluster.yaml")
    job = parse_job_spec(many, "job.yaml")
    timeline = train(spec, job, TrainOptions(choose_ranks(spec), timeline=True), catalog).timeline
    svg = step_gantt_svg(timeline, "x", "y")
    assert svg.count(">stage ") == MOST_ROWS
    assert ">stage 31<" in svg
