"""Options that say what to print or write of a predicted collective besides the table."""

from __future__ import annotations

from typing import Annotated

import typer

Explain = Annotated[
    bool,
    typer.Option(
        "--explain",
        help="Say in sentences what to expect, why it is above or below the line rate, and what holds it back.",
    ),
]
WhatIfs = Annotated[
    bool,
    typer.Option(
        "--what-if",
        help="Show what 2:1 oversubscription, plain ECMP, shuffled ranks and a lost rail do to the largest size, "
        "of OP and of all_reduce and all_to_all.",
    ),
]
Plot = Annotated[
    str | None,
    typer.Option("--plot", metavar="FILE", help="Write an SVG of bus bandwidth and time over size."),
]
Log = Annotated[
    str | None,
    typer.Option("--log", metavar="FILE", help="With --plot: nccl-tests log whose points are drawn on top."),
]
Trace = Annotated[
    str | None,
    typer.Option("--trace", metavar="FILE", help="Write the largest size as a trace for Perfetto or Chrome."),
]
Drawing = Annotated[
    str | None,
    typer.Option(
        "--drawing",
        metavar="FILE",
        help="Write an SVG of the fabric with the load that the largest size puts on its links.",
    ),
]
