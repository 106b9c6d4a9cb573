"""``gpufabric collective SPEC OP``: time and bandwidth of a collective on the cluster's real wiring."""

from __future__ import annotations

from typing import Annotated

import typer

from gpufabric.cli.options import Json, Spec, command_app
from gpufabric.cli.output import note, print_document, print_table
from gpufabric.cli.progress import working

app = command_app()


@app.command()
def collective(
    spec: Spec,
    op: Annotated[str, typer.Argument(metavar="OP", help="Operation: all_reduce.")],
    size: Annotated[
        str | None, typer.Option("--size", help="Message size as nccl-tests has it, such as 8G.")
    ] = None,
    sizes: Annotated[
        str | None, typer.Option("--sizes", help="Sizes doubling from A to B, written 1M..8G.")
    ] = None,
    order: Annotated[
        str | None,
        typer.Option("--order", help="Order of the ranks: fabric or shuffled; default: the description's."),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option("--seed", min=0, max=2**32 - 1, help="Seed of shuffle and hashes; default: 0."),
    ] = None,
    gpus: Annotated[int | None, typer.Option("--gpus", help="Number of ranks; default: all GPUs.")] = None,
    routing: Annotated[
        str | None, typer.Option("--routing", help="adaptive, ecmp or static; default: the fabric's own.")
    ] = None,
    simulator: Annotated[str, typer.Option("--simulator", help="fluid or alpha_beta.")] = "fluid",
    fabric: Annotated[
        str | None, typer.Option("--fabric", help="Fabric that carries it; default: the first.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Predict time and bus bandwidth of a collective, its range, ceiling and bottleneck."""
    from gpufabric.catalog.calibrations import load_ring_range
    from gpufabric.formats.cluster_yaml import resolve_spec
    from gpufabric.jobs.collective import CollectiveOptions
    from gpufabric.jobs.described_collective import choose_ranks, predict_described
    from gpufabric.jobs.message_sizes import message_sizes
    from gpufabric.report.collective_table import collective_notes, collective_table

    wanted = message_sizes(size, sizes)
    description = resolve_spec(spec)
    choice = choose_ranks(description, order, seed, gpus)
    options = CollectiveOptions(
        ranks=choice.ranks,
        order=choice.order,
        seed=choice.seed,
        routing=routing,
        simulator=simulator,
        fabric=fabric,
        calibration=load_ring_range(),
        compare_shuffled=True,
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
