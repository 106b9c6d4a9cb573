"""``gpufabric train SPEC JOB``: time of a step and of a whole training run on the cluster's real wiring."""

from __future__ import annotations

from gpufabric.cli.collective_options import Fabric, Routing
from gpufabric.cli.options import Json, Spec, command_app, named_path
from gpufabric.cli.rank_options import Faults, Order, Placement, Seed
from gpufabric.cli.train_options import Explain, Gantt, Job, Price, Trace

app = command_app()


@app.command()
def train(
    spec: Spec,
    job: Job,
    order: Order = None,
    placement: Placement = None,
    seed: Seed = None,
    fault: Faults = None,
    routing: Routing = None,
    fabric: Fabric = None,
    price: Price = None,
    explain: Explain = False,
    gantt: Gantt = None,
    trace: Trace = None,
    as_json: Json = False,
) -> None:
    """Predict step time, MFU, memory, days and cost of training a model on the cluster."""
    from gpufabric.cli.progress import working
    from gpufabric.cli.show_train import show_train
    from gpufabric.formats.cluster_yaml import resolve_spec
    from gpufabric.formats.fault_text import with_faults
    from gpufabric.formats.job_yaml import read_job_spec
    from gpufabric.jobs.choose_ranks import choose_ranks
    from gpufabric.jobs.load_parts import catalog_for
    from gpufabric.jobs.train import TrainOptions
    from gpufabric.jobs.train import train as run_train
    from gpufabric.jobs.train_files import write_train_files

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
    notes = [f"note: {text}" for text in choice.notes]
    show_train(
        detail.result, [*notes, *([f"wrote {', '.join(written)}"] if written else [])], explain, as_json
    )
