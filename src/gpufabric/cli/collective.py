"""``gpufabric collective SPEC OP``: time and bandwidth of a collective on the cluster's real wiring."""

from __future__ import annotations

from typing import Annotated

import typer

from gpufabric.cli.options import CalibrationFile, Json, Spec, command_app, named_path
from gpufabric.cli.output import note, print_document, print_table
from gpufabric.cli.progress import working
from gpufabric.cli.rank_options import Faults, Order, Placement, Ranks, Seed

app = command_app()


@app.command()
def collective(
    spec: Spec,
    op: Annotated[
        str,
        typer.Argument(
            metavar="OP",
            help="Operation: all_reduce, all_gather, reduce_scatter, broadcast, reduce, all_to_all, all_to_all_v, "
            "gather, scatter or send_recv, also as nccl-tests spells it.",
        ),
    ],
    size: Annotated[
        str | None, typer.Option("--size", help="Message size as nccl-tests has it, such as 8G.")
    ] = None,
    sizes: Annotated[
        str | None, typer.Option("--sizes", help="Sizes doubling from A to B, written 1M..8G.")
    ] = None,
    order: Order = None,
    placement: Placement = None,
    seed: Seed = None,
    gpus: Ranks = None,
    fault: Faults = None,
    routing: Annotated[
        str | None,
        typer.Option(
            "--routing",
            help="adaptive, ecmp, static, shortest, opensm:ENGINE or opensm:FILE; default: the fabric's own.",
        ),
    ] = None,
    simulator: Annotated[str, typer.Option("--simulator", help="fluid or alpha_beta.")] = "fluid",
    fabric: Annotated[
        str | None, typer.Option("--fabric", help="Fabric that carries it; default: the first.")
    ] = None,
    algorithm: Annotated[
        str | None,
        typer.Option(
            "--algorithm", help="Show this one whatever the library would run, such as ring or hierarchical."
        ),
    ] = None,
    protocol: Annotated[
        str | None, typer.Option("--protocol", help="Show this one: ll, ll128 or simple.")
    ] = None,
    library: Annotated[
        str,
        typer.Option("--library", help="Library and version, such as nccl:2.27; default: the description's."),
    ] = "",
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set", metavar="NAME=VALUE", help="Setting of the library, such as NCCL_ALGO=Ring; repeatable."
        ),
    ] = None,
    matrix: Annotated[
        str | None,
        typer.Option(
            "--matrix", metavar="FILE", help="all_to_all_v: CSV of what each rank (row) sends to each other."
        ),
    ] = None,
    skew: Annotated[
        float | None,
        typer.Option("--skew", help="all_to_all_v without a table: 0 even, 1 as popular experts have it."),
    ] = None,
    calibration: CalibrationFile = None,
    as_json: Json = False,
) -> None:
    """Predict time and bus bandwidth of a collective, its range, ceiling and bottleneck."""
    from gpufabric.catalog.calibrations import load_ring_range
    from gpufabric.formats import pair_table_csv
    from gpufabric.formats.calibration_toml import read_calibration
    from gpufabric.formats.cluster_yaml import resolve_spec
    from gpufabric.formats.fault_text import with_faults
    from gpufabric.jobs.choose_ranks import choose_ranks
    from gpufabric.jobs.collective import CollectiveOptions
    from gpufabric.jobs.described_collective import predict_described
    from gpufabric.jobs.job_library import read_library
    from gpufabric.jobs.message_sizes import message_sizes
    from gpufabric.libraries.choose import Forced
    from gpufabric.libraries.read_settings import read_assignments
    from gpufabric.report.collective_table import collective_notes, collective_table

    wanted = message_sizes(size, sizes)
    description = with_faults(resolve_spec(spec), fault or ())
    choice = choose_ranks(description, order, seed, gpus, placement)
    options = CollectiveOptions(
        ranks=choice.ranks,
        order=choice.order,
        seed=choice.seed,
        routing=routing,
        simulator=simulator,
        fabric=fabric,
        calibration=read_calibration(calibration) if calibration else load_ring_range(),
        compare_shuffled=True,
        placement=choice.placement,
        places=choice.places,
        library=read_library(library, description.library, read_assignments(settings or ())),
        forced=Forced(algorithm, protocol),
        pair_shares=pair_table_csv.read(named_path(matrix)) if matrix is not None else None,
        skew=skew,
    )
    with working("wiring and simulating"):
        results = predict_described(description, op, wanted, options)
    if as_json:
        print_document("collective", {"results": [result.to_dict() for result in results]})
    else:
        print_table(*collective_table(results))
        note(collective_notes(results))
    for text in choice.notes:
        note(f"note: {text}")
