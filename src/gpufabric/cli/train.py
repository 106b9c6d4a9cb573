"""``gpufabric train SPEC JOB``: time of a step and of a whole training run on the cluster's real wiring."""

from __future__ import annotations

from typing import Annotated

import typer

from gpufabric.cli.collective_options import Fabric, Routing
from gpufabric.cli.options import Json, Spec, command_app, named_path
from gpufabric.cli.rank_options import Faults, Order, Placement, Seed

app = command_app()


@app.command()
def train(
    spec: Spec,
    job: Annotated[str, typer.Argument(metavar="JOB", help="Job description (YAML), - for stdin.")],
    order: Order = None,
    placement: Placement = None,
    seed: Seed = None,
    fault: Faults = None,
    routing: Routing = None,
    fabric: Fabric = None,
    price: Annotated[
        float | None,
        typer.Option("--price", min=0, help="US dollars for one GPU and hour; default: the job's."),
    ] = None,
    explain: Annotated[
        bool,
        typer.Option(
            "--explain",
            help="Say what bounds the step, what 10 % more of each resource gives, and where each group of GPUs stands.",
        ),
    ] = False,
    gantt: Annotated[
        str | None,
        typer.Option(
            "--gantt", metavar="FILE", help="Write an SVG of one step: stages, micro-batches, communication."
        ),
    ] = None,
    trace: Annotated[
        str | None,
        typer.Option("--trace", metavar="FILE", help="Write one step as a trace for Perfetto or Chrome."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Predict step time, MFU, memory, days and cost of training a model on the cluster."""
    from gpufabric.cli.output import note, print_document, print_table
    from gpufabric.cli.progress import working
    from gpufabric.formats.cluster_yaml import resolve_spec
    from gpufabric.formats.fault_text import with_faults
    from gpufabric.formats.job_yaml import read_job_spec
    from gpufabric.jobs.choose_ranks import choose_ranks
    from gpufabric.jobs.load_parts import catalog_for
    from gpufabric.jobs.train import TrainOptions
    from gpufabric.jobs.train import train as run_train
    from gpufabric.jobs.train_files import write_train_files
    from gpufabric.report.step_table import (
        breakdown_table,
        gains_table,
        network_table,
        overview_table,
        train_notes,
    )

    for name in (gantt, trace):
        if name is not None:
            named_path(name)
    description = with_faults(resolve_spec(spec), fault or ())
    choice = choose_ranks(description, order, seed, None, placement)
    wanted = read_job_spec(job)
    drawn = gantt is not None or trace is not None
    options = TrainOptions(choice, routing, fabric, price, timeline=drawn)
    with working("wiring and pricing"):
        detail = run_train(description, wanted, options, catalog_for(description))
        written = write_train_files(detail, gantt, trace)
    result = detail.result
    if as_json:
        print_document("train", result.to_dict())
    else:
        tables = [overview_table(result), breakdown_table(result)]
        if explain:
            tables += [gains_table(result), network_table(result)]
        for table in tables:
            print_table(*table)
        note(train_notes(result))
    for text in choice.notes:
        note(f"note: {text}")
    if written:
        note(f"wrote {', '.join(written)}")
