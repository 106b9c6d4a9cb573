"""Predict what a training job costs on a wired cluster: ``gpufabric train``."""

from __future__ import annotations

from dataclasses import dataclass, replace

from gpufabric.catalog.calibrations.load_training import load_training_constants
from gpufabric.catalog.load import Catalog
from gpufabric.collectives.rank_order import rank_gpus
from gpufabric.errors import InputError, did_you_mean, printable
from gpufabric.jobs.choose_ranks import RankChoice
from gpufabric.jobs.collective import CollectiveOptions, ask
from gpufabric.jobs.described_collective import with_description
from gpufabric.jobs.faulty_cluster import apply_faults
from gpufabric.jobs.job_model import job_model
from gpufabric.jobs.place_job import JobPlacement, place_job
from gpufabric.jobs.price_groups import GroupPricer, group_pricer
from gpufabric.jobs.racked_cluster import RackedCluster, racked_cluster
from gpufabric.jobs.train_gains import StepInputs, step_of, what_more_gives
from gpufabric.jobs.train_hardware import training_hardware
from gpufabric.jobs.train_network import NO_NETWORK, price_demands
from gpufabric.jobs.train_plan import JobPlan, job_plan
from gpufabric.jobs.train_summary import Trained, summarise
from gpufabric.jobs.train_timeline import pipeline_work
from gpufabric.records.cluster_spec import ClusterSpec
from gpufabric.records.job_spec import JobSpec
from gpufabric.records.plan_table import PipelineSchedule
from gpufabric.records.train_result import TrainResult
from gpufabric.records.training_constants import TrainingConstants
from gpufabric.records.training_hardware import TrainingHardware
from gpufabric.records.training_timeline import TrainingTimeline
from gpufabric.records.transformer import Transformer
from gpufabric.training.demands import plan_demands
from gpufabric.training.feasible import degrees_of, plan_limits, plan_text, why_impossible, why_too_large
from gpufabric.training.feasible_nearest import NearestPlan, nearest_plan
from gpufabric.training.memory import MemoryParts, memory_per_gpu
from gpufabric.training.operations import list_operations
from gpufabric.training.roofline import time_operations
from gpufabric.training.timeline import lay_timeline

_SHOWN_PASSES = 20_000
# Kernels of its own send tokens with 20 of 132 multiprocessors, so compute beside them has that many fewer (DeepSeek-V3 Technical
# Report, https://arxiv.org/abs/2412.19437, section 3.2.2).
DUALPIPE_SLOWDOWN = 20 / 132


@dataclass(frozen=True, slots=True)
class TrainOptions:
    """How to predict: which ranks where, and what is asked besides.

    ``routing`` None means the fabric's own, ``fabric`` the name of the one that carries the job, None the first. ``timeline``
    asks for the step as events however long it is; without it only short ones are laid out.
    """

    ranks: RankChoice
    routing: str | None = None
    fabric: str | None = None
    price_per_gpu_hour: float | None = None
    timeline: bool = False


@dataclass(frozen=True, slots=True)
class TrainDetail:
    """The result, and the step as events; None where it is long and was not asked for."""

    result: TrainResult
    timeline: TrainingTimeline | None


def train(spec: ClusterSpec, job: JobSpec, options: TrainOptions, catalog: Catalog) -> TrainDetail:
    """Return what a training job costs on the cluster that *spec* describes, with its faults.

    Every demand of the plan is priced on the wiring with all its groups at work; compute by a roofline an operation; both
    are joined as the pipeline schedule has it.

    Parameters
    ----------
    spec, job
    options
    catalog

    Raises
    ------
    InputError, PartError
        If something described does not exist, or the plan can't be: with the nearest that can.
    UnbuildableError
        If the cluster can't be wired, or a message has no way.
    """
    racked = racked_cluster(spec, catalog)
    broken, notes = apply_faults(racked.cluster, spec.faults, racked.parts)
    racked = replace(racked, cluster=broken)
    model = job_model(job)
    fabric = _fabric(spec, options.fabric)
    usable = options.ranks.ranks or _gpus_of(racked, fabric, options.ranks)
    plan = job_plan(job, model, usable)
    placement = place_job(broken, plan.plans, options.ranks, fabric)
    server = racked.parts.servers[broken.parts[broken.devices.part[broken.gpus.host[placement.gpu[0]]]]]
    hardware, assumed = training_hardware(racked, catalog.gpu(server.gpu), placement.gpu, fabric)
    memory, tight = _checked(model, job, plan, hardware)
    pricer = _pricer(racked, spec, job, options, placement)
    inputs = _inputs(model, job, plan, hardware, pricer)
    demands = inputs.demands
    priced = NO_NETWORK if pricer is None else price_demands(pricer, demands, job.placement)
    step = step_of(inputs, priced)
    work = pipeline_work(
        model, plan.plans, inputs.compute, (demands, priced.time_s), step, inputs.constants.compute
    )
    short = 2 * work.stages * work.micro_batches * work.chunks <= _SHOWN_PASSES
    timeline = lay_timeline(work) if short or options.timeline else None
    trained = Trained(
        job=job,
        model=model,
        plan=plan,
        hardware=hardware,
        memory=memory,
        step=step,
        priced=priced,
        gains=what_more_gives(inputs, priced),
        timeline_step_s=timeline.step_s if timeline else None,
        method=pricer.asked.method if pricer else "one GPU",
        assumptions=(*racked.assumptions, *notes, *plan.assumptions, *assumed, *tight),
    )
    return TrainDetail(summarise(trained, options.price_per_gpu_hour), timeline)


def _fabric(spec: ClusterSpec, name: str | None) -> int:
    names = [fabric.name for fabric in spec.fabrics]
    if name is None:
        return 0
    if name not in names:
        raise InputError(
            f'fabric "{printable(name)}" is not in the cluster; it has {", ".join(names)}.{did_you_mean(name, names)}'
        )
    return names.index(name)


def _gpus_of(racked: RackedCluster, fabric: int, ranks: RankChoice) -> int:
    return len(
        rank_gpus(racked.cluster, None, ranks.order, ranks.seed, fabric, ranks.placement, ranks.places)
    )


def _checked(
    model: Transformer, job: JobSpec, plan: JobPlan, hardware: TrainingHardware
) -> tuple[MemoryParts, tuple[str, ...]]:
    """Return the memory of a plan that can be, and what is to be said of it.

    A plan that the job says was measured is known to fit, whatever is estimated here.

    Raises
    ------
    InputError
        If the plan can't be or does not fit, with the nearest that can and does.
    """
    gpus = int(plan.plans.gpus[0])
    limits = plan_limits(model, job.sequence_length, job.global_batch, gpus)
    impossible = why_impossible(limits, plan.plans, 0)
    memory = memory_per_gpu(model, job.sequence_length, plan.plans, plan.formats, plan.practice)
    large = why_too_large(memory, plan.plans, 0, hardware.memory_bytes)
    if not impossible and large and job.measured is not None:
        return memory, (f"the plan ran, as the job says, although by this estimate it does not fit: {large}",)
    why = impossible or large
    if not why:
        return memory, ()
    among = NearestPlan(model, limits, plan.formats, plan.practice, hardware.memory_bytes)
    near = nearest_plan(plan.plans, among)
    works = f"; nearest plan that works: {plan_text(degrees_of(near, 0))}" if near is not None else ""
    raise InputError(f"{why}{works}")


def _pricer(
    racked: RackedCluster, spec: ClusterSpec, job: JobSpec, options: TrainOptions, placement: JobPlacement
) -> GroupPricer | None:
    """Return what prices groups on the fabric; None for one GPU, which has nobody to talk to."""
    if len(placement.gpu) < 2:
        return None
    ranks = options.ranks
    how = CollectiveOptions(
        ranks=len(placement.gpu),
        order=ranks.order,
        seed=ranks.seed,
        routing=options.routing,
        fabric=options.fabric,
        placement=ranks.placement,
        places=ranks.places,
        library=job.library,
    )
    asked, _ = ask(racked.cluster, racked.parts, "all_reduce", [1], with_description(spec, how))
    return group_pricer(asked, placement)


def _inputs(
    model: Transformer,
    job: JobSpec,
    plan: JobPlan,
    hardware: TrainingHardware,
    pricer: GroupPricer | None,
) -> StepInputs:
    constants = _constants(plan, hardware, pricer)
    operations = list_operations(model, plan.plans, job.sequence_length, plan.practice.flash_attention)
    return StepInputs(
        model=model,
        plan=plan,
        hardware=hardware,
        constants=constants,
        sequence=job.sequence_length,
        operations=operations,
        compute=time_operations(operations, plan.formats, hardware, constants.compute),
        demands=plan_demands(model, plan.plans, plan.formats, job.sequence_length, hardware),
    )


def _constants(plan: JobPlan, hardware: TrainingHardware, pricer: GroupPricer | None) -> TrainingConstants:
    network, nic = (pricer.situation.network, pricer.situation.nic) if pricer else ("", "")
    constants = load_training_constants(hardware.gpu, network or "infiniband", nic)
    if plan.plans.schedule[0] != PipelineSchedule.DUALPIPE:
        return constants
    return constants.model_copy(
        update={"compute": constants.compute.model_copy(update={"overlap_slowdown": DUALPIPE_SLOWDOWN})}
    )
