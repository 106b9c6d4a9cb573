"""``gpufabric bench``: measure a collective on one's own machines."""

from __future__ import annotations

from typing import Annotated

import typer

from gpufabric.cli.options import Json, command_app
from gpufabric.cli.output import finish, note, print_document, print_findings

app = command_app()


@app.command()
def bench(
    op: Annotated[
        str,
        typer.Argument(
            metavar="OP",
            help="all_reduce, all_gather, reduce_scatter, broadcast, reduce, all_to_all or send_recv.",
        ),
    ] = "all_reduce",
    begin: Annotated[
        str, typer.Option("-b", "--begin", help="Smallest size, as nccl-tests writes it.")
    ] = "1M",
    end: Annotated[str, typer.Option("-e", "--end", help="Largest size.")] = "128M",
    factor: Annotated[int, typer.Option("-f", "--factor", help="From one size to the next.")] = 2,
    warmup: Annotated[
        int, typer.Option("-w", "--warmup", min=0, max=10_000, help="Calls before the timed ones.")
    ] = 5,
    iterations: Annotated[
        int, typer.Option("-n", "--iterations", min=1, max=1_000_000, help="Timed calls of each size.")
    ] = 20,
    backend: Annotated[
        str | None,
        typer.Option(
            "--backend",
            help="nccl (RCCL on AMD), gloo or mpi; default: nccl where there are GPUs, else gloo.",
        ),
    ] = None,
    check: Annotated[
        bool, typer.Option("--check/--no-check", help="Check the data of the first call.")
    ] = True,
    as_json: Json = False,
) -> None:
    """Measure a collective on your own machines, under torchrun or mpirun, as nccl-tests does.

    Each rank runs this command; rank 0 prints what nccl-tests would, for calibrate and check. Needs PyTorch (the extra lab).
    """
    from gpufabric.jobs.bench import BenchOptions
    from gpufabric.jobs.bench import bench as run_bench
    from gpufabric.units import parse_message_bytes

    options = BenchOptions(
        op, parse_message_bytes(begin), parse_message_bytes(end), factor, warmup, iterations, backend, check
    )
    result = run_bench(options)
    if result is None:
        return
    if as_json:
        print_document("bench", result.to_dict())
    else:
        typer.echo(result.log(), nl=False)
        print_findings(result.findings)
    note("\n".join(result.assumptions))
    finish(result.findings)
