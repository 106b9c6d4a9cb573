"""``gpufabric budget``: how long a number of operations takes on some numbers of GPUs."""

from __future__ import annotations

from typing import Annotated

import typer

from gpufabric.cli.options import Json, command_app
from gpufabric.cli.output import note, print_document, print_table

app = command_app()


@app.command()
def budget(
    flops: Annotated[str | None, typer.Option("--flops", help="Operations in all, such as 1e24.")] = None,
    parameters: Annotated[
        str | None, typer.Option("--parameters", help="Parameters of the model, such as 70B; with --tokens.")
    ] = None,
    tokens: Annotated[
        str | None, typer.Option("--tokens", help="Tokens to train on, such as 15T; 6·N·D operations.")
    ] = None,
    gpu: Annotated[
        str | None, typer.Option("--gpu", help="Id of a GPU (gpufabric parts --kind gpu).")
    ] = None,
    rate: Annotated[
        str | None, typer.Option("--rate", help='Compute rate of one GPU, such as "2 PFLOP/s".')
    ] = None,
    precision: Annotated[
        str, typer.Option("--precision", help="fp32, tf32, bf16, fp16, fp8, fp6 or fp4; dense peak.")
    ] = "bf16",
    gpus: Annotated[
        list[int] | None,
        typer.Option("--gpus", help="Number of GPUs; may be given several times. Default: 1 to 200,000."),
    ] = None,
    utilization: Annotated[
        float, typer.Option("--utilization", help="Share of the peak that is used, such as 0.4.")
    ] = 1.0,
    as_json: Json = False,
) -> None:
    """Say how long a training run takes, from its operations and the GPUs' compute rate."""
    from gpufabric.catalog.load import load_catalog
    from gpufabric.jobs.budget import GPU_COUNTS, BudgetRequest
    from gpufabric.jobs.budget import budget as run_budget
    from gpufabric.report.budget_table import budget_notes, budget_table

    request = BudgetRequest(
        flops, parameters, tokens, gpu, rate, precision, tuple(gpus or GPU_COUNTS), utilization
    )
    document = run_budget(request, load_catalog()).to_dict()
    if as_json:
        print_document("budget", document)
        return
    title, columns, rows = budget_table(document)
    print_table(columns, rows, title)
    note(budget_notes(document))
