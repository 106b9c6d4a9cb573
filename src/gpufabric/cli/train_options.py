"""Options of ``gpufabric train``: what it costs, and what to say or write besides."""

from __future__ import annotations

from typing import Annotated

import typer

Job = Annotated[str, typer.Argument(metavar="JOB", help="Job description (YAML), - for stdin.")]
Price = Annotated[
    float | None,
    typer.Option("--price", min=0, help="US dollars for one GPU and hour; default: the job's."),
]
Explain = Annotated[
    bool,
    typer.Option(
        "--explain",
        help="Say what 10 % more of each resource gives, and where each group of GPUs stands and what it costs.",
    ),
]
Gantt = Annotated[
    str | None,
    typer.Option(
        "--gantt", metavar="FILE", help="Write an SVG of one step: stages, micro-batches, communication."
    ),
]
Trace = Annotated[
    str | None,
    typer.Option("--trace", metavar="FILE", help="Write one step as a trace for Perfetto or Chrome."),
]
